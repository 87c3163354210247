# Results: plots, studies, `make measure`, `make sanitize`, and the report of all of it. Included by the Makefile.
# Emulated versions have no times.
plot_versions = $(if $(filter emulated,$(CUDA)),cpu$(if $(wildcard peers/$*/opencv*.cpp),$(comma)opencv))
plot_sizes = $(or $(SIZES),$(SIZE),$(if $(filter $*,$(video_algorithms)),320x180 596x336 768x576,480x270 960x540 1920x1080 3840x2160))
plot_files = $(or $(JSON),$(patsubst %,$(BUILD)/plots/$*_%.json,$(plot_sizes)))

.PHONY: $(addprefix plot-,$(algorithms)) report
$(addprefix plot-,$(algorithms)): plot-%: $(if $(JSON),,$$(call program,$$*) photograph)
	@mkdir -p $(BUILD)/plots
	@$(if $(JSON),,for size in $(plot_sizes); do \
	    echo "measuring $* at $$size into $(BUILD)/plots/$*_$$size.json"; \
	    $(ladder) bench $* --size $$size --time 0.3 --json $(BUILD)/plots/$*_$$size.json \
	        $(if $(filter $*,$(video_algorithms)),--frames $(or $(FRAMES),16)) \
	        $(if $(VERSIONS),,$(addprefix --versions ,$(plot_versions))) $(common_options) \
	        >$(BUILD)/plots/$*_$$size.txt || \
	        { code=$$?; cat $(BUILD)/plots/$*_$$size.txt; exit $$code; }; \
	done)
	@$(PYTHON) -B common/report/plots.py $* $(BUILD)/plots $(plot_files)

# LEVEL=short takes under a minute; DIR= is the folder of pictures of a study that asks for one; OUT= where to put it;
# VERSIONS=cpu,peer measures no others; TIMED=only leaves out versions that are emulated here: at full size they take
# hours, and have no times.
.PHONY: $(addprefix study-,$(studies))
$(addprefix study-,$(studies)): study-%: $(BUILD)/rungs photograph
	@$(PYTHON) -B common/study/study.py run $* --rungs $(BUILD)/rungs --level $(call quoted,$(or $(LEVEL),full)) \
	    $(if $(DIR),--dir $(call quoted,$(DIR))) $(if $(VERSIONS),--versions $(call quoted,$(VERSIONS))) \
	    $(if $(OUT),--out $(call quoted,$(OUT))) $(if $(filter only,$(TIMED)),--timed-only)

# LIST=1 only says what has no result there yet; MISSING=1 measures only versions that have no time.
.PHONY: measure sanitize
measure: $(if $(LIST),,$(BUILD)/rungs photograph)
	@$(if $(MACHINE),,echo 'measure: MACHINE=NAME is missing: the folder of results/ for this machine' >&2; exit 2;) \
	    $(PYTHON) -B common/report/measure.py --rungs $(BUILD)/rungs $(if $(TIME),--seconds '$(TIME)') $(if $(MINUTES),--minutes '$(MINUTES)') \
	    $(if $(MISSING),--missing) $(if $(LIST),--tell) \
	    --versions '$(or $(VERSIONS),$(if $(LIST),cuda,$(if $(filter emulated,$(CUDA)),cpu$(comma)peer,$(if $(MISSING),cuda))))' -- '$(MACHINE)' $(ALGOS)

# Where CUDA is emulated it says so before anything is built.
sanitize: $(if $(filter native,$(CUDA)),$(BUILD)/rungs)
	@$(if $(MACHINE),,echo 'sanitize: MACHINE=NAME is missing: the folder of results/ for this machine' >&2; exit 2;) \
	    $(PYTHON) -B common/report/sanitize.py --rungs $(BUILD)/rungs --emulated '$(if $(filter emulated,$(CUDA)),$(cuda_why))' --nvcc '$(NVCC)' \
	    $(if $(MINUTES),--minutes '$(MINUTES)') $(if $(JOBS),--jobs '$(JOBS)') $(if $(LIMIT),--limit '$(LIMIT)') $(if $(LARGEST),--largest '$(LARGEST)') \
	    --versions '$(VERSIONS)' --tools '$(TOOLS)' -- '$(MACHINE)' $(ALGOS)

report: $(BUILD)/rungs photograph
	@$(PYTHON) -B common/report/report.py --rungs $(BUILD)/rungs $(call quoted,$(or $(OUT),$(BUILD)/report.html))

