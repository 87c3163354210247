# Fuzzers (tests/fuzz), built by clang with libFuzzer and the sanitizers into a folder of their own, and the soak
# (tests/soak.sh). Included by the Makefile.

fuzz_build := $(BUILD)-fuzz
fuzz_names := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
fuzz_programs := $(addprefix $(BUILD)/tests/fuzz/fuzz_,$(fuzz_names))
# No fuzzer runs a version: those of blur, whose tuned values one reads, the references, and the small one that has a
# model.
fuzz_versions := $(sort $(serial_files) $(wildcard cpu/blur/*.c))
# Of the command line the readers of results files.
fuzz_objects = $(call object,tests/fuzz/fuzz.c $(wildcard common/cli/compare_*.c) $(fuzz_versions) $(filter cpu/%,$(helper_files)) \
                 tests/small/lut/serial.c tests/small/algorithms.c) $(BUILD)/generated/fuzz.c.o $(library_objects)

$(BUILD)/generated/fuzz.c: common/build/versions.sh $(fuzz_versions) $(BUILD)/files
	@mkdir -p $(@D)
	@sh common/build/versions.sh $(fuzz_versions) tests/small/lut/serial.c >$@
$(fuzz_programs): $(BUILD)/tests/fuzz/fuzz_%: $(BUILD)/tests/fuzz/fuzz_%.c.o $(fuzz_objects)
	$(call say,link,$@)
	$(quiet)$(link) -fsanitize=fuzzer $^ $(libraries) -o $@

.PHONY: fuzz fuzz-programs
fuzz-programs: $(fuzz_programs)
fuzz: $(BUILD)/rungs
	@MAKEFLAGS= $(MAKE) --no-print-directory -s -j$(shell nproc) fuzz-programs BUILD=$(fuzz_build) CC='$(filter ccache,$(CC)) clang' CXX='$(filter ccache,$(CC)) clang++' CUDA=emulated SIDES=cpu ARCH= \
	    SANITIZE=1 EXTRA=-fsanitize=fuzzer-no-link OPENCV=no OPENBLAS=no
	@bash tests/fuzz/run.sh $(fuzz_build) $(BUILD)/rungs '$(or $(TIME),60)'

.PHONY: soak
soak: $(BUILD)/rungs
	@bash tests/soak.sh $(BUILD) '$(or $(TIME),$(shell echo $$((60 * $(or $(MINUTES),10)))))'
