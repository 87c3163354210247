# How objects and programs are made. Included by the Makefile.

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
# Every check computes with the serial versions: optimised under sanitizers too; SERIAL_EXTRA for what they can do
# without.
$(BUILD)/cpu/%/0_serial.c.o: optimize := -O3
$(BUILD)/cpu/%/0_serial.c.o: override EXTRA += $(SERIAL_EXTRA)
# Half of the time that gcc takes for -O3, where nothing is computed for long.
$(foreach room,core image trace contract verify cli lab output profile remote,$(BUILD)/common/$(room)/%.c.o) $(BUILD)/tests/test_%.c.o: optimize := -O1
# For builds in which versions count, not the harness.
$(BUILD)/common/%.c.o: override EXTRA += $(COMMON_EXTRA)
$(BUILD)/common/measure/machine.c.o: EXTRA += $(facts)
# Which has the file in it.
$(BUILD)/common/cli/compare_schema.c.o: results/schema.json
$(BUILD)/common/cli/compare_renames.c.o: results/renames.tsv
# Where it compiles, clang 14 finds __builtin_va_list twice after a precompiled header that includes <cstdarg>: it reads
# the header itself. Where it looks for warnings alone (.ci/run), precompiled headers save three quarters of its time.
read_by_clang = $(if $(findstring clang,$(CXX)),$(if $(findstring -fsyntax-only,$(EXTRA)),,yes))
precompiled = $(if $(read_by_clang),$(BUILD)/generated/$(1),$(BUILD)/generated/$(1).gch$(2))
precompile = $(filter-out -fsyntax-only,$(compile_cxx))
$(BUILD)/peers/%.c.o: CPPFLAGS += $(openblas_flags)
$(BUILD)/%.c.o: %.c $(BUILD)/settings
	@mkdir -p $(@D)
	$(call say,cc,$<)
	$(quiet)$(compile_c) $(header) -c $< -o $@
# Of half a second that gcc takes for a file with vectors, the headers of intrinsics are two thirds: they are compiled
# once.
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
$(BUILD)/%.cu.cpp: %.cu $(BUILD)/cu2cpp
	@mkdir -p $(@D)
	$(quiet)$(BUILD)/cu2cpp $< $@
# Kernels read bytes as words, which is normal in CUDA and needs -fno-strict-aliasing in C++. Most of a kernel's compile
# time went into the headers, which all of them include: they are compiled once.
# With COUNTED=1 each basic block calls it as well, and code stays in the order of the source (common/emulator/counters.h),
# of which gcc then understands less: it warns of variables that are set.
COUNTED ?=
counted := $(watched) -DEMULATED_COUNTED -fsanitize-coverage=trace-pc -fno-tree-sra -fno-reorder-blocks -fno-guess-branch-probability -fno-thread-jumps -Wno-maybe-uninitialized
seen_accesses := $(if $(COUNTED),$(counted))
# A lab's version has a worker of its own that is watched (assignments/labs.mk), and what runs on the host is no kernel.
watched_objects := $(BUILD)/cuda/%.cu.o $(BUILD)/tests/%.cu.o $(BUILD)/$(BUILD)/patched/%.cu.o \
                     $(patsubst %,$(BUILD)/%.o,$(shell grep -l __global__ common/cuda/*.cu))
# Private: what they are made from, gch/all among it, would have the same flags else.
$(watched_objects) $(BUILD)/generated/kernels.h.gch/watched: private seen_accesses := $(if $(COUNTED),$(counted),$(watched))
$(watched_objects) $(BUILD)/generated/kernels.h.gch/watched: private optimize_cxx := $(if $(SANITIZE),-O0,-O1)
emulate = $(compile_cxx) $(seen_accesses) -fno-strict-aliasing -Icommon/emulator/include
$(BUILD)/generated/kernels.h: $(BUILD)/settings
	@mkdir -p $(@D)
	@printf '#include <%s>\n' cuda_runtime.h common/cuda/device.h >$@
# Two files where flags differ. Of two that fit a compiler takes either, also one that an older make left and nothing
# keeps up to date.
watched_headers := $(if $(COUNTED),all,$(if $(watched),watched,all))
# Under its name when it is whole: a compiler maps every file of the folder, and one that another job writes ends it by
# SIGBUS. Its two files by name: as a pattern's, a dependency file that lies beside them would be one, too.
$(addprefix $(BUILD)/generated/kernels.h.gch/,$(sort all $(watched_headers))): $(BUILD)/generated/kernels.h
	@mkdir -p $(@D)
	$(call say,c++,the headers of emulated kernels)
	$(if $(filter all,$(watched_headers)),$(quiet)rm -f $(@D)/watched)
	$(quiet)$(filter-out -fsyntax-only,$(emulate)) -MQ $@ -x c++-header $(BUILD)/generated/kernels.h -o $(BUILD)/generated/$(@F).part && mv $(BUILD)/generated/$(@F).part $@
$(BUILD)/%.cu.o: $(BUILD)/%.cu.cpp $(BUILD)/settings $(sort $(foreach name,all $(watched_headers),$(call precompiled,kernels.h,/$(name))))
	$(call say,emulate,$*.cu)
	$(quiet)$(emulate) -include $(BUILD)/generated/kernels.h -c $< -o $@
endif
