# What the tests are made of, and `make test`. Included by the Makefile.
unit_tests := $(wildcard tests/test_*.c $(if $(filter cuda,$(SIDES)),tests/test_*.cu))
test_programs := $(addprefix $(BUILD)/,$(basename $(unit_tests)))
$(foreach test,$(unit_tests),$(eval $(BUILD)/$(basename $(test)): $(call object,$(test))))
$(test_programs): $(library_objects) $(call object,$(filter cpu/%,$(version_files) $(helper_files))) \
                  $(BUILD)/generated/tests.c.o
	$(call say,link,$@)
	$(quiet)$(link) $^ $(libraries) -lcmocka -o $@
$(BUILD)/tests/test_confine: $(call object,common/remote/confine.c common/remote/confine_try.c)
$(BUILD)/tests/test_confine: libraries += -lseccomp
# Faults in what no version computes: a unit test linked with one changed file, which must fail
# (tests/test_unit_mutants.sh).
unit_mutants := $(if $(SANITIZE),,$(shell awk -F'"' '/^name/ { name = $$2 } /^of/ { of = $$2 } /^test/ { print name ":" of ":" $$2 }' \
                                  $(wildcard tests/mutants/units.toml) /dev/null))
unit_mutant = $(BUILD)/unit-mutants/$(word 1,$(subst :, ,$(1)))
$(BUILD)/unit-mutants/made: $(wildcard tests/mutants/units.*) $(sort $(foreach mutant,$(unit_mutants),$(word 2,$(subst :, ,$(mutant)))))
	@mkdir -p $(@D)
	$(quiet)$(PYTHON) -B tests/mutants/units.py $(@D) && touch $@
define unit_mutant_rule
$(call unit_mutant,$(1)).c: $(BUILD)/unit-mutants/made ;
$(call unit_mutant,$(1)): $(call object,$(call unit_mutant,$(1)).c tests/$(word 3,$(subst :, ,$(1))).c) \
        $(filter-out $(call object,$(word 2,$(subst :, ,$(1)))),$(library_objects)) \
        $(call object,$(filter cpu/%,$(version_files) $(helper_files))) $(BUILD)/generated/tests.c.o
	$$(call say,link,$$@)
	$$(quiet)$$(link) $$^ $$(libraries) -lcmocka -o $$@
endef
$(foreach mutant,$(unit_mutants),$(eval $(call unit_mutant_rule,$(mutant))))
# The unit tests' own table of versions: the CPU ones.
$(BUILD)/generated/tests.c: common/build/versions.sh $(version_files) $(BUILD)/files
	@mkdir -p $(@D)
	@sh common/build/versions.sh $(filter cpu/%,$(version_files)) >$@

# The same masks for every labelling, those on the device as well, or for VERSIONS=cuda/v2.4,cpu.
$(BUILD)/labelling-masks: $(BUILD)/tests/test_labelling.c.o $(library_objects) $(call object,$(version_files) $(helper_files)) \
                          $(BUILD)/generated/versions.c.o
	$(call say,link,$@)
	$(quiet)$(link) $^ $(libraries) -lcmocka -o $@
.PHONY: labelling-masks
labelling-masks: $(BUILD)/labelling-masks
	@$(BUILD)/labelling-masks $(or $(foreach v,$(subst $(comma), ,$(VERSIONS)),$(call quoted,$(v))),cpu cuda)

# Every version of detect on the user's pictures: the same hits, to the bit. detect-200: on 59 with faces and 141
# without.
.PHONY: detect-hits detect-200
detect-hits: $(BUILD)/rungs
	@sh tests/detect_hits.sh $(BUILD) $(FOLDERS)
detect-200: $(BUILD)/rungs
	@PICTURES=200 sh tests/detect_hits.sh $(BUILD) $(addprefix $(call quoted,$(or $(FACES),../shared/data/faces)),/mitcmu_dev /nonface_scenes)


.PHONY: test test-sanitized test-programs verify
test-programs: $(BUILD)/rungs $(BUILD)/rungs-mutants $(BUILD)/rungs-small $(BUILD)/rungs-judge $(BUILD)/rungs-judge-small \
               $(patsubst %,$(BUILD)/workers/%,$(wildcard tests/small/spots/serial.c tests/grader/outputs/spots-labels.c \
                   cpu/labelling/1_omp.c cpu/harris/1_omp.c cpu/threshold/1_omp.c cpu/pclines/1_omp.c cpu/texture/2_simd.c \
                   cuda/kmeans/v1.1_*.cu cuda/texture/v1.1_*.cu)) \
               $(if $(SANITIZE),,$(addprefix $(BUILD)/rungs-,$(stepped) blur)) $(BUILD)/make-scene $(test_programs) $(foreach mutant,$(unit_mutants),$(call unit_mutant,$(mutant)))
# Both builds by one make, so that the cores are at work until the last file of either. The peers are libraries that
# nobody here built with sanitizers.
.PHONY: test-builds test-programs-sanitized
test-builds: test-programs test-programs-sanitized
test-programs-sanitized:
	@$(MAKE) --no-print-directory test-programs BUILD=$(BUILD)-asan SANITIZE=1 OPENCV=no OPENBLAS=no
test:
	@MAKE='$(MAKE)' BUILD='$(BUILD)' CUDA='$(CUDA)' bash tests/run_all.sh normal
# Everything, also what .ci/run does to a part of the ladders at each commit; goes on after a stop.
verify:
	@bash tests/verify.sh release
test-sanitized:
	@MAKE='$(MAKE)' BUILD='$(BUILD)' CUDA='$(CUDA)' bash tests/run_all.sh sanitized
