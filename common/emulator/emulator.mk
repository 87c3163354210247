# What the emulator and its command cu are made of. Included by the Makefile beside this file, which builds them alone, and by Rungs'.
# Both say where it lies ($(emulator)), where things go ($(BUILD)), how C++ is compiled ($(compile_cxx)) and what C is warned of ($(warnings)).

# Two files, one for each of two cores: to read the headers took each of the emulator's files longer than its code.
emulator_scheduler := $(foreach file,emulator shared_memory races races_block races_which races_hooks races_streams launch_order lines counters fiber random devices matrices,$(emulator)/$(file).cpp)
emulator_runtime := $(filter-out $(emulator_scheduler),$(wildcard $(emulator)/*.cpp))
emulator_units := $(foreach unit,scheduler runtime,$(BUILD)/generated/emulator_$(unit).cpp.o)

# Every check of a kernel runs on it.
$(BUILD)/generated/emulator_scheduler.cpp.o: optimize_cxx := -O2
$(BUILD)/generated/emulator_runtime.cpp.o: optimize_cxx := -O1
$(BUILD)/generated/emulator_%.cpp: $(BUILD)/settings $(BUILD)/files
	@mkdir -p $(@D)
	@printf '#include "%s"\n' $(emulator_$*) >$@
$(BUILD)/generated/emulator_%.cpp.o: $(BUILD)/generated/emulator_%.cpp
	$(call say,c++,the emulator: its $*)
	$(quiet)$(compile_cxx) -I$(emulator)/include -c $< -o $@
# The build machine's compiler, also in a cross build: this one runs here.
HOSTCC ?= gcc
$(BUILD)/cu2cpp: $(addprefix $(emulator)/,cu2cpp.c cu2cpp_program.h cu2cpp_tokens.h)
	@mkdir -p $(@D)
	$(call say,cc,$<)
	$(quiet)$(HOSTCC) -std=c11 -D_GNU_SOURCE -O2 $(warnings) -I$(or $(emulator_root),.) $< -o $@
# Anybody's CUDA programs (CU.md), also where versions are built for a GPU.
$(BUILD)/libcu.a: $(emulator_units)
	$(call say,ar,$@)
	$(quiet)rm -f $@ && $(AR) rcs $@ $^
$(BUILD)/cu: $(emulator)/cu.sh $(BUILD)/cu2cpp $(BUILD)/libcu.a
	@sed 's,@INCLUDE@,$(abspath $(emulator))/include,; s,@CXX@,$(CXX),' $< >$@.part && chmod +x $@.part && mv $@.part $@
