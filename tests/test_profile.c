/*
 * The parts of rungs profile that can be told what they should find: kernel names, ncu's output, sums, teams of threads
 * and their imbalance, ranges, timelines; and a recording of threads that sleep for known times.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/profile/counted.h"
#include "common/profile/ncu.h"
#include "common/profile/profile.h"
#include "common/trace/mark.h"
#include "common/trace/openmp.h"

static void assert_name(const char *demangled, const char *expected)
{
    char name[TRACE_NAME];

    trace_kernel_name(demangled, name, sizeof name);
    assert_string_equal(name, expected);
}

static void kernel_names_are_short(void **unused)
{
    (void)unused;
    assert_name("blur_kernel(image, image, weights const*, int)", "blur_kernel");
    assert_name("void blur_kernel<1, 15>(image, image, weights)", "blur_kernel<1, 15>");
    assert_name("(anonymous namespace)::blur_kernel(image)", "blur_kernel");
    assert_name("void (anonymous namespace)::rows<(int)3, bool>(image, int (*)(int))", "rows<(int)3, bool>");
    assert_name("_INTERNAL_12345_v1_0_naive_cu::kernel(int)", "kernel");
    assert_name("void cub::detail::scan<cub::policy<800>, int*, std::plus<void>, unsigned long>(int*)", "scan<...>");
    assert_name("plain", "plain");
    assert_name("", "");
}

/* ------------------------------------------------------------------------------------------------------- ncu */

static const char ncu_output[] =
    "==PROF== Connected to process 4711 (/tmp/rungs)\n"
    "==PROF== Profiling \"blur_kernel\" - 0: 0%....50%....100% - 8 passes\n"
    "1 call of blur:cuda/v1.3, not verified\n"
    "==PROF== Disconnected from process 4711\n"
    "\"ID\",\"Process ID\",\"Kernel Name\",\"Block Size\",\"dram__bytes.sum\",\"gpu__time_duration.sum\","
    "\"sm__warps_active.avg.pct_of_peak_sustained_active\",\"smsp__sass_average_data_bytes_per_wavefront_mem_shared."
    "pct\"\n"
    "\"\",\"\",\"\",\"\",\"byte\",\"ns\",\"%\",\"%\"\n"
    "\"0\",\"4711\",\"blur_kernel(image, image, weights, int)\",\"(32, 16, "
    "1)\",\"8,294,400\",\"560,000\",\"90.5\",\"n/a\"\n"
    "\"1\",\"4711\",\"blur_kernel(image, image, weights, int)\",\"(32, 16, "
    "1)\",\"8,294,402\",\"562,000\",\"91.5\",\"n/a\"\n"
    "\"2\",\"4711\",\"void other<\"\"x\"\">(int)\",\"(1, 1, 1)\",\"10\",\"1000\",\"1\",\"50\"\r\n";

static double metric(const struct ncu_kernel *kernel, const char *key)
{
    for (int i = 0; i < NCU_METRICS; i++)
        if (strcmp(ncu_metrics[i].key, key) == 0)
            return kernel->values[i];
    fail_msg("no metric %s", key);
    return NAN;
}

static void ncu_output_is_read(void **unused)
{
    struct ncu_kernel *kernels;
    size_t count;

    (void)unused;
    assert_int_equal(ncu_parse(ncu_output, &kernels, &count), STATUS_OK);
    assert_int_equal(count, 2);
    assert_string_equal(kernels[0].name, "blur_kernel");
    assert_int_equal(kernels[0].launches, 2);
    assert_true(fabs(metric(&kernels[0], "duration") - 561e-6) < 1e-9);
    assert_true(fabs(metric(&kernels[0], "dram_bytes") - 8294401) < 1e-3);
    assert_true(fabs(metric(&kernels[0], "achieved_occupancy") - 91) < 1e-9);
    assert_true(isnan(metric(&kernels[0], "shared_efficiency"))); /* n/a */
    assert_true(isnan(metric(&kernels[0], "branch_efficiency"))); /* no such column */
    assert_string_equal(kernels[1].name, "other<\"x\">");
    assert_true(fabs(metric(&kernels[1], "shared_efficiency") - 50) < 1e-9);
    free(kernels);
}

/* ncu puts hundreds of the device's attributes between a kernel's name and its metrics. */
static void ncu_may_print_many_columns(void **unused)
{
    enum { COLUMNS = 600 };
    char *text = malloc(64 * COLUMNS), *end = text;
    struct ncu_kernel *kernels;
    size_t count;

    (void)unused;
    assert_non_null(text);
    end += sprintf(end, "\"ID\",\"Kernel Name\"");
    for (int i = 0; i < COLUMNS; i++)
        end += sprintf(end, ",\"device__attribute_%d\"", i);
    end += sprintf(end, ",\"smsp__thread_inst_executed_per_inst_executed.ratio\"\n\"0\",\"kernel(int)\"");
    for (int i = 0; i < COLUMNS; i++)
        end += sprintf(end, ",\"%d,000\"", i);
    sprintf(end, ",\"31.94\"\n");
    assert_int_equal(ncu_parse(text, &kernels, &count), STATUS_OK);
    assert_true(fabs(metric(&kernels[0], "threads_per_instruction") - 31.94) < 1e-9);
    free(kernels);
    free(text);
}

static void ncu_output_without_metrics_is_refused(void **unused)
{
    static const char *const texts[] = {"", "==ERROR== no\n", "\"ID\",\"Kernel Name\"\n", "\"ID\n\"\",\n\"",
                                        "\"ID\",\"x\"\n\"0\",\"1\"\n"};
    struct ncu_kernel *kernels;
    size_t count;

    (void)unused;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        assert_int_equal(ncu_parse(texts[i], &kernels, &count), STATUS_UNSUPPORTED);
        assert_null(kernels);
        assert_int_equal(count, 0);
    }
}

/* A kernel's sums are the rows of line 0; conflicts are of one launch. */
static void the_emulators_counters_are_read(void **unused)
{
    static const char text[] =
        "kernel,launches,warps,barriers,branches,parted,file,line,what,requests,threads,bytes,units,least,meet\n"
        "\"blur<4, 8>\",2,64,64,100,25,\"\",0,global load,10,320,1280,80,0,0\n"
        "\"blur<4, 8>\",2,64,64,100,25,\"\",0,shared load,10,320,1280,30,10,0\n"
        "\"blur<4, 8>\",2,64,64,100,25,\"\",0,shared store,10,320,1280,10,10,0\n"
        "\"blur<4, 8>\",2,64,64,100,25,\"a.cu\",7,global load,10,320,1280,999,0,0\n"
        "\"other\",1,1,0,0,0,\"\",0,global load,0,0,0,0,0,0\n";
    struct ncu_kernel *kernels;
    size_t count;

    (void)unused;
    assert_int_equal(counted_parse(text, &kernels, &count), STATUS_OK);
    assert_int_equal(count, 2);
    assert_string_equal(kernels[0].name, "blur<4, 8>");
    assert_int_equal(kernels[0].launches, 2);
    assert_true(metric(&kernels[0], "global_load_efficiency") == 50);
    assert_true(metric(&kernels[0], "global_store_efficiency") == 0);
    assert_true(metric(&kernels[0], "sectors_per_global_load") == 8);
    assert_true(metric(&kernels[0], "shared_efficiency") == 50);
    assert_true(metric(&kernels[0], "bank_conflicts_shared_load") == 10);
    assert_true(metric(&kernels[0], "bank_conflicts_shared_store") == 0);
    assert_true(metric(&kernels[0], "branch_efficiency") == 75);
    assert_true(isnan(metric(&kernels[0], "duration")));
    assert_true(metric(&kernels[1], "sectors_per_global_load") == 0);
    free(kernels);
    assert_int_equal(counted_parse("", &kernels, &count), STATUS_UNSUPPORTED);
    assert_int_equal(counted_parse(strstr(text, "\"other"), &kernels, &count), STATUS_UNSUPPORTED);
    assert_null(kernels);
}

static void the_line_for_ncu_can_be_typed(void **unused)
{
    static const char *const arguments[] = {"build/rungs", "profile",      "blur:cuda/v1.3",
                                            "--input",     "my photo.jpg", NULL};
    char line[4096];

    (void)unused;
    ncu_command(arguments, line, sizeof line);
    assert_ptr_equal(strstr(line, "ncu "), line);
    assert_non_null(strstr(line, " --metrics gpu__time_duration.sum,"));
    assert_non_null(strstr(line, " build/rungs profile blur:cuda/v1.3 --input 'my photo.jpg'"));
}

/* -------------------------------------------------------------------------------------------------------- sums */

static void add(struct trace *trace, enum trace_kind kind, const char *name, double start, double seconds)
{
    struct trace_event event = {.kind = kind, .start = start, .seconds = seconds, .bytes = 10};

    snprintf(event.name, sizeof event.name, "%s", name);
    trace_add(trace, &event);
}

static void sums_are_by_name_and_sorted(void **unused)
{
    struct trace *trace = trace_create();
    struct profile_sum *sums;
    size_t count;

    (void)unused;
    assert_non_null(trace);
    add(trace, TRACE_KERNEL, "a", 1, 0.5);
    add(trace, TRACE_COPY, "c", 2, 4);
    add(trace, TRACE_KERNEL, "b", 3, 2);
    add(trace, TRACE_KERNEL, "a", 4, 1);
    add(trace, TRACE_API, "a", 4, 100);
    assert_int_equal(profile_sums(trace, TRACE_KERNEL, TRACE_SET, false, &sums, &count), STATUS_OK);
    assert_int_equal(count, 3);
    assert_string_equal(sums[0].name, "c");
    assert_string_equal(sums[1].name, "b");
    assert_string_equal(sums[2].name, "a");
    assert_int_equal(sums[2].count, 2);
    assert_int_equal(sums[2].bytes, 20);
    assert_true(sums[2].total == 1.5 && sums[2].least == 0.5 && sums[2].most == 1);
    free(sums);
    trace_free(trace);
}

static void overlapping_work_counts_once(void **unused)
{
    struct trace *trace = trace_create();

    (void)unused;
    assert_true(profile_gpu_busy(trace) == 0);
    add(trace, TRACE_COPY, "c", 1, 4);
    add(trace, TRACE_KERNEL, "a", 2, 1);
    add(trace, TRACE_API, "call", 4, 50);
    add(trace, TRACE_KERNEL, "b", 4, 2);
    add(trace, TRACE_SET, "s", 10, 1);
    assert_true(fabs(profile_gpu_busy(trace) - 6) < 1e-9);
    trace_free(trace);
}

static void add_region(struct trace *trace, uint64_t id, uintptr_t code, int thread, double start, double seconds,
                       double waited)
{
    struct trace_event event = {.kind = TRACE_REGION,
                                .id = id,
                                .code = code,
                                .row = thread,
                                .start = start,
                                .seconds = seconds,
                                .wait_seconds = waited,
                                .cpu_seconds = seconds};

    trace_add(trace, &event);
}

static void imbalance_is_the_slowest_over_the_mean(void **unused)
{
    struct trace *trace = trace_create();
    struct profile_team team;

    (void)unused;
    /* Region 1 ran twice, with threads swapped: 3 s and 1 s of work each time. In region 2 thread 1 waits inside. */
    add_region(trace, 1, 0x10, 0, 0, 3, 0);
    add_region(trace, 1, 0x10, 1, 0, 1, 0);
    add_region(trace, 2, 0x10, 1, 10, 3, 0);
    add_region(trace, 2, 0x10, 0, 10, 1, 0);
    add_region(trace, 3, 0x20, 0, 20, 2, 0);
    add_region(trace, 3, 0x20, 1, 21, 1, 0.5);
    assert_int_equal(profile_team(trace, &team), STATUS_OK);
    assert_int_equal(team.thread_count, 2);
    assert_int_equal(team.region_count, 2);
    assert_int_equal(team.regions[0].count, 2);
    assert_int_equal(team.regions[0].threads, 2);
    assert_true(fabs(profile_imbalance(&team.regions[0]) - 1.5) < 1e-9);
    assert_true(fabs(team.seconds - 8) < 1e-9);
    assert_true(fabs(team.threads[0].busy - 6) < 1e-9 && fabs(team.threads[0].waiting - 2) < 1e-9);
    assert_true(fabs(team.threads[1].busy - 4.5) < 1e-9 && fabs(team.threads[1].waiting - 3.5) < 1e-9);
    profile_team_free(&team);
    trace_free(trace);
}

/* ---------------------------------------------------------------------------------------------------- recording */

static void sleep_for(int milliseconds)
{
    const struct timespec pause = {.tv_nsec = milliseconds * 1000000L};

    nanosleep(&pause, NULL);
}

static void threads_are_recorded_exactly(void **unused)
{
    struct trace *trace = trace_create();
    struct profile_team team;

    (void)unused;
    if (!openmp_can_record())
        skip();
#pragma omp parallel num_threads(2)
    sleep_for(0); /* not recorded */
    openmp_record_start(trace);
#pragma omp parallel num_threads(2)
    {
        sleep_for(omp_get_thread_num() == 0 ? 60 : 20);
#pragma omp barrier
        sleep_for(omp_get_thread_num() == 0 ? 0 : 40);
    }
#pragma omp parallel for schedule(dynamic) num_threads(2)
    for (int i = 0; i < 2; i++)
        sleep_for(10);
    openmp_record_stop();
    assert_int_equal(profile_team(trace, &team), STATUS_OK);
    assert_int_equal(team.thread_count, 2);
    assert_int_equal(team.region_count, 2);
    /* 60 ms each, of 100; that a loaded machine sleeps longer must not fail this. */
    assert_true(team.threads[0].busy >= 0.059 && team.threads[1].busy >= 0.059);
    assert_true(team.threads[0].on_core < 0.05);
    assert_true(team.regions[0].seconds >= 0.099);
    assert_true(team.threads[1].waiting >= 0.01 && team.threads[0].waiting >= 0.01);
    profile_team_free(&team);
    trace_free(trace);
}

static char heard[256];

static void hear_begin(enum mark_level level, const char *name)
{
    (void)level;
    snprintf(heard + strlen(heard), sizeof heard - strlen(heard), "(%s", name);
}

static void hear_end(enum mark_level level, const char *name)
{
    (void)level, (void)name;
    snprintf(heard + strlen(heard), sizeof heard - strlen(heard), ")");
}

static void ranges_nest(void **unused)
{
    static const struct mark_listener listener = {hear_begin, hear_end};

    (void)unused;
    mark_listen(&listener);
    mark(MARK_CALL, "call");
    mark(MARK_STEP, "blur");
    mark(MARK_PHASE, "upload");
    mark(MARK_PHASE, NULL);
    mark(MARK_PHASE, "kernel");
    mark(MARK_STEP, "open");
    mark(MARK_CALL, NULL);
    mark(MARK_CALL, NULL);
    assert_string_equal(heard, "(call(blur(upload)(kernel))(open))");
}

static void timelines_are_trace_events(void **unused)
{
    char path[] = "/tmp/rungs-test-trace-XXXXXX";
    struct trace *trace = trace_create();
    const int handle = mkstemp(path);
    struct output_file file;
    json_t *document, *event;
    size_t index, spans = 0, named = 0;

    (void)unused;
    assert_true(handle >= 0);
    close(handle);
    add(trace, TRACE_CALL, "call \"one\"", 100, 2);
    add(trace, TRACE_COPY, "[CUDA memcpy HtoD]", 100.5, 1e-3);
    add(trace, TRACE_KERNEL, "kernel", 101, 2.5e-6);
    add_region(trace, 1, 0x10, 3, 101, 1, 0);
    trace_sort(trace);
    assert_int_equal(file_create(&file, path), STATUS_OK);
    assert_int_equal(trace_write(trace, &file, "title", "some GPU"), STATUS_OK);
    document = json_load_file(path, 0, NULL);
    unlink(path);
    assert_non_null(document);
    json_array_foreach(json_object_get(document, "traceEvents"), index, event)
    {
        const char *phase = json_string_value(json_object_get(event, "ph"));

        assert_true(json_is_string(json_object_get(event, "name")));
        assert_true(json_is_integer(json_object_get(event, "pid")) && json_is_integer(json_object_get(event, "tid")));
        named += strcmp(json_string_value(json_object_get(event, "name")), "thread_name") == 0;
        if (strcmp(phase, "X") == 0) {
            spans++;
            assert_true(json_number_value(json_object_get(event, "ts")) >= 0);
            if (strcmp(json_string_value(json_object_get(event, "name")), "kernel") == 0) {
                assert_true(fabs(json_number_value(json_object_get(event, "ts")) - 1e6) < 1e-3);
                assert_true(fabs(json_number_value(json_object_get(event, "dur")) - 2.5) < 1e-6);
            }
        }
    }
    assert_int_equal(spans, 4);
    assert_int_equal(named, 4);
    json_decref(document);
    trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernel_names_are_short),
        cmocka_unit_test(ncu_output_is_read),
        cmocka_unit_test(ncu_may_print_many_columns),
        cmocka_unit_test(ncu_output_without_metrics_is_refused),
        cmocka_unit_test(the_emulators_counters_are_read),
        cmocka_unit_test(the_line_for_ncu_can_be_typed),
        cmocka_unit_test(sums_are_by_name_and_sorted),
        cmocka_unit_test(overlapping_work_counts_once),
        cmocka_unit_test(imbalance_is_the_slowest_over_the_mean),
        cmocka_unit_test(threads_are_recorded_exactly),
        cmocka_unit_test(timelines_are_trace_events),
        cmocka_unit_test(ranges_nest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
