# Which files there are, and what a goal needs to be told. Included by the Makefile.

# --- sources --------------------------------------------------------------------------------------------------------
peer_opencv := $(if $(opencv_libs),$(wildcard peers/*/opencv*.cpp))
peer_yacclab := $(if $(has_yacclab),$(wildcard peers/*/yacclab*.cpp))
peer_python := $(wildcard peers/*/*.py)
peer_npp := $(if $(has_npp),$(wildcard peers/*/npp*.cu))
peer_cub := $(if $(has_cub),$(wildcard peers/*/cub.cu))
peer_openblas := $(if $(openblas_libs),$(wildcard peers/*/openblas*.c))
peer_cublas := $(if $(has_cublas),$(wildcard peers/*/cublas*.cu peers/*/cusolver*.cu))
without_openblas := $(if $(openblas_libs),,$(wildcard peers/*/openblas*.c))
without_cublas := $(if $(has_cublas),,$(wildcard peers/*/cublas*.cu peers/*/cusolver*.cu))
without_opencv := $(if $(opencv_libs),,$(wildcard peers/*/opencv*.cpp))
without_yacclab := $(if $(has_yacclab),,$(wildcard peers/*/yacclab*.cpp))
without_npp := $(if $(has_npp),,$(wildcard peers/*/npp*.cu))
without_cub := $(if $(has_cub),,$(wildcard peers/*/cub.cu))
without_files := $(without_openblas) $(without_cublas) $(without_opencv) $(without_yacclab) $(without_npp) $(without_cub)
SIDES ?= cpu cuda
folders := $(foreach side,$(SIDES),$(or $(filter $(side)/%,$(LADDERS)),$(side)/*))
# What versions of a ladder share lies in shared/ beside them; other folders there hold versions beside the climb.
helper_files := $(sort $(wildcard cpu/*/shared/*.c) $(foreach folder,$(folders),$(wildcard $(folder)/shared/*.c $(folder)/shared/*.cu)))
# The references and what they stand on are always there.
serial_files := $(wildcard cpu/*/0_serial.c)
version_files := $(sort $(serial_files) $(filter-out $(helper_files),$(foreach folder,$(folders),$(wildcard $(addprefix $(folder)/,*.c *.cu */*.c */*.cu)))) $(peer_opencv) $(peer_yacclab) $(peer_npp) $(peer_cub) \
                   $(peer_openblas) $(peer_cublas) $(peer_python))
# Rooms that are part of the program; workers and labs are programs of their own, report and build are no C.
rooms := core image trace contract algo train cuda video verify measure profile output cli
# The cases of an algorithm whose contract is long lie in a folder beside it.
common_files := $(foreach room,$(rooms),$(wildcard common/$(room)/*.c common/$(room)/*.cu)) $(wildcard common/algo/*/*.c)
# The emulator is compiled as two files, one for each of two cores: to read the headers took each of its files longer
# than its code.
emulator_scheduler := $(foreach file,emulator shared_memory races races_block races_which races_hooks lines counters fiber random devices matrices,common/emulator/$(file).cpp)
emulator_runtime := $(filter-out $(emulator_scheduler),$(wildcard common/emulator/*.cpp))
emulator_objects = $(if $(filter emulated,$(CUDA)),$(foreach unit,scheduler runtime,$(call elsewhere,cpp,$(BUILD)/generated/emulator_$(unit).cpp.o)))
# Under sanitizers only the faults of memory are tried (tests/test_mutants.sh).
MUTANTS ?= $(wildcard tests/mutants/*/*.c $(if $(filter cuda,$(SIDES)),tests/mutants/*/*.cu))
mutant_files := $(sort $(if $(SANITIZE),$(shell sh tests/mutants.sh $(MUTANTS)),$(MUTANTS)))
# A few changed words of a version; not under sanitizers, which have the faults of memory above. Each is a version compiled anew,
# so one in MUTANT_SHARE of them is, others at each commit; MUTANT_SHARE=1 takes all.
mutant_list := tests/mutants/mutants.toml
MUTANT_SHARE ?= 3
$(if $(shell echo '$(MUTANT_SHARE)' | grep -x '[1-9][0-9]*'),,$(error MUTANT_SHARE=$(MUTANT_SHARE): must be a whole number from 1 on))
MUTANT_TURN ?= $(shell printf '%d' 0x$$(git rev-parse HEAD 2>/dev/null | cut -c 1-6) 2>/dev/null || echo 0)
patched_files := $(if $(or $(SANITIZE),$(filter-out cpu cuda,$(SIDES)),$(findstring -fsanitize,$(EXTRA))),,$(shell awk -F'"' \
    -v share='$(MUTANT_SHARE)' -v turn='$(MUTANT_TURN)' \
    '/^name = / {name = $$2; always = 0} /^always = true/ {always = 1} \
     /^of = / {of = $$(NF - 1); n = split(of, part, "/"); sub(/.*[.]/, "", of); \
     if (always || mutants++ % share == turn % share) print "$(BUILD)/patched/tests/mutants/" part[2] "/" name "." of}' $(mutant_list)))
# Some of those are pipelines, whose steps other versions do.
mutant_versions := $(if $(patched_files),$(filter cpu/% cuda/%,$(version_files)),$(serial_files))
# What mutants of one ladder share, and what their ladders' rungs stand on.
mutant_helpers := $(sort $(helper_files) $(if $(filter cuda,$(SIDES)),$(wildcard tests/mutants/*/*/*.cu)))

small_files := $(sort $(wildcard tests/small/*/*.c))

OBJECTS ?=
object = $(call elsewhere,c,$(call elsewhere,cpp,$(addprefix $(BUILD)/,$(addsuffix .o,$(1)))))
elsewhere = $(if $(OBJECTS),$(patsubst $(BUILD)/%.$(1).o,$(OBJECTS)/%.$(1).o,$(2)),$(2))
common_objects := $(call object,$(common_files)) $(emulator_objects)
library_objects := $(filter-out $(BUILD)/common/cli/%,$(common_objects))

ifeq ($(CUDA),native)
cuda_line := CUDA: native for $(or $(gpu),sm_$(capability)), $(shell $(NVCC) --version | sed -n 's/.*release \([0-9.]*\).*/nvcc \1/p')
else
cuda_line := CUDA: emulated ($(cuda_why)): cuda/* versions are verified, not timed
endif

# Misspelt variables would be ignored silently.
$(foreach name,VERSION PARAMS PARAM ALGO,$(if $(filter command line,$(origin $(name))),$(error $(name)= means nothing here; \
    there is VERSIONS=a,b for bench, V=version for run, P="name=value" for parameters; see make help)))
$(foreach goal,$(filter bench-% diff-% run-% tune-% plot-% profile-% nsys-% ncu-%,$(MAKECMDGOALS)),$(if $(filter $(addprefix %-,$(algorithms)),$(goal)),, \
    $(error no target $(goal); the algorithms are $(algorithms))))

# A study is a file: studies/NAME.toml, or a ladder's own cpu/ALGO/study.toml (named ALGO) and study_NAME.toml
# (ALGO-NAME).
studies := $(sort $(patsubst studies/%.toml,%,$(wildcard studies/*.toml)) $(foreach side,cpu cuda,$(patsubst \
    $(side)/%.toml,%,$(subst /study.toml,.toml,$(subst /study_,-,$(wildcard $(side)/*/study.toml $(side)/*/study_*.toml))))))
$(foreach goal,$(filter study-%,$(MAKECMDGOALS)),$(if $(filter $(goal:study-%=%),$(studies)),, \
    $(error no target $(goal); the studies are $(studies))))

# What a goal needs to be told is asked for before anything is built.
$(foreach goal,$(filter diff-%,$(MAKECMDGOALS)),$(if $(and $(A),$(B)),,$(error $(goal): name two versions, for example \
    make $(goal) A=cuda/v1.1 B=cuda/v1.2)))
$(foreach goal,$(filter run-%,$(MAKECMDGOALS)),$(if $(and $(IN),$(OUT)),,$(error $(goal): name the files, for example \
    make $(goal) IN=photo.jpg OUT=soft.png)))
PYTHON ?= python3
# On a bare machine what is included above installs these two before make reads this once more.
installed_later = $(if $(wildcard $(deps_file)),,$(filter python3 gnuplot,$(1)))
needs = $(if $(or $(shell command -v $(1)),$(installed_later)),,$(error $(goal): $(1) is not here; to install it, as root: \
    apt-get install -y --no-install-recommends $(2)))
$(foreach goal,$(filter plot-% study-% report readme lab-% grade-% bug-% worst-% handout solution,$(MAKECMDGOALS)),$(call needs,$(PYTHON),python3))
$(foreach goal,$(filter plot-% study-%,$(MAKECMDGOALS)),$(call needs,gnuplot,gnuplot-nox))
$(foreach goal,$(filter profile-% nsys-% ncu-%,$(MAKECMDGOALS)),$(if $(V),,$(error $(goal): name a version, for example \
    make $(goal) V=cuda/v1.2)))
