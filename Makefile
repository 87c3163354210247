# Rungs: parallel image processing, rung by rung.   `make help` lists what there is to make.
#
# Variables worth setting
#   CUDA=native|emulated  how cuda/* versions are built; by default native where nvcc and a GPU are, else emulated
#   ARCH=native           instruction set of the CPU code: any value of -march=, or empty for the compiler's default
#   BUILD=build           folder for everything that is built; with SANITIZE=1 build-asan, with COUNTED=1
#                         build-counted
#   OPENCV=no             leaves the OpenCV peer out (a cross build must), OPENBLAS=no the OpenBLAS peer
#   SIDES=cpu             builds the versions of these folders only (cpu, cuda), and the serial ones
#   LADDERS=cuda/blur     of that side the versions of these ladders only
#   OBJECTS=build         takes the objects of C and C++ from that folder, where the same compiler has made them:
#   .ci/run
#   SANITIZE=1            AddressSanitizer and UndefinedBehaviorSanitizer
#   COUNTED=1             the emulator can count what kernels cost in memory (make profile-ALGO asks for it)
#   VERBOSE=1             show the commands
#   CC=, CXX=, NVCC=      compilers; RUN= a program to run the built ones under (qemu-aarch64-static ...)

BUILD ?= $(if $(SANITIZE),build-asan,$(if $(COUNTED),build-counted,build))
ARCH ?= native
SANITIZE ?=
WERROR ?= -Werror
RUN ?=
ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(origin CXX),default)
CXX := g++
endif

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:
MAKEFLAGS += --no-builtin-rules
# All cores, unless -j says otherwise; a make that another one calls shares its jobs.
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(shell nproc 2>/dev/null || echo 2)
endif

# One short line per step; VERBOSE=1 shows the commands.
VERBOSE ?=
quiet := $(if $(VERBOSE),,@)
say = $(if $(VERBOSE),,@printf '  %-7s %s\n' $(1) '$(2)')

algorithms := $(sort $(patsubst common/algo/%.c,%,$(wildcard common/algo/*.c)))
video_algorithms := $(patsubst common/algo/%.c,%,$(shell grep -l '^ *\.video = true' common/algo/*.c))

include common/build/machine.mk
include common/build/sources.mk

.PHONY: all
all: $(BUILD)/rungs

include common/build/compile.mk
include assignments/labs.mk
include common/build/ladders.mk
include common/build/fuzz.mk

# What a compiler has to see for its warnings (.ci/run): with EXTRA=-fsyntax-only clang writes nothing, and nothing is
# linked.
.PHONY: objects
objects: $(common_objects) $(call object,$(version_files) $(helper_files) $(judge_library) $(judge_parts)) $(BUILD)/generated/versions.c.o

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)

# --- the commands ---------------------------------------------------------------------------------------------------
# $(call quoted,TEXT): one word for the shell, whatever is in it. $(call files,NAMES[,OPTION]): each of them, OPTION
# before it; one name with blanks when a file is called so.
quoted = '$(subst ','\'',$(1))'
files = $(if $(shell [ -e $(call quoted,$(1)) ] && echo yes),$(2) $(call quoted,$(1)),$(foreach file,$(1),$(2) \
          $(call quoted,$(file))))
# SIZE=1920x1080 INPUT=photo.jpg THREADS=2 VERSIONS=cpu/simd,cuda/v1.3 P="ksize=31 sigma=4" JSON=out.json CSV=out.csv
common_options = $(call files,$(INPUT),--input) $(if $(THREADS),--threads $(THREADS)) \
                 $(if $(VERSIONS),--versions '$(VERSIONS)') $(foreach p,$(P),-p $(call quoted,$(p)))
bench_options = $(if $(SIZE),--size $(SIZE)) $(common_options) $(if $(IN_FLIGHT),--in-flight $(IN_FLIGHT)) \
                $(if $(JSON),--json $(call quoted,$(JSON))) $(if $(CSV),--csv $(call quoted,$(CSV)))
rungs = $(RUN) $(BUILD)/rungs
ladder = $(RUN) $(call program,$*)

# The detector's bench takes a video, in the sizes of Huet 2023 (README.md, Sources) and of today.
.PHONY: $(addprefix bench-,$(algorithms)) bench check $(addprefix diff-,$(algorithms)) $(addprefix run-,$(algorithms))
$(addprefix bench-,$(filter-out $(video_algorithms),$(algorithms))): bench-%: $$(call program,$$*) photograph
	@$(ladder) bench $* $(bench_options)
$(addprefix bench-,$(video_algorithms)): bench-%: $$(call program,$$*) photograph
	@for size in $(or $(SIZE),596x336 768x576 1920x1080); do \
	    $(ladder) bench $* --size $$size $(if $(FRAMES),--frames $(FRAMES)) $(common_options) \
	        $(if $(JSON),--json '$(if $(SIZE),$(JSON),$(JSON:.json=)_'$$size'.json)') \
	        $(if $(CSV),--csv '$(if $(SIZE),$(CSV),$(CSV:.csv=)_'$$size'.csv)') || exit 1; echo; \
	done
# One after the other: two benches at once would measure each other.
bench:
	@for algorithm in $(algorithms); do $(MAKE) --no-print-directory bench-$$algorithm || exit 1; done

.PHONY: $(addprefix tune-,$(algorithms))
$(addprefix tune-,$(algorithms)): tune-%: $$(call program,$$*) photograph
	@$(if $(V),,echo "make $@: name a version, for example  make $@ V=cuda/v1.3 SVG=heat.svg" >&2; exit 2)
	@$(ladder) tune '$*:$(V)' $(if $(SIZE),--size $(SIZE)) $(call files,$(INPUT),--input) \
	    $(if $(THREADS),--threads $(THREADS)) $(foreach p,$(P),-p $(call quoted,$(p))) $(if $(TIME),--time $(TIME)) \
	    $(if $(SVG),--svg $(call quoted,$(SVG))) $(if $(JSON),--json $(call quoted,$(JSON)))

$(addprefix diff-,$(algorithms)): diff-%: $$(call program,$$*) photograph
	@$(ladder) diff $* '$(A)' '$(B)' $(if $(SIZE),--size $(SIZE)) $(call files,$(INPUT),--input) \
	    $(if $(THREADS),--threads $(THREADS)) $(foreach p,$(P),-p $(call quoted,$(p)))

$(addprefix run-,$(algorithms)): run-%: $$(call program,$$*)
	@$(ladder) run $*$(if $(V),:$(V)) $(call files,$(IN)) -o $(call quoted,$(OUT)) $(if $(BOXES),--boxes $(call quoted,$(BOXES))) \
	    $(foreach p,$(P),-p $(call quoted,$(p)))

# V=cuda/v1.3 names the version; nsys and ncu leave their reports in $(BUILD)/nsight.
profiled := $(addprefix profile-,$(algorithms)) $(addprefix nsys-,$(algorithms)) $(addprefix ncu-,$(algorithms))
.PHONY: $(profiled)
counts := $(and $(filter emulated,$(CUDA)),$(filter cuda cuda/%,$(V)),$(watched))
# V=cuda: all of the main path, one after the other, into the folder of MACHINE.
each_of = $(if $(filter cuda,$(V)),$(sort $(foreach file,$(notdir $(wildcard cuda/$*/v*.cu)),cuda/$(firstword $(subst _, ,$(file))))),$(call quoted,$(V)))
hash := \#
json_of_each = $(if $(JSON),$(call quoted,$(JSON)),$(if $(MACHINE),results/$(call quoted,$(MACHINE))/$*/profile_$*_$${version$(hash)cuda/}.json,$(if $(counts),$(BUILD)/profile.json)))
# What nvcc makes of them, where it is, though nothing here can run it.
resources_of_each = $(if $(NVCC),$(PYTHON) -B common/report/resources.py --nvcc $(call quoted,$(NVCC)) $$(ls cuda/$*/$${version$(hash)cuda/}_*.cu cuda/$*/*/$${version$(hash)cuda/}.cu 2>/dev/null | head -n 1) $(json_of_each),echo 'missing   registers and occupancy are not known: no nvcc here')
profile_options = $(if $(SIZE),--size $(SIZE)) $(call files,$(INPUT),--input) \
                  $(if $(THREADS),--threads $(THREADS)) $(foreach p,$(P),-p $(call quoted,$(p))) $(if $(CALLS),--calls $(CALLS))
report = $(BUILD)/nsight/$*_$(subst /,_,$(V))
# Of an emulated version a second program counts what its kernels cost; LINES=1: with their source.
counted_program = $(subst $(BUILD)/,$(BUILD)-counted/,$(call program,$*))
$(addprefix profile-,$(algorithms)): profile-%: $$(call program,$$*) photograph
	$(if $(counts),@$(MAKE) --no-print-directory COUNTED=1 CUDA=emulated OBJECTS=$(BUILD) BUILD=$(BUILD)-counted $(counted_program))
	$(if $(MACHINE),@mkdir -p results/$(call quoted,$(MACHINE))/$*)
	@for version in $(each_of); do \
	    $(ladder) profile "$*:$$version" $(profile_options) $(if $(counts),--counted $(counted_program) $(if $(LINES),--lines)) \
	        $(if $(json_of_each),--json $(json_of_each)) $(if $(TRACE),--trace $(call quoted,$(TRACE))) || exit; \
	    $(if $(counts),$(resources_of_each) || exit;) \
	done
$(addprefix nsys-,$(algorithms)): nsys-%: $$(call program,$$*) photograph
	@sh common/build/nsight.sh nsys '$(report)' $(ladder) profile '$*:$(V)' $(profile_options)
$(addprefix ncu-,$(algorithms)): ncu-%: $$(call program,$$*) photograph
	@sh common/build/nsight.sh ncu '$(report)' $(ladder) profile '$*:$(V)' $(profile_options)

# A CUDA program of anybody's in the emulator: ARGS="..." its arguments, CU="--check" options of build/cu.
.PHONY: cu
cu: $(BUILD)/cu
	@$(if $(FILE),,echo "make cu: name a program, for example  make cu FILE=mine.cu ARGS='100 7'" >&2; exit 2)
	@$(BUILD)/cu $(CU) $(call files,$(FILE)) -- $(ARGS)

# Every .cu program below DIR, or of LIST, compiled and run by build/cu: a table on stdout, or in OUT. LIMIT=20: processor seconds for each.
# CHANGES=common/emulator/survey_changes.tsv: smaller sizes for some.
.PHONY: survey
survey: $(BUILD)/cu
	@$(if $(DIR),,echo "make survey: name a folder, for example  make survey DIR=programs OUT=table.md" >&2; exit 2)
	@$(PYTHON) -B common/emulator/survey.py --cu $(BUILD)/cu $(if $(LIMIT),--limit $(LIMIT)) $(call files,$(LIST),--list) $(call files,$(CHANGES),--changes) $(call files,$(OUT),--out) $(call quoted,$(DIR))

check: $(BUILD)/rungs
	@$(rungs) check

# A real photograph for the bench. Without a network (and none fetched before) the bench says that it uses a pattern.
.PHONY: photograph images
photograph:
	@[ -n $(call quoted,$(INPUT)) ] || [ -f images/fetched/aloeL.jpg ] || sh images/fetch.sh images/fetched || true
images:
	@sh images/fetch.sh images/fetched
# The commit whose figures are in results/. The next make builds its peers.
.PHONY: yacclab
yacclab_commit := 54e4354
yacclab:
	@[ -d $(YACCLAB) ] || git clone --quiet https://github.com/prittt/YACCLAB $(YACCLAB)
	@git -C $(YACCLAB) checkout --quiet $(yacclab_commit) && echo '$(YACCLAB) is there: make builds its peers of labelling'

# Every step of the detector as a picture: of the synthetic scene, or of VIDEO=images/fetched/vtest.avi SHEET=sheet.png.
.PHONY: contact-sheet
$(BUILD)/make-scene: $(BUILD)/images/make_scene.c.o $(library_objects) $(BUILD)/generated/versions.c.o $(call object,$(version_files) $(helper_files))
	$(call say,link,$@)
	$(quiet)$(link) $^ $(libraries) -o $@
contact-sheet: $(BUILD)/rungs $(if $(VIDEO),,$(BUILD)/make-scene)
	@$(if $(VIDEO),,$(BUILD)/make-scene $(BUILD)/scene 768 576 42)
	@sh images/contact_sheet.sh $(BUILD)/rungs $(call quoted,$(or $(VIDEO),$(BUILD)/scene)) \
	    $(or $(FRAME),42) $(call quoted,$(or $(SHEET),images/motion_steps.png))

# Pictures of what the documents show, into BUILD/gallery; OURS=yes: those of our own pictures, into images/gallery.
.PHONY: gallery
gallery: $(BUILD)/rungs
	@OURS=$(OURS) sh images/gallery.sh $(BUILD)/rungs $(call quoted,$(if $(OURS),images,$(BUILD))/gallery)

# --- tests ----------------------------------------------------------------------------------------------------------
include common/build/tests.mk

# --- plots, studies, results files and the report
include common/build/results.mk

# --- the rest -------------------------------------------------------------------------------------------------------
.PHONY: deps doctor readme clean help
deps:
	@sh common/build/deps.sh
doctor:
	@CC='$(CC)' CXX='$(CXX)' NVCC='$(NVCC)' sh common/build/doctor.sh

# Recall and precision of hough and pclines on random scenes of known lines.
.PHONY: lines-scenes
lines-scenes: $(BUILD)/rungs
	@$(PYTHON) -B tests/lines_scenes.py $(BUILD) $(or $(SCENES),1000)

# Lines of hough beside those of OpenCV on every photograph of a folder.
.PHONY: lines-opencv
lines-opencv: $(BUILD)/rungs
	@sh tests/lines_opencv.sh $(BUILD) $(call quoted,$(or $(DIR),images/fetched))

# The pages of the documents and of the ladders in docs/, the tables of docs/README.md and README.md, and its picture.
readme: $(BUILD)/rungs
	@$(rungs) run blur:cpu/simd images/zone_plate.png -o images/zone_plate_blur.png
	@$(PYTHON) -B common/study/documents.py
	@$(PYTHON) -B common/report/pages.py

clean:
	rm -rf $(BUILD) $(BUILD)-asan $(BUILD)-fuzz

# Of each rung what is new since the rung below it, in lines, and whether the rules of a ladder hold.
.PHONY: ladder
ladder:
	@$(PYTHON) -B tests/rungs/ladders.py . tests/rungs/exceptions.txt $(ALGOS)

help:
	@sed -e 's,BUILD_FOLDER,$(BUILD),g; s,ALGO_NAMES,$(algorithms),; s,STUDY_NAMES,$(studies),' common/build/help.txt | fold -s -w 130
