# labs.mk: the labs' part of the Makefile, which includes it: workers, the judge, lab-NN and its relatives.

# --- labs: a student's version is a program of its own (common/remote/worker.c), so that it can reach no other
# ----------
labs := $(patsubst assignments/%/lab.toml,%,$(wildcard assignments/*/lab.toml))
lab_numbers := $(foreach lab,$(labs),$(firstword $(subst _, ,$(lab))))
# Of what a contract may call, which a worker may not: no file is opened once it is confined.
worker_parts := $(wildcard common/image/*.c) $(addprefix common/,$(addprefix core/,clock.c file.c status.c paths.c progress.c text.c) \
                  $(addprefix trace/,mark.c step.c phase.c) $(addprefix contract/,algorithm.c inputs.c model.c sides.c))
# What a version for the device needs besides.
device_parts := common/remote/worker_device.cu common/cuda/device.cu common/cuda/device_run.cu common/cuda/staging.cu common/cuda/stream_copy.c common/verify/verify_launch.cu
# Of the rooms, what the judge needs and no more: a lab's first command waits for them to be compiled. It runs nothing
# on a device, so where that is the emulator, stand-ins take its place.
judge_library := $(foreach room,core image trace contract verify,$(wildcard common/$(room)/*.c)) \
                   $(addprefix common/measure/,machine.c statistics.c) $(if $(filter emulated,$(CUDA)),common/remote/no_device.c,$(addprefix \
                   common/,cuda/device.cu cuda/device_run.cu cuda/staging.cu cuda/stream_copy.c verify/verify_launch.cu measure/bench_device.cu))
judge_parts := $(wildcard common/lab/*.c) $(addprefix common/remote/,confine.c confine_try.c remote.c stand_in.c)
# Without a loader, which would have to open files: a confined process opens none (common/remote/confine.h). What
# loads a GPU's driver, a sanitizer or LLVM's OpenMP has one.
worker_has_loader := $(SANITIZE)$(filter native,$(CUDA))$(findstring clang,$(CXX))
worker_main := common/remote/worker.c $(if $(worker_has_loader),,common/remote/worker_loader.c)
$(BUILD)/lab/worker.a: $(call object,$(worker_parts))
$(BUILD)/lab/device.a: $(call object,$(device_parts)) $(emulator_objects)
# q and not r: files of one name lie in several folders.
$(BUILD)/lab/worker.a $(BUILD)/lab/device.a: Makefile assignments/labs.mk
	@mkdir -p $(@D) && rm -f $@
	$(quiet)ar qcs $@ $(filter %.o,$^)
# Ladders that one stands on, its own among them: those of its steps, and those of which any of its files includes a
# header.
steps_of_threshold := otsu
steps_of_detect := pyramid
steps_of_texture := grayscale lbp nearest kmeans
steps_of_barcode := blur threshold otsu labelling boxes $(steps_of_texture)
steps_of_pca := correlation eigen
steps_of_lines := grayscale edges hough pclines
steps_of_motion := grayscale blur absdiff threshold otsu morphology labelling boxes
algorithm_uses = $(eval algorithm_uses := $$(shell awk -F'"' '/^#include "(common\/algo|cpu|cuda)\// { \
    n = split(FILENAME, path, "/"); name = path[1] == "common" ? path[n] : path[2]; sub(/[.].*/, "", name); \
    split($$$$2, path, "/"); used = path[1] == "common" ? path[3] : path[2]; sub(/[.].*/, "", used); print name ":" used }' \
    common/algo/*.[ch] cpu/*/*.[ch] cpu/*/*/*.[ch] cuda/*/*.cu cuda/*/*/*.cu* | sort -u))$(algorithm_uses)
with_used = $(sort $(1) $(foreach algorithm,$(1),$(steps_of_$(algorithm)) $(patsubst $(algorithm):%,%,$(filter \
              $(algorithm):%,$(algorithm_uses)))))
ladders_of = $(call with_used,$(call with_used,$(call with_used,$(1))))
.PHONY: ladders-with-steps
ladders-with-steps:
	@printf '%s\n' $(call ladders_of,$(ALGOS))
# Of algorithms: their contracts.
contract_files = $(foreach algorithm,$(1),common/algo/$(algorithm).c $(wildcard common/algo/$(algorithm)/*.c))
contract_objects = $(call object,$(call contract_files,$(filter $(algorithms),$(call ladders_of,$(1)))))
# ... found when a target is made that needs them.
.SECONDEXPANSION:
# Any version: $(BUILD)/workers/cpu/blur/simd.c from cpu/blur/simd.c. Nothing stands between it and libgomp.
$(BUILD)/workers/%: wrapped :=
worker_libraries = $(filter-out $(peer_libraries) -ljansson,$(libraries))
worker_link = $(link) $(if $(worker_has_loader),-Wl$(comma)-z$(comma)now,-static-pie -Wl$(comma)--wrap=dlopen)
# Of the emulator's functions those that common/remote/worker_device.cu counts the calls of.
worker_link_cu = $(worker_link) $(if $(filter emulated,$(CUDA)),$(foreach function,_ZN8emulated8allocateEPPvmNS_6memoryE \
                   cudaHostRegister,-Wl$(comma)--wrap=$(function)))
# What a worker's objects stand on, by extension of the version's file.
under_c := $(call object,common/remote/no_device.c) $(BUILD)/lab/worker.a
under_cu := $(BUILD)/lab/device.a $(BUILD)/lab/worker.a
# A ladder's helper files, cpu/harris/steps say, are for its rungs and for copies of them; another's, and what kernels
# share but devices can do without, are linked where their headers are included (common/build/steps.sh).
helpers_c := $(wildcard cpu/*/shared/*.c)
helpers_cu := $(helpers_c) $(wildcard cuda/*/shared/*.cu) $(filter-out $(device_parts),$(wildcard common/cuda/*.cu))
# FILE of a version, EXTENSION
own_helpers = $(filter $(if $(filter cu,$(2)),cuda,cpu)/$(call algorithm_in,$(1))/%,$(helpers_$(2)))
helpers_named = $(call object,$(sort $(own_helpers) $(filter-out $(1),$(shell sh common/build/steps.sh '$(1) $(own_helpers)' -- $(helpers_$(2))))))
algorithm_in = $(notdir $(patsubst %/,%,$(dir $(1))))
$(BUILD)/workers/%.c: $(BUILD)/%.c.o $(call object,$(worker_main) common/remote/worker_alone.c) $$(call helpers_named,$$*.c,c) \
                      $$(call contract_objects,$$(call algorithm_in,$$*)) $(under_c)
	@mkdir -p $(@D)
	$(quiet)$(worker_link) $^ $(worker_libraries) -o $@
$(BUILD)/workers/%.cu: $(BUILD)/%.cu.o $(call object,$(worker_main) common/remote/worker_alone.c) $$(call helpers_named,$$*.cu,cu) \
                       $$(call contract_objects,$$(call algorithm_in,$$*)) $(under_cu)
	@mkdir -p $(@D)
	$(quiet)$(worker_link_cu) $^ $(worker_libraries) -o $@
# Algorithms whose versions call versions of others.
stepped := $(video_algorithms) threshold detect texture barcode pca
# ... and what looks for races.
race_parts := common/remote/races.c common/remote/races_waits.c common/remote/races_atomics.c
watching_parts_c := $(worker_main) common/remote/worker_alone.c $(race_parts)
race_parts_cu := common/remote/races_of_kernels.c common/remote/kernels_seen.cu
watching_parts_cu := $(worker_main) common/remote/worker_alone.c $(race_parts_cu)
# Of a lab's tasks and its bugs.
lab_algorithms = $(filter $(notdir $(patsubst %/,%,$(wildcard assignments/$(1)_*/starter/*/ assignments/$(1)_*/bugs/*/))),$(algorithms))
# Of the versions that a folder holds: with rules for all algorithms in all folders make takes 0.3 s to begin, and
# begins twice for each task.
algorithms_in = $(if $(filter $(BUILD)/%,$(1)),$(call lab_algorithms,$(1:$(BUILD)/lab-%/submission/starter=%)),$(notdir \
                  $(patsubst %/,%,$(wildcard $(1)/*/))))
worker_folders := cpu cuda $(wildcard assignments/*/starter assignments/*/solution assignments/*/bugs) \
                    $(lab_numbers:%=$(BUILD)/lab-%/submission/starter)
# A pipeline, or whatever else opens steps, is linked with those of these that its file names (common/build/steps.sh),
# one on the CPU with those of the CPU, but with no other pipeline. A threshold that is to be found is found by otsu. On
# a GPU the steps behind the download may be the CPU's. What is not linked is listed with the reason.
host_steps := labelling boxes
# FOLDERS, STEPS
rungs_in = $(foreach step,$(2),$(wildcard $(1:%=%/$(step)/*.c) $(1:%=%/$(step)/*.cu)))
# ALGORITHM of a pipeline: on the CPU, and on a GPU
step_files_c = $(call rungs_in,cpu,$(steps_of_$(1)))
step_files_cu = $(call rungs_in,cpu,$(filter $(host_steps),$(steps_of_$(1)))) $(call rungs_in,cuda,$(steps_of_$(1)))
# PIPELINE, ALGORITHM, EXTENSION
steps_named = $(shell sh common/build/steps.sh '$(1) $(call contract_files,$(2))' $(call step_files_$(3),$(2)) -- $(helpers_$(3)))
pipeline_parts := $(addprefix common/contract/,pipeline.c registry.c parameters.c) $(worker_main) $(addprefix common/remote/,worker_pipeline.c worker_steps.c)
# Named outside of patterns as well: else make takes a pipeline for any version while one of these is not there yet.
.PHONY: worker-parts
worker-parts: $(call object,common/remote/worker_alone.c common/remote/no_device.c $(pipeline_parts) $(call contract_files,$(algorithms)) \
                $(helpers_cu) $(wildcard cpu/*/*.c cuda/*/*.cu))
# Beside each worker of a version in C one that finds its data races (common/remote/races.c):
# $(BUILD)/race-workers/FILE, of an object in $(BUILD)/races that calls what -fsanitize=thread inserts.
race_wraps := $(foreach loop,$(parallel_loops),GOMP_parallel_loop_$(loop)) $(addprefix GOMP_,parallel parallel_sections \
                barrier loop_end sections_end critical_start critical_end critical_name_start critical_name_end atomic_start \
                atomic_end ordered_start ordered_end single_copy_start single_copy_end task taskloop taskloop_ull taskwait \
                taskgroup_end) $(addprefix omp_,set_lock unset_lock test_lock set_nest_lock unset_nest_lock test_nest_lock) \
                $(addprefix pthread_,create join exit once barrier_wait cond_wait cond_timedwait $(addprefix mutex_,lock trylock \
                timedlock unlock) $(addprefix spin_,lock trylock unlock) $(addprefix rwlock_,rdlock tryrdlock wrlock trywrlock \
                unlock)) $(addprefix sem_,wait trywait timedwait post) $(addprefix thrd_,create join exit) $(addprefix mtx_,lock \
                trylock timedlock unlock) cnd_wait cnd_timedwait call_once malloc calloc realloc aligned_alloc posix_memalign
race_link = $(worker_link) $(race_wraps:%=-Wl$(comma)--wrap=%)
# What copies for a version without an access of its own (common/remote/races.c, races_of_kernels.c): in the version's
# object alone, for the emulator copies as well, and fills shared memory, while a thread of a kernel runs. And the clocks that it sees.
renamed = $(foreach function,$(1),--redefine-sym $(function)=__wrap_$(function))
seen_copies_c := $(call renamed,memcpy memmove memset snprintf qsort image_copy image_fill clock_gettime timespec_get omp_get_wtime)
seen_copies_cu := $(seen_copies_c) $(call renamed,memcmp memchr strlen strcmp strncmp bsearch)
# Each access of a kernel goes by way of common/remote/kernels_seen.cu.
seen_accesses_cu := $(foreach bits,8 16 32 64,$(foreach does,load store,--redefine-sym __tsan_atomic$(bits)_$(does)=__seen_atomic$(bits)_$(does))) \
                    $(foreach does,$(foreach bytes,1 2 4 8 16,read$(bytes) write$(bytes) volatile_read$(bytes) \
                      volatile_write$(bytes)) read_range write_range,--redefine-sym __tsan_$(does)=__seen_$(does))
# With the files of a worker, of which the version's object is the first.
rename_copies = objcopy $(seen_copies_$(patsubst .%,%,$(suffix $@))) $(seen_accesses_$(patsubst .%,%,$(suffix $@))) $< $@.o
race_link_c = $(rename_copies) && $(race_link) $@.o $(filter-out $<,$^)
race_link_cu = $(rename_copies) && $(worker_link_cu) $@.o $(filter-out $<,$^)
# Its calls stay calls: what a version uses of the C library shows in its object, and copies of few bytes can be renamed.
see_all := -fno-builtin
# Of accesses that gcc leaves out what it writes down tells (assignments/grading/unseen.py).
written_down = $(if $(findstring clang,$(CC) $(CXX)),,-fdump-tree-tsan-lineno=$(@:.o=.tsan))
# ... and stores that it does not see are others here: a header that takes a fifth of a second, where instructions are named.
stores_seen = $(if $(shell grep -l 'intrin\.h\|simd\.h' $<),-include common/remote/races_instructions.h)
$(BUILD)/races/%.c.o: %.c $(BUILD)/settings common/remote/races_instructions.h
	@mkdir -p $(@D)
	$(quiet)$(filter-out -O3 -Werror,$(compile_c)) -O1 -fsanitize=thread $(see_all) $(header) $(stores_seen) $(written_down) -c $< -o $@
$(BUILD)/race-workers/%: wrapped :=
$(BUILD)/race-workers/%: $(BUILD)/races/%.o $(call object,$(watching_parts_c)) $$(call helpers_named,$$*,c) \
                         $$(call contract_objects,$$(call algorithm_in,$$*)) $(under_c)
	@mkdir -p $(@D)
	$(quiet)$(race_link_c) $(worker_libraries) -o $@
# The same for kernels, which the emulator watches. Without precompiled headers: those are for -O1, and gcc 12 ends by a
# fault when it takes them with -O2, by which accesses are counted here.
$(BUILD)/races/%.cu.o: $(BUILD)/%.cu.cpp $(BUILD)/settings common/remote/kernel_values.h
	@mkdir -p $(@D)
	$(quiet)$(filter-out -Werror,$(compile_cxx)) $(watched) $(see_all) -fno-strict-aliasing -Icommon/emulator/include \
	    -include cuda_runtime.h -include common/cuda/device.h -include common/remote/kernel_values.h $(written_down) -c $< -o $@
$(BUILD)/race-workers/%.cu: $(BUILD)/races/%.cu.o $(call object,$(watching_parts_cu)) $$(call helpers_named,$$*.cu,cu) \
                            $$(call contract_objects,$$(call algorithm_in,$$*)) $(under_cu)
	@mkdir -p $(@D)
	$(quiet)$(race_link_cu) $(worker_libraries) -o $@
.PHONY: watching-parts
watching-parts: $(call object,$(watching_parts_cu))
# FOLDER, ALGORITHM, EXTENSION, more files, workers or race-workers, folder of the version's object, its link,
# rename_copies where a copy of that object is linked, of which the calls are renamed
define pipeline_worker
$(BUILD)/$(5)/$(1)/$(2)/%.$(3): $(6)/$(1)/$(2)/%.$(3).o $(call object,$(pipeline_parts) $(4)) $$$$(call object,$$$$(call \
                                   steps_named,$(1)/$(2)/$$$$*.$(3),$(2),$(3))) $$$$(call contract_objects,$(2)) $(under_$(3)) \
                                   common/build/versions.sh common/build/steps.sh
	@mkdir -p $$(@D)
	@{ sh common/build/versions.sh --some $$(call rungs_under,$$^,$(2),$(3)) $(1)/$(2)/$$*.$(3) -- '$(not_linked)' \
	    $$(filter-out $$(call rungs_under,$$^,$(2),$(3)),$$(call step_files_$(3),$(2))) \
	    $(if $(filter cu,$(3)),-- '$(host_steps_only)' $$(call rungs_in,cpu,$$(filter-out $(host_steps),$$(steps_of_$(2))))) && \
	    echo 'const char *const worker_algorithm = "$(2)";'; } >$$@.versions.c
	$$(quiet)$$(compile_c) -c $$@.versions.c -o $$@.versions.o
	$$(quiet)$(if $(8),$$($(8)) && )$$($(7)) -Wl$$(comma)--wrap=step_run $(if $(8),$$@.o $$(filter-out $$<,$$(filter %.o,$$^)),$$(filter %.o,$$^)) $$@.versions.o \
	    $$(filter %.a,$$^) $$(worker_libraries) -o $$@
endef
# OBJECTS, ALGORITHM, EXTENSION
rungs_under = $(foreach file,$(call step_files_$(3),$(2)),$(if $(filter $(call object,$(file)),$(1)),$(file)))
not_linked := a lab links a pipeline with the steps that its file names in one string, and this is none of them
host_steps_only := a lab links a pipeline for the GPU with $(subst $() $(), and ,$(host_steps)) of the CPU, and with no other step
# FOLDER, ALGORITHM
define pipeline_workers
$(call pipeline_worker,$(1),$(2),c,,workers,$(BUILD),worker_link)
$(call pipeline_worker,$(1),$(2),c,$(race_parts),race-workers,$(BUILD)/races,race_link,rename_copies)
$(call pipeline_worker,$(1),$(2),cu,,workers,$(BUILD),worker_link_cu)
$(call pipeline_worker,$(1),$(2),cu,$(race_parts_cu),race-workers,$(BUILD)/races,worker_link_cu,rename_copies)
endef
$(foreach folder,$(worker_folders),$(foreach algorithm,$(filter $(stepped),$(call algorithms_in,$(folder))),$(eval $(call \
    pipeline_workers,$(folder),$(algorithm)))))
# A student's warnings are no errors; all files that it includes are recorded. Ubuntu's gcc defines _FORTIFY_SOURCE, whose
# headers give calls other names.
$(BUILD)/assignments/%.o $(BUILD)/$(BUILD)/%.o: warnings := -Wall -Wextra
$(BUILD)/assignments/%.o $(BUILD)/$(BUILD)/%.o: depend = -MD
$(BUILD)/assignments/%.c.o $(BUILD)/$(BUILD)/%.c.o $(BUILD)/races/assignments/%.c.o $(BUILD)/races/$(BUILD)/%.c.o: private header := \
    -U_FORTIFY_SOURCE
define compile_student
	@mkdir -p $(@D)
	$(quiet)$(compile_c) $(header) -c $< -o $@
endef
$(BUILD)/assignments/%.c.o: assignments/%.c $(BUILD)/settings
	$(compile_student)
$(BUILD)/$(BUILD)/%.c.o: $(BUILD)/%.c $(BUILD)/settings
	$(compile_student)
# For handouts (assignments/grading/handout.py): a version as its compiler's assembler.
$(BUILD)/ready/%.c.s: %.c $(BUILD)/settings
	@mkdir -p $(@D)
	$(quiet)$(compile_c) -g0 -S $< -o $@
$(BUILD)/ready/%.cu.s: $(BUILD)/%.cu.cpp $(BUILD)/settings
	@mkdir -p $(@D)
	$(quiet)$(compile_cxx) -fno-strict-aliasing -Icommon/emulator/include -g0 -S $< -o $@
# A broken program to find the fault of, which is none of a version's.
$(BUILD)/bugs/%: %
	@mkdir -p $(@D)
	$(quiet)$(CC) -std=c11 -D_GNU_SOURCE -O2 $(march) -fopenmp -Wall -Wextra -I. $< -o $@
judge_libraries = $(filter-out $(peer_libraries),$(libraries))
# NAME, ALGORITHMS: the judge of these and of what their contracts stand on
define judge_program
$(BUILD)/$(1): $(call object,$(judge_library) $(judge_parts)) $$$$(call object,$$$$(call judge_files,$(2))) \
                 $(BUILD)/generated/$(subst /,-,$(1)).c.o
	@mkdir -p $$(@D)
	$$(call say,link,$$@)
	$$(quiet)$$(link) $$^ $$(judge_libraries) -lseccomp -o $$@
$(BUILD)/generated/$(subst /,-,$(1)).c: common/build/versions.sh $(BUILD)/files
	@mkdir -p $$(@D)
	@sh common/build/versions.sh $$(call judge_serial,$(2)) >$$@
endef
judge_serial = $(wildcard $(patsubst %,cpu/%/0_serial.c,$(call ladders_of,$(1))))
judge_files = $(call contract_files,$(call ladders_of,$(1))) $(call judge_serial,$(1))
$(eval $(call judge_program,rungs-judge,$(algorithms)))
# A lab's own.
$(foreach n,$(lab_numbers),$(eval $(call judge_program,lab-$(n)/judge,$(call lab_algorithms,$(n)))))
# The judge on the tests' own algorithms (tests/small/small.h), which have several outputs.
$(BUILD)/rungs-judge-small: $(call object,$(judge_library) $(judge_parts) $(small_files) \
                            tests/small/algorithms.c) $(BUILD)/generated/small.c.o
	$(call say,link,$@)
	$(quiet)$(link) $^ $(judge_libraries) -lseccomp -o $@

# --- labs: assignments/INSTRUCTORS.md
# ---------------------------------------------------------------------------------- The sanitizers have a folder of
# their own, so that a look at a crash does not rebuild everything twice.
run_labs = BUILD='$(BUILD)$(if $(SANITIZE),$(if $(filter %-asan,$(BUILD)),,-asan))' CUDA='$(CUDA)' LABS_MAKE='$(firstword $(MAKE))' $(PYTHON) -B assignments/labs.py
.PHONY: $(addprefix lab-,$(lab_numbers)) $(addprefix grade-,$(lab_numbers)) $(addprefix bug-,$(lab_numbers)) $(addprefix worst-,$(lab_numbers)) handout solution new-lab
$(addprefix lab-,$(lab_numbers)): lab-%:
	@$(run_labs) lab $* $(if $(TASK),--task '$(TASK)')
$(addprefix grade-,$(lab_numbers)): grade-%:
	@$(run_labs) grade $* $(if $(TASK),--task '$(TASK)') $(if $(OUT),--out '$(OUT)') $(if $(PASS),--passing '$(PASS)') \
	    $(if $(SUBMISSION),--submission '$(SUBMISSION)')
$(addprefix bug-,$(lab_numbers)): bug-%:
	@$(if $(BUG),,echo "make $@: name one, for example  make $@ BUG=1" >&2; exit 2)
	@$(run_labs) bug $* '$(BUG)'
$(addprefix worst-,$(lab_numbers)): worst-%:
	@$(run_labs) worst $*
# Rungs of the lab's algorithms with its starters, as student/<name>, for whatever else it can do: diff, bench, profile.
define lab_program
$(BUILD)/lab-$(1)/rungs: $(common_objects) $$$$(call object,$$$$(call ladder_files,$(3),$(version_files) $(helper_files)) $(2)) \
                         $(BUILD)/generated/lab-$(1).c.o
	@mkdir -p $$(@D)
	$$(call say,link,$$@)
	$$(quiet)$$(link) $$^ $$(libraries) -o $$@
$(BUILD)/generated/lab-$(1).c: common/build/versions.sh $(version_files) $(2) $(BUILD)/files
	@mkdir -p $$(@D)
	@sh common/build/versions.sh $$(call ladder_files,$(3),$(version_files)) $(2) >$$@
endef
# ALGORITHMS, FILES: those of the files that belong to these ladders
ladder_files = $(filter $(foreach algorithm,$(call ladders_of,$(1)),$(patsubst %,%/$(algorithm)/%,cpu cuda peers)),$(2))
# ... and of ladders that its text looks at besides.
lab_ladders = $(filter $(shell sed -n 's/^ladders = //p' assignments/$(1)_*/lab.toml | tr -d '[],"'),$(algorithms))
$(foreach n,$(lab_numbers),$(eval $(call lab_program,$(n),$(wildcard assignments/$(n)_*/starter/*/*.c assignments/$(n)_*/starter/*/*.cu),$(call \
    lab_algorithms,$(n)) $$(call lab_ladders,$(n)))))

handout:
	@$(if $(and $(LABS)$(LAB),$(OUT)),,echo "make handout: for example  make handout LABS=01,02 OUT=../course" >&2; exit 2)
	@$(run_labs) handout '$(or $(LABS),$(LAB))' '$(OUT)'
new-lab:
	@$(if $(NAME),,echo "make new-lab: for example  make new-lab NAME=04_labelling [ALGORITHM=labelling]" >&2; exit 2)
	@$(run_labs) new '$(NAME)' $(if $(ALGORITHM),--algorithm '$(ALGORITHM)')
solution:
	@$(if $(LAB),,echo "make solution: for example  make solution LAB=02" >&2; exit 2)
	@$(run_labs) solution '$(LAB)' $(if $(TASK),--task '$(TASK)') $(if $(SHARE),--share '$(SHARE)') $(if $(PATIENCE),--patience '$(PATIENCE)')
