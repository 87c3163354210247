# Rungs: parallel image processing, rung by rung.   `make help` lists what there is to make.
#
# Variables worth setting
#   CUDA=native|emulated  how cuda/* versions are built; by default native where nvcc and a GPU are, else emulated
#   ARCH=native           instruction set of the CPU code: any value of -march=, or empty for the compiler's default
#   BUILD=build           folder for everything that is built
#   OPENCV=no             leaves the OpenCV peer out (a cross build must), OPENBLAS=no the OpenBLAS peer
#   SIDES=cpu             builds the versions of these folders only (cpu, cuda), and the serial ones
#   LADDERS=cuda/blur     of that side the versions of these ladders only
#   OBJECTS=build         takes the objects of C and C++ from that folder, where the same compiler has made them: .ci/run
#   SANITIZE=1            AddressSanitizer and UndefinedBehaviorSanitizer
#   RACES=1               the emulator watches every access of every kernel for data races
#   VERBOSE=1             show the commands
#   CC=, CXX=, NVCC=      compilers; RUN= a program to run the built ones under (qemu-aarch64-static ...)

BUILD ?= build
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

# --- what this machine has -----------------------------------------------------------------------------------------
# Remaking this included file installs what is missing; make then starts over and finds it. The targets below need none.
# A lab asks for nothing optional, four packages of five: DEPS=needed, which the labs' grader tells the make that it calls.
goals := $(or $(MAKECMDGOALS),all)
DEPS ?= $(if $(filter-out lab-% bug-% grade-% worst-%,$(goals)),,needed)
deps_file := $(BUILD)/deps$(if $(wildcard $(BUILD)/deps.mk),,$(DEPS:%=-%)).mk
ifneq ($(filter-out help clean deps doctor images,$(goals)),)
include $(deps_file)
endif

$(BUILD)/deps.mk $(BUILD)/deps-needed.mk: common/build/deps.sh
	@sh common/build/deps.sh $(DEPS)
	@mkdir -p $(@D) && touch $@

NVCC ?= $(firstword $(shell command -v nvcc) $(wildcard /usr/local/cuda/bin/nvcc))
gpu := $(shell nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -n 1)
ifndef CUDA
CUDA := $(if $(and $(NVCC),$(gpu)),native,emulated)
cuda_why := $(if $(NVCC),no NVIDIA GPU here,$(if $(gpu),no nvcc on PATH or in /usr/local/cuda,no NVIDIA GPU and no nvcc here))
else
cuda_why := asked for
endif
ifeq ($(filter native emulated,$(CUDA)),)
$(error CUDA=$(CUDA): must be native or emulated)
endif
ifeq ($(CUDA),native)
ifeq ($(NVCC),)
$(error CUDA=native needs nvcc on PATH or in /usr/local/cuda/bin; install the CUDA Toolkit, or use CUDA=emulated)
endif
cuda_home := $(patsubst %/bin/nvcc,%,$(realpath $(shell command -v $(NVCC))))
has_npp := $(firstword $(wildcard $(cuda_home)/include/nppi_filtering_functions.h \
             $(cuda_home)/targets/*/include/nppi_filtering_functions.h))
# Headers alone; from CUDA 13 on in a folder of their own, where nvcc finds them.
has_cub := $(firstword $(wildcard $(addsuffix cub/cub.cuh,$(cuda_home)/include/ $(cuda_home)/include/cccl/ \
             $(cuda_home)/targets/*/include/ $(cuda_home)/targets/*/include/cccl/)))
has_cublas := $(firstword $(wildcard $(cuda_home)/include/cusolverDn.h $(cuda_home)/targets/*/include/cusolverDn.h))
# The profiler's library: in extras/CUPTI, or beside the rest where the toolkit came in another package.
cupti_header := $(firstword $(wildcard $(cuda_home)/extras/CUPTI/include/cupti.h $(cuda_home)/include/cupti.h \
                  $(cuda_home)/targets/*/include/cupti.h))
cupti_library := $(firstword $(wildcard $(cuda_home)/extras/CUPTI/lib64/libcupti.so $(cuda_home)/lib64/libcupti.so \
                   $(cuda_home)/targets/*/lib/libcupti.so $(cuda_home)/extras/CUPTI/lib64/libcupti.so.[0-9]* \
                   $(cuda_home)/lib64/libcupti.so.[0-9]*))
cupti_flags := $(if $(cupti_library),$(addprefix -isystem ,$(patsubst %/cupti.h,%,$(cupti_header))) \
                 $(if $(cupti_header),-DRUNGS_CUPTI='"$(cupti_library)"'))
# The GPU's own architecture; without a GPU to ask, one of each generation that this nvcc knows and the kernels can use
# (dp4a came with 6.1, so 7 and later).
capability := $(sort $(subst .,,$(shell nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null)))
ifeq ($(capability),)
capability := $(shell $(NVCC) --list-gpu-code | sed -n 's/^sm_\([0-9]*\)$$/\1/p' | awk '$$1 >= 70 && !seen[int($$1 / 10)]++')
endif
cuda_code := $(foreach c,$(capability),-gencode=arch=compute_$(c),code=sm_$(c)) \
             -gencode=arch=compute_$(lastword $(capability)),code=compute_$(lastword $(capability))
endif
# Debian's libopencv-imgproc-dev brings headers and libraries but no opencv4.pc, which is in the far larger libopencv-dev.
opencv_include := $(if $(filter no,$(OPENCV)),,$(patsubst %/opencv2/imgproc.hpp,%,$(firstword $(wildcard \
                    $(patsubst -I%,%/opencv2/imgproc.hpp,$(shell pkg-config --cflags-only-I opencv4 2>/dev/null)) \
                    /usr/include/opencv4/opencv2/imgproc.hpp))))
opencv_libs := $(if $(opencv_include),-lopencv_imgproc -lopencv_core)
opencv_flags := $(addprefix -isystem ,$(opencv_include))
# A collection of published labellings, where `make yacclab` has put it; its algorithms stand on OpenCV's images.
YACCLAB ?= third_party/YACCLAB
has_yacclab := $(if $(opencv_libs),$(wildcard $(YACCLAB)/include/labels_solver.h))
# Matrix products and eigenvalues; OPENBLAS=no leaves it out.
openblas_libs := $(if $(filter no,$(OPENBLAS)),,$(shell pkg-config --libs openblas 2>/dev/null))
openblas_flags := $(if $(openblas_libs),$(patsubst -I%,-isystem %,$(shell pkg-config --cflags-only-I openblas)))

# --- flags ----------------------------------------------------------------------------------------------------------
comma := ,
# clang warns of loops with `omp simd` that it cannot vectorise, as under a sanitizer: a matter of speed, no fault.
warnings := -Wall -Wextra -Wshadow -Wno-pass-failed $(WERROR)
march := $(if $(ARCH),-march=$(ARCH))
SIMD_ARCH ?= $(ARCH)
# Without vptr: to see whether an object can be read it opens a pipe, which a confined version may not (common/remote/confine.h).
sanitizers := $(if $(SANITIZE),-fsanitize=address$(comma)undefined -fno-sanitize-recover=undefined -fno-sanitize=vptr -fno-omit-frame-pointer)
optimize := $(if $(SANITIZE),-O1,-O3)
# Of emulated kernels. Under sanitizers gcc takes longer to optimise them than the tests then save. -O1 would save 80 of gcc's processor
# seconds, but what it does not inline, kernels of mutants take from files that are not watched: races go unseen, waits too.
optimize_cxx := $(if $(SANITIZE),-O0,$(if $(RACES),-O1,-O2))
# Lines for profiles, sanitizers and the race watch take a fifth less time to compile than a debugger's variables: EXTRA=-g
# has those.
debug := -g1
EXTRA ?=
depend := -MMD
header :=
compile_c = $(CC) -std=c11 -D_GNU_SOURCE $(optimize) $(debug) $(march) -fopenmp $(warnings) -Wstrict-prototypes \
            -Wmissing-prototypes $(sanitizers) -I. -I$(BUILD)/generated $(CPPFLAGS) $(EXTRA) $(depend) -MP
# g++ -Wextra calls every field that a designated initialiser leaves at zero missing; gcc and clang do not.
compile_cxx = $(CXX) -std=c++20 -D_GNU_SOURCE $(optimize_cxx) $(debug) $(march) -fopenmp $(warnings) \
              -Wno-missing-field-initializers $(sanitizers) -I. \
              $(CPPFLAGS) $(EXTRA) $(depend) -MP
compile_cuda = $(NVCC) -std=c++20 -O3 -lineinfo $(cuda_code) -Wno-deprecated-gpu-targets \
               $(if $(WERROR),-Werror all-warnings) \
               -Xcompiler=-Wall,-Wextra,-Wno-missing-field-initializers,-fopenmp$(if $(WERROR),$(comma)-Werror) -I. $(CPPFLAGS) $(EXTRA_CUDA) $(depend) -MP
# Recorded in results files (common/measure/machine.c).
facts = -DRUNGS_FLAGS='"$(optimize) $(march)"'
peer_libraries = $(if $(peer_opencv),$(opencv_libs)) $(if $(peer_npp),-lnppicc -lnppial -lnppif -lnppim -lnppitc -lnppist -lnppc) \
                 $(if $(peer_openblas),$(openblas_libs)) $(if $(peer_cublas),-lcusolver -lcublas -lcublasLt)
libraries = -ljansson -lm -lpthread $(peer_libraries)
link = $(CXX) $(sanitizers) -fopenmp $(wrapped) $(LDFLAGS)
# common/trace/openmp.c stands between the versions and libgomp.
parallel_loops := static dynamic guided runtime nonmonotonic_dynamic nonmonotonic_guided nonmonotonic_runtime \
                  maybe_nonmonotonic_runtime
wrapped := $(addprefix -Wl$(comma)--wrap=GOMP_,parallel parallel_sections $(addprefix parallel_loop_,$(parallel_loops)) \
             barrier loop_end sections_end critical_start)
ifeq ($(CUDA),native)
libraries += -L$(cuda_home)/lib64 -Wl,-rpath,$(cuda_home)/lib64 -lcudart_static -ldl -lrt
endif

# Rebuild everything when a compiler or a flag changes.
settings := $(RACES) $(CC) $(CXX) $(CUDA) $(march) $(sanitizers) $(WERROR) $(CPPFLAGS) $(EXTRA) $(SERIAL_EXTRA) $(COMMON_EXTRA) $(LDFLAGS) $(opencv_libs) $(has_yacclab) $(openblas_libs) $(has_npp) $(has_cub) $(has_cublas) $(NVCC) $(cuda_code) $(wrapped) $(subst ',,$(subst ",,$(cupti_flags)))
$(BUILD)/files: force
	@mkdir -p $(@D); printf '%s\n' '$(version_files) $(helper_files) $(mutant_files) $(mutant_helpers) $(patched_files) $(small_files) $(common_files) $(emulator_scheduler) $(emulator_runtime)' | cmp -s - $@ || \
	    printf '%s\n' '$(version_files) $(helper_files) $(mutant_files) $(mutant_helpers) $(patched_files) $(small_files) $(common_files) $(emulator_scheduler) $(emulator_runtime)' >$@
$(BUILD)/settings: force
	@mkdir -p $(@D); printf '%s\n' '$(settings)' | cmp -s - $@ || printf '%s\n' '$(settings)' >$@
.PHONY: force
force:

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
# The emulator is compiled as two files, one for each of two cores: to read the headers took each of its files longer than its code.
emulator_scheduler := $(foreach file,emulator shared_memory races races_hooks fiber random devices,common/emulator/$(file).cpp)
emulator_runtime := $(filter-out $(emulator_scheduler),$(wildcard common/emulator/*.cpp))
emulator_objects = $(if $(filter emulated,$(CUDA)),$(foreach unit,scheduler runtime,$(call elsewhere,cpp,$(BUILD)/generated/emulator_$(unit).cpp.o)))
# Under sanitizers only the faults of memory are tried (tests/test_mutants.sh).
MUTANTS ?= $(wildcard tests/mutants/*/*.c $(if $(filter cuda,$(SIDES)),tests/mutants/*/*.cu))
mutant_files := $(sort $(if $(SANITIZE),$(shell sh tests/mutants.sh $(MUTANTS)),$(MUTANTS)))
# A few changed words of a version; not under sanitizers, which have the faults of memory above.
mutant_list := tests/mutants/mutants.toml
patched_files := $(if $(or $(SANITIZE),$(filter-out cpu cuda,$(SIDES)),$(findstring -fsanitize,$(EXTRA))),,$(shell awk -F'"' \
    '/^name = / {name = $$2} /^of = / {of = $$(NF - 1); n = split(of, part, "/"); sub(/.*[.]/, "", of); \
     print "$(BUILD)/patched/tests/mutants/" part[n - 1] "/" name "." of}' $(mutant_list)))
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

# A study is a file: studies/NAME.toml, or a ladder's own cpu/ALGO/study.toml (named ALGO) and study_NAME.toml (ALGO-NAME).
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

.PHONY: all
all: $(BUILD)/rungs

$(BUILD)/rungs: $(common_objects) $(call object,$(version_files) $(helper_files)) $(BUILD)/generated/versions.c.o
	@echo "$(cuda_line)"
	$(call say,link,$@)
	$(quiet)$(link) $^ $(libraries) -o $@

# The command line on small algorithms of the tests' own (tests/small/small.h).
$(BUILD)/rungs-small: $(common_objects) $(call object,$(small_files) tests/small/algorithms.c) $(BUILD)/generated/small.c.o
	$(call say,link,$@)
	$(quiet)$(link) $^ $(libraries) -o $@

$(BUILD)/patched/made: $(mutant_list) tests/mutants/patch.py $(version_files) $(helper_files) $(BUILD)/files
	@mkdir -p $(@D)
	$(quiet)$(PYTHON) -B tests/mutants/patch.py $(@D)/tests/mutants && touch $@
$(patched_files): $(BUILD)/patched/made ;
$(BUILD)/rungs-mutants: $(common_objects) $(call object,$(mutant_versions) $(mutant_files) $(patched_files) $(mutant_helpers)) \
                        $(BUILD)/generated/mutants.c.o
	$(call say,link,$@)
	$(quiet)$(link) $^ $(libraries) -o $@

opencv_reason := OpenCV was not found when Rungs was built
openblas_reason := OpenBLAS was not found when Rungs was built
npp_reason = $(if $(filter emulated,$(CUDA)),needs a GPU and a native CUDA build,NPP was not found beside the CUDA Toolkit)
cub_reason = $(if $(filter emulated,$(CUDA)),needs a GPU and a native CUDA build,CUB was not found beside the CUDA Toolkit)
cublas_reason = $(if $(filter emulated,$(CUDA)),needs a GPU and a native CUDA build,cuBLAS and cuSOLVER were not found beside the CUDA Toolkit)
yacclab_reason = $(if $(opencv_libs),YACCLAB is not in $(YACCLAB): make yacclab fetches it,OpenCV was not found when Rungs was built)
# PATTERN: peers that this build leaves out, behind the reason, as versions.sh takes them
without = $(foreach library,opencv yacclab npp cub openblas cublas,$(if $(filter $(1),$(without_$(library))),-- "$($(library)_reason)" \
            $(filter $(1),$(without_$(library)))))
$(BUILD)/generated/versions.c: common/build/versions.sh $(version_files) $(without_files) $(BUILD)/settings $(BUILD)/files
	@mkdir -p $(@D)
	@sh common/build/versions.sh $(version_files) $(call without,peers/%) >$@
$(BUILD)/generated/small.c: common/build/versions.sh $(small_files) $(BUILD)/files
	@mkdir -p $(@D)
	@sh common/build/versions.sh $(small_files) >$@
$(BUILD)/generated/mutants.c: common/build/versions.sh $(mutant_files) $(patched_files) $(BUILD)/files
	@mkdir -p $(@D)
	@sh common/build/versions.sh $(mutant_versions) $(mutant_files) $(patched_files) >$@

$(BUILD)/generated/%.c.o: $(BUILD)/generated/%.c
	$(quiet)$(compile_c) -c $< -o $@
# The simd versions for another processor than the rest (tests/aarch64.sh): remove their objects before changing it.
$(BUILD)/cpu/%simd.c.o: march := $(if $(SIMD_ARCH),-march=$(SIMD_ARCH))
# Every check computes with the serial versions: optimised under sanitizers too; SERIAL_EXTRA for what they can do without.
$(BUILD)/cpu/%/0_serial.c.o: optimize := -O3
$(BUILD)/cpu/%/0_serial.c.o: override EXTRA += $(SERIAL_EXTRA)
# Half of the time that gcc takes for -O3, where nothing is computed for long.
$(foreach room,core image trace contract verify cli lab output profile remote,$(BUILD)/common/$(room)/%.c.o) $(BUILD)/tests/test_%.c.o: optimize := -O1
# For builds in which versions count, not the harness.
$(BUILD)/common/%.c.o: override EXTRA += $(COMMON_EXTRA)
$(BUILD)/common/measure/machine.c.o: EXTRA += $(facts)
# Which has the file in it.
$(BUILD)/common/cli/compare_schema.c.o: results/schema.json
# Every check of a kernel runs on it.
$(BUILD)/generated/emulator_scheduler.cpp.o: optimize_cxx := -O2
$(BUILD)/generated/emulator_runtime.cpp.o: optimize_cxx := -O1
# Where it compiles, clang 14 finds __builtin_va_list twice after a precompiled header that includes <cstdarg>: it reads the header
# itself. Where it looks for warnings alone (.ci/run), precompiled headers save three quarters of its time.
read_by_clang = $(if $(findstring clang,$(CXX)),$(if $(findstring -fsyntax-only,$(EXTRA)),,yes))
precompiled = $(if $(read_by_clang),$(BUILD)/generated/$(1),$(BUILD)/generated/$(1).gch$(2))
precompile = $(filter-out -fsyntax-only,$(compile_cxx))
$(BUILD)/peers/%.c.o: CPPFLAGS += $(openblas_flags)
$(BUILD)/%.c.o: %.c $(BUILD)/settings
	@mkdir -p $(@D)
	$(call say,cc,$<)
	$(quiet)$(compile_c) $(header) -c $< -o $@
# Of half a second that gcc takes for a file with vectors, the headers of intrinsics are two thirds: they are compiled once.
simd_objects := $(addprefix $(BUILD)/,$(addsuffix .o,$(shell grep -lE '\<(SIMD|simd)_' cpu/*/*.c cpu/*/*/*.c tests/mutants/*/*.c 2>/dev/null)))
$(simd_objects): $(call precompiled,simd.h)
$(simd_objects): private header := -include $(BUILD)/generated/simd.h
$(BUILD)/generated/simd.h: $(BUILD)/settings
	@mkdir -p $(@D)
	@printf '#include <%s>\n' common/simd/simd.h >$@
$(BUILD)/generated/simd.h.gch: $(BUILD)/generated/simd.h
	$(call say,cc,the headers of vectors)
	$(quiet)$(filter-out -fsyntax-only,$(compile_c)) -x c-header $(BUILD)/generated/simd.h -o $@
# Peers in a Python process (common/measure/process_peer.h): the line of C that registers one is made from its name.
$(BUILD)/peers/%.py.c: peers/%.py common/build/python_peer.sh
	@mkdir -p $(@D)
	@sh common/build/python_peer.sh $(if $(filter $(video_algorithms),$(firstword $(subst /, ,$*))),PIPELINE,PEER) $< >$@
$(BUILD)/peers/%.py.o: $(BUILD)/peers/%.py.c $(BUILD)/settings
	$(call say,cc,peers/$*.py)
	$(quiet)$(compile_c) -c $< -o $@
$(BUILD)/generated/opencv.h: $(BUILD)/settings
	@mkdir -p $(@D)
	@printf '#include <%s>\n' opencv2/imgproc.hpp common/contract/registry.h >$@
$(BUILD)/generated/opencv.h.gch: $(BUILD)/generated/opencv.h
	$(call say,c++,the headers of OpenCV)
	$(quiet)$(precompile) $(opencv_flags) -x c++-header $(BUILD)/generated/opencv.h -o $@
$(BUILD)/peers/%.cpp.o: peers/%.cpp $(BUILD)/settings $(call precompiled,opencv.h)
	@mkdir -p $(@D)
	$(call say,c++,$<)
	$(quiet)$(compile_cxx) $(opencv_flags) -include $(BUILD)/generated/opencv.h -c $< -o $@
$(addprefix $(BUILD)/,$(addsuffix .o,$(peer_yacclab))): EXTRA += -isystem $(YACCLAB)/include
$(addprefix $(BUILD)/,$(addsuffix .o,$(peer_yacclab))): optimize_cxx := $(if $(SANITIZE),-O1,-O3)
$(BUILD)/generated/emulator_%.cpp: $(BUILD)/settings $(BUILD)/files
	@mkdir -p $(@D)
	@printf '#include "%s"\n' $(emulator_$*) >$@
$(BUILD)/generated/emulator_%.cpp.o: $(BUILD)/generated/emulator_%.cpp
	$(call say,c++,the emulator: its $*)
	$(quiet)$(compile_cxx) -Icommon/emulator/include -c $< -o $@
ifeq ($(CUDA),native)
$(BUILD)/common/profile/activity.cu.o: EXTRA_CUDA := $(cupti_flags)
$(BUILD)/%.cu.o: %.cu $(BUILD)/settings
	@mkdir -p $(@D)
	$(call say,nvcc,$<)
	$(quiet)$(compile_cuda) -c $< -o $@
# For nvcc's warnings alone, in a third of the time: no code for a device, and none for the host.
.PHONY: kernels-as-ptx
kernels-as-ptx: $(patsubst %.cu,$(BUILD)/%.ptx,$(filter cuda/%.cu,$(version_files) $(helper_files)))
$(BUILD)/%.ptx: %.cu $(BUILD)/settings
	@mkdir -p $(@D)
	$(call say,nvcc,$<)
	$(quiet)$(filter-out -gencode=% -lineinfo,$(compile_cuda)) -arch=compute_$(lastword $(capability)) -ptx $< -o $@
else
# The build machine's compiler, also in a cross build: this one runs here.
HOSTCC ?= gcc
$(BUILD)/cu2cpp: common/emulator/cu2cpp.c
	@mkdir -p $(@D)
	$(call say,cc,$<)
	$(quiet)$(HOSTCC) -std=c11 -D_GNU_SOURCE -O2 $(warnings) -I. $< -o $@
$(BUILD)/%.cu.cpp: %.cu $(BUILD)/cu2cpp
	@mkdir -p $(@D)
	$(quiet)$(BUILD)/cu2cpp $< $@
# Each access calls the emulator (common/emulator/races.h), which makes kernels three times slower: in the mutants, and with
# RACES=1 in all kernels (tests/kernel_races.sh). clang calls other functions, and real sanitizers have their own.
RACES ?=
watched := $(if $(or $(SANITIZE),$(findstring clang,$(CXX)),$(findstring -fsanitize,$(EXTRA))),,-fsanitize=thread \
                 --param=tsan-instrument-func-entry-exit=0 --param=tsan-distinguish-volatile=1 -Wno-tsan)
# Kernels read bytes as words, which is normal in CUDA and needs -fno-strict-aliasing in C++. Most of a kernel's compile time
# went into the headers, which all of them include: they are compiled once.
seen_accesses := $(if $(RACES),$(watched))
$(BUILD)/tests/mutants/%.cu.o $(BUILD)/$(BUILD)/patched/%.cu.o $(BUILD)/generated/kernels.h.gch/watched: seen_accesses := $(watched)
emulate = $(compile_cxx) $(seen_accesses) -fno-strict-aliasing -Icommon/emulator/include
$(BUILD)/generated/kernels.h: $(BUILD)/settings
	@mkdir -p $(@D)
	@printf '#include <%s>\n' cuda_runtime.h common/cuda/device.h >$@
# Two files where flags differ. Of two that fit a compiler takes either, also one that an older make left and nothing keeps up to date.
watched_headers := $(if $(RACES),all,$(if $(watched),watched,all))
# Under its name when it is whole: a compiler maps every file of the folder, and one that another job writes ends it by SIGBUS.
# Its two files by name: as a pattern's, a dependency file that lies beside them would be one, too.
$(addprefix $(BUILD)/generated/kernels.h.gch/,$(sort all $(watched_headers))): $(BUILD)/generated/kernels.h
	@mkdir -p $(@D)
	$(call say,c++,the headers of emulated kernels)
	$(if $(filter all,$(watched_headers)),$(quiet)rm -f $(@D)/watched)
	$(quiet)$(filter-out -fsyntax-only,$(emulate)) -MQ $@ -x c++-header $(BUILD)/generated/kernels.h -o $(BUILD)/generated/$(@F).part && mv $(BUILD)/generated/$(@F).part $@
$(call object,$(filter tests/mutants/%.cu,$(mutant_files) $(mutant_helpers)) $(filter %.cu,$(patched_files))): $(call precompiled,kernels.h,/$(watched_headers))
$(BUILD)/%.cu.o: $(BUILD)/%.cu.cpp $(BUILD)/settings $(call precompiled,kernels.h,/all)
	$(call say,emulate,$*.cu)
	$(quiet)$(emulate) -include $(BUILD)/generated/kernels.h $(alone) -c $< -o $@
endif

include assignments/labs.mk
include common/build/ladders.mk
include common/build/fuzz.mk

# What a compiler has to see for its warnings (.ci/run): with EXTRA=-fsyntax-only clang writes nothing, and nothing is linked.
.PHONY: objects
objects: $(common_objects) $(call object,$(version_files) $(helper_files) $(judge_library) $(judge_parts)) $(BUILD)/generated/versions.c.o

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)

# --- the commands ---------------------------------------------------------------------------------------------------
# $(call quoted,TEXT): one word for the shell, whatever is in it. $(call files,NAMES[,OPTION]): each of them, OPTION before
# it; one name with blanks when a file is called so.
quoted = '$(subst ','\'',$(1))'
files = $(if $(shell [ -e $(call quoted,$(1)) ] && echo yes),$(2) $(call quoted,$(1)),$(foreach file,$(1),$(2) \
          $(call quoted,$(file))))
# SIZE=1920x1080 INPUT=photo.jpg THREADS=2 VERSIONS=cpu/simd,cuda/v1.3 P="ksize=31 sigma=4" JSON=out.json CSV=out.csv
common_options = $(call files,$(INPUT),--input) $(if $(THREADS),--threads $(THREADS)) \
                 $(if $(VERSIONS),--versions '$(VERSIONS)') $(foreach p,$(P),-p $(call quoted,$(p)))
bench_options = $(if $(SIZE),--size $(SIZE)) $(common_options) $(if $(JSON),--json $(call quoted,$(JSON))) $(if $(CSV),--csv $(call quoted,$(CSV)))
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
profile_options = $(if $(SIZE),--size $(SIZE)) $(call files,$(INPUT),--input) \
                  $(if $(THREADS),--threads $(THREADS)) $(foreach p,$(P),-p $(call quoted,$(p))) $(if $(CALLS),--calls $(CALLS))
report = $(BUILD)/nsight/$*_$(subst /,_,$(V))
$(addprefix profile-,$(algorithms)): profile-%: $$(call program,$$*) photograph
	@$(ladder) profile '$*:$(V)' $(profile_options) $(if $(JSON),--json $(call quoted,$(JSON))) $(if $(TRACE),--trace $(call quoted,$(TRACE)))
$(addprefix nsys-,$(algorithms)): nsys-%: $$(call program,$$*) photograph
	@sh common/build/nsight.sh nsys '$(report)' $(ladder) profile '$*:$(V)' $(profile_options)
$(addprefix ncu-,$(algorithms)): ncu-%: $$(call program,$$*) photograph
	@sh common/build/nsight.sh ncu '$(report)' $(ladder) profile '$*:$(V)' $(profile_options)

# Threads that spin while they wait make checks slower, and timings faster.
check: $(BUILD)/rungs
	@OMP_WAIT_POLICY=passive $(rungs) check

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

# The pages of the ladders in docs/, the table of ladders in README.md and its picture.
readme: $(BUILD)/rungs
	@$(rungs) run blur:cpu/simd images/zone_plate.png -o images/zone_plate_blur.png
	@$(PYTHON) -B common/report/pages.py

clean:
	rm -rf $(BUILD) $(BUILD)-asan $(BUILD)-fuzz

help:
	@echo 'Climb a ladder'
	@echo '  make bench-ALGO    verify and time every version of ALGO on a photograph, print the table (the main job)'
	@echo '  make diff-ALGO     A=cuda/v1.1 B=cuda/v1.2: code, phases, prediction and measurement of two versions'
	@echo '  make profile-ALGO  V=cuda/v1.2 [JSON=out.json] [TRACE=out.json]: where the time of one version goes'
	@echo '  make nsys-ALGO     V=cuda/v1.2: the same through Nsight Systems; make ncu-ALGO: through Nsight Compute'
	@echo '  make tune-ALGO     V=cuda/v1.3 [SVG=heat.svg]: search its launch parameters for the fastest, and keep them'
	@echo '  make plot-ALGO     time, speedup and roofline as SVG in $(BUILD)/plots: measures SIZES="960x540 1920x1080 ...", or'
	@echo '                     draws JSON="a.json b.json", which make bench-ALGO JSON= wrote'
	@echo '  make run-ALGO      IN=photo.jpg OUT=result.png [V=cpu/simd] [P="ksize=31"]: apply it to a file'
	@echo '  make run-motion    IN=video.avi OUT=boxes.mp4 [BOXES=boxes.csv]: also a folder or pattern of images, in and out'
	@echo '  make contact-sheet every step of the detector as a picture [VIDEO=clip.mp4 FRAME=42 SHEET=sheet.png]'
	@echo
	@echo 'Build and check'
	@echo '  make all           build $(BUILD)/rungs, all ladders (see: $(BUILD)/rungs --help); the targets above build one, rungs-ALGO'
	@echo '  make check         verify every version of every algorithm'
	@echo '  make test          all tests: units, versions, mutants, command line; make test-sanitized: again under the sanitizers'
	@echo '  make verify        everything that .ci/run samples, for hours; goes on after a stop with what has not passed'
	@echo '  make doctor        what this machine has and lacks, and what to type'
	@echo '  make deps          install the Debian or Ubuntu packages that are missing'
	@echo '  make images        fetch real photographs and videos into images/fetched'
	@echo '  make clean         remove $(BUILD)/'
	@echo
	@echo 'Labs (assignments/INSTRUCTORS.md)'
	@echo '  make lab-NN        [TASK=id] a lab of assignments/: your versions checked, timed, and what to do next'
	@echo '  make bug-NN        BUG=1: what the checker says of a broken version, for you to find the line and mend it'
	@echo '  make $(BUILD)/lab-NN/rungs   rungs with your versions in it, student/<name>: to bench, profile, run them'
	@echo '  make grade-NN      a lab unattended: report.txt and results.json'
	@echo '  make handout       LABS=01,02 OUT=dir: the tree for a course, without solutions'
	@echo '  make solution      LAB=NN: tests a lab'
	@echo '  make new-lab       NAME=NN_topic: the skeleton of a lab, to begin with'
	@echo
	@echo 'Measure and publish'
	@echo '  make bench         bench-ALGO for every algorithm'
	@echo '  make measure       MACHINE=name: the benches of all ladders into results/name/, then make readme shows them; goes'
	@echo '                     on after a stop; ALGOS="blur harris" MINUTES=30 TIME=0.3 VERSIONS=cuda,peer; MISSING=1: only versions'
	@echo '                     that have no time there, each beside the best; LIST=1: says what has no result, measures nothing'
	@echo '  make sanitize      MACHINE=name: CUDA versions under compute-sanitizer, into results/name/; goes on after a stop;'
	@echo '                     ALGOS="hough edges" VERSIONS=cuda/v2.2 TOOLS=memcheck,racecheck MINUTES=9 JOBS=14 LARGEST=300'
	@echo '  make study-NAME    a sweep measured, verified, drawn and put into words: $(BUILD)/studies/NAME; goes on after a'
	@echo '                     stop; LEVEL=short (under a minute), DIR=pictures, OUT=results/MACHINE/ALGO/study_NAME,'
	@echo '                     VERSIONS=cpu,peer, TIMED=only (nothing that is emulated)'
	@echo '  make readme        the page of each ladder, docs/ALGO.md, and the table of README.md, from headers and results/'
	@echo '  make report        one HTML page of all ladders from results/, OUT=$(BUILD)/report.html'
	@echo '  make yacclab       fetch published labellings into third_party/YACCLAB, peers of labelling from the next make on'
	@echo
	@echo 'Tests that take minutes'
	@echo '  make fuzz          [TIME=60] seconds of libFuzzer for every reader of files (clang; finds go to $(BUILD)-fuzz/found)'
	@echo '  make soak          [MINUTES=10] video through every side while decoders, encoders, disk and memory fail'
	@echo '  make labelling-masks  [VERSIONS=cuda/v2.4] 500 random masks and the worst cases through every labelling'
	@echo '  make lines-scenes  [SCENES=1000] recall and precision of hough and pclines on random scenes of known lines'
	@echo '  make lines-opencv  [DIR=images/fetched] lines of hough beside those of OpenCV on every photograph, byte for byte'
	@echo '  make detect-hits   FOLDERS="photos/ more/": all versions of detect find the same hits in all pictures there'
	@echo '  make detect-200    FACES=folder: the same on 200, 59 of its mitcmu_dev and the rest of its nonface_scenes'
	@echo
	@echo 'ALGO: $(algorithms)' | fold -s -w 100
	@echo 'NAME of a study: $(studies)' | fold -s -w 100
	@echo 'bench, tune, diff and profile take SIZE=1920x1080 INPUT=photo.jpg THREADS=2 P="ksize=31 sigma=4"; bench also'
	@echo 'VERSIONS=cpu/simd,cuda JSON=out.json CSV=out.csv; tune also V=cpu/simd TIME=0.3 SVG=out.svg JSON=out.json.'
	@echo 'Builds take CUDA=native|emulated ARCH=native BUILD=build SANITIZE=1 CC= CXX= NVCC= VERBOSE=1, and'
	@echo 'LADDERS="cpu/blur cuda/blur": only the versions of these ladders, in a quarter of the time.'
