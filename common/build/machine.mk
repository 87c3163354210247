# What this machine has, the flags that follow from it, and what rebuilds everything when they change. Included by the
# Makefile.

# --- what this machine has -----------------------------------------------------------------------------------------
# Remaking this included file installs what is missing; make then starts over and finds it. The targets below need none.
# A lab asks for nothing optional, four packages of five: DEPS=needed, which the labs' grader tells the make that it
# calls.
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
# Debian's libopencv-imgproc-dev brings headers and libraries but no opencv4.pc, which is in the far larger
# libopencv-dev.
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
# Without vptr: to see whether an object can be read it opens a pipe, which a confined version may not
# (common/remote/confine.h).
sanitizers := $(if $(SANITIZE),-fsanitize=address$(comma)undefined -fno-sanitize-recover=undefined -fno-sanitize=vptr -fno-omit-frame-pointer)
optimize := $(if $(SANITIZE),-O1,-O3)
# Of emulated kernels. Under sanitizers gcc takes longer to optimise them than the tests then save.
optimize_cxx := $(if $(SANITIZE),-O0,$(if $(COUNTED),-O1,-O2))
EXTRA ?=
# Each access of a kernel calls the emulator (common/emulator/races.h). clang calls other functions, and real sanitizers
# have their own.
watched := $(if $(or $(SANITIZE),$(findstring clang,$(CXX)),$(findstring -fsanitize,$(EXTRA))),,-fsanitize=thread \
                 --param=tsan-instrument-func-entry-exit=0 --param=tsan-distinguish-volatile=1 -Wno-tsan)
# Lines for profiles, sanitizers and the race watch take a fifth less time to compile than a debugger's variables:
# EXTRA=-g has those.
debug := -g1
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
settings := $(watched) $(if $(COUNTED),counted) $(CC) $(CXX) $(CUDA) $(march) $(sanitizers) $(WERROR) $(CPPFLAGS) $(EXTRA) $(SERIAL_EXTRA) $(COMMON_EXTRA) $(LDFLAGS) $(opencv_libs) $(has_yacclab) $(openblas_libs) $(has_npp) $(has_cub) $(has_cublas) $(NVCC) $(cuda_code) $(wrapped) $(subst ',,$(subst ",,$(cupti_flags)))
$(BUILD)/files: force
	@mkdir -p $(@D); printf '%s\n' '$(version_files) $(helper_files) $(mutant_files) $(mutant_helpers) $(patched_files) $(small_files) $(common_files) $(emulator_scheduler) $(emulator_runtime)' | cmp -s - $@ || \
	    printf '%s\n' '$(version_files) $(helper_files) $(mutant_files) $(mutant_helpers) $(patched_files) $(small_files) $(common_files) $(emulator_scheduler) $(emulator_runtime)' >$@
$(BUILD)/settings: force
	@mkdir -p $(@D); printf '%s\n' '$(settings)' | cmp -s - $@ || printf '%s\n' '$(settings)' >$@
.PHONY: force
force:
