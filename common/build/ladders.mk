# One ladder's program, $(BUILD)/rungs-ALGO: `rungs` with that ladder alone, for who climbs it (`make bench-blur`) and
# has no use for the other 24. Included by the Makefile, after assignments/labs.mk, which knows what stands on what.

# ALGORITHM: its rungs and peers, and what these share.
own_files = $(filter cpu/$(1)/% cuda/$(1)/% peers/$(1)/%,$(version_files) $(helper_files))
# The rungs of the ladders that it stands on, and of those what its own files name (common/build/steps.sh).
other_rungs = $(filter-out cpu/$(1)/% cuda/$(1)/%,$(filter $(foreach ladder,$(call ladders_of,$(1)),cpu/$(ladder)/% cuda/$(ladder)/%), \
                $(version_files)))
ladder_files = $(filter $(version_files) $(helper_files),$(sort $(call own_files,$(1)) $(shell sh common/build/steps.sh \
                 '$(call own_files,$(1)) $(call contract_files,$(1))' $(call other_rungs,$(1)) -- $(helper_files))))
other_step := $(BUILD)/rungs has it; this program has one ladder, and of others the steps that its files name

# make 4.3 works out what every rule stands on, whatever it is asked for: half a second for 25 ladders. Who asks for single
# files below $(BUILD), as the labs' grader does 50 times, gets the rules of the ladders that are among them.
asked := $(if $(filter-out $(BUILD)/%,$(goals)),$(algorithms),$(filter $(patsubst %.c,%,$(patsubst %.o,%,$(patsubst \
             $(BUILD)/rungs-%,%,$(goals:$(BUILD)/generated/ladder-%=%)))),$(algorithms)))

# Who names a step of another choice (P="labelling=cuda/v2.4") gets the program that has all of them.
program = $(BUILD)/rungs$(if $(filter $(addsuffix =%,$(call ladders_of,$(1))),$(P)),,-$(1))

$(addprefix $(BUILD)/rungs-,$(asked)): $(BUILD)/rungs-%: $(common_objects) $$(call object,$$(call ladder_files,$$*)) \
                                            $(BUILD)/generated/ladder-%.c.o
	@echo "$(cuda_line)"
	$(call say,link,$@)
	$(quiet)$(link) $^ $(libraries) -o $@

.PHONY: $(addprefix rungs-,$(algorithms))
$(addprefix rungs-,$(algorithms)): rungs-%: $(BUILD)/rungs-%

$(addsuffix .c,$(addprefix $(BUILD)/generated/ladder-,$(asked))): $(BUILD)/generated/ladder-%.c: common/build/versions.sh \
        common/build/steps.sh $$(call ladder_files,$$*) $(BUILD)/settings $(BUILD)/files
	@mkdir -p $(@D)
	@sh common/build/versions.sh $(filter $(version_files),$(call ladder_files,$*)) $(call without,peers/$*/%) -- "$(other_step)" \
	    $(filter-out $(call ladder_files,$*),$(call other_rungs,$*)) >$@
