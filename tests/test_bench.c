/*
 * The bench by what it must never do: give a wrong version times, believe a result that was computed before, count an
 * untimed one; and its files and table, read back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "common/algo/blur.h"
#include "common/contract/queue.h"
#include "common/image/pattern.h"
#include "common/measure/bench.h"
#include "common/output/results.h"
#include "common/output/table.h"

static const struct algorithm *blur;
static const struct version *serial;
static char folder[] = "/tmp/rungs-test-bench-XXXXXX";

static int set_up(void **unused)
{
    (void)unused;
    if (registry_open() != STATUS_OK || !mkdtemp(folder))
        return -1;
    blur = registry_find_algorithm("blur");
    return blur && registry_find_version(blur, "cpu/serial", &serial) == STATUS_OK ? 0 : -1;
}

static int tear_down(void **unused)
{
    (void)unused;
    return rmdir(folder);
}

/* ------------------------------------------------------------------------------------ versions made for the tests */

static int calls; /* of run() in this process */

enum { VERIFYING_CALLS = 10 }; /* more than a verification makes; a timed round makes hundreds */

static enum status right(void *state, const struct image in[], struct image *out, const void *params)
{
    calls++;
    return serial->run(state, in, out, params);
}

static enum status slow(void *state, const struct image in[], struct image *out, const void *params)
{
    const struct timespec pause = {.tv_nsec = 5000000};

    nanosleep(&pause, NULL);
    return right(state, in, out, params);
}

static enum status wrong(void *state, const struct image in[], struct image *out, const void *params)
{
    const enum status status = right(state, in, out, params);

    *(uint8_t *)out->data ^= 1;
    return status;
}

/* Right until the verification is over, then it keeps what it has. */
static enum status lazy(void *state, const struct image in[], struct image *out, const void *params)
{
    return calls < VERIFYING_CALLS ? right(state, in, out, params) : STATUS_OK;
}

static enum status crashing(void *state, const struct image in[], struct image *out, const void *params)
{
    if (calls >= VERIFYING_CALLS) {
        signal(SIGSEGV, SIG_DFL); /* cmocka's handler came along into the child */
        raise(SIGSEGV);
    }
    return right(state, in, out, params);
}

static enum status refusing(void *state, const struct image in[], struct image *out, const void *params)
{
    (void)state, (void)in, (void)out, (void)params;
    return status_set(STATUS_FAILED, "the moon is in the wrong phase");
}

static const char *declining(const struct image in[], const void *params)
{
    (void)in, (void)params;
    return "not on a Friday";
}

static struct version made(const struct version_source *source,
                           enum status (*run)(void *, const struct image[], struct image *, const void *))
{
    return (struct version){.path = source->path,
                            .algorithm_name = "blur",
                            .state_size = 1,
                            .run = run,
                            .source = source,
                            .algorithm = blur};
}

static const struct version_source sources[] = {
    {.path = "assignments/1.c", .algorithm = "blur", .id = "student/one", .idea = "", .expect = ""},
    {.path = "peers/2.c", .algorithm = "blur", .id = "peer/two", .idea = "", .expect = ""},
};

/* ---------------------------------------------------------------------------------------------------- running one */

struct run {
    struct blur_params params;
    const struct version *versions[3];
    struct bench_request request;
    struct bench bench;
};

/* What was shown, in turn: each row once, with what was known of it by then. */
static struct {
    size_t count;
    const struct version *version[8];
    size_t samples[8];
    enum bench_outcome outcome[8];
} shown;

static void note_shown(struct bench *measured, const struct bench_row *row)
{
    (void)measured;
    assert_true(shown.count < 8);
    shown.version[shown.count] = row->version;
    shown.outcome[shown.count] = row->outcome;
    shown.samples[shown.count++] = row->end_to_end.count;
}

static void bench(struct run *run, const struct version *one, const struct version *two, double seconds)
{
    memset(run, 0, sizeof *run);
    assert_int_equal(params_parse_text(blur, "ksize=3", &run->params), STATUS_OK);
    run->versions[0] = serial;
    run->versions[1] = one;
    run->versions[2] = two;
    run->request = (struct bench_request){.algorithm = blur,
                                          .versions = run->versions,
                                          .version_count = two ? 3 : 2,
                                          .params = &run->params,
                                          .threads = 2,
                                          .seconds = seconds,
                                          .show = note_shown,
                                          .input = "a \"test\", made",
                                          .command = "test"};
    assert_int_equal(image_create(&run->request.in[0], 61, 47, 3, PIXEL_U8), STATUS_OK);
    pattern_fill(&run->request.in[0], PATTERN_RANDOM, 1);
    shown.count = 0;
    assert_int_equal(bench_run(&run->request, &run->bench), STATUS_OK);
}

static void done(struct run *run)
{
    bench_free(&run->bench);
    image_free(&run->request.in[0]);
}

static void expect_failure(enum status (*body)(void *, const struct image[], struct image *, const void *),
                           const char *reason)
{
    const struct version version = made(&sources[0], body);
    struct run run;

    bench(&run, &version, NULL, 0.5);
    const struct bench_row *row = bench_find(&run.bench, &version);
    assert_int_equal(row->outcome, BENCH_FAILED);
    assert_int_equal(row->kernel.count, 0);
    assert_int_equal(row->end_to_end.count, 0);
    assert_true(row->first_call == 0);
    if (!strstr(row->why, reason))
        fail_msg("\"%s\" does not say \"%s\"", row->why, reason);
    assert_true(bench_any_failed(&run.bench));
    assert_int_equal(bench_reference(&run.bench)->outcome, BENCH_TIMED);
    done(&run);
}

static void a_wrong_version_gets_no_times(void **unused)
{
    (void)unused;
    expect_failure(wrong, "");
}

static void a_cached_result_does_not_win(void **unused)
{
    (void)unused;
    expect_failure(lazy, "right when verified, but wrong");
}

static void a_crash_is_that_version_s_alone(void **unused)
{
    (void)unused;
    expect_failure(crashing, "SIGSEGV");
}

static void an_error_is_reported_in_its_own_words(void **unused)
{
    (void)unused;
    expect_failure(refusing, "the moon is in the wrong phase");
}

static void times_are_what_a_call_takes(void **unused)
{
    const struct version version = made(&sources[0], slow), peer = made(&sources[1], right);
    struct run run;

    (void)unused;
    bench(&run, &version, &peer, 0.2);
    const struct bench_row *row = bench_find(&run.bench, &version), *reference = bench_reference(&run.bench);
    assert_int_equal(row->outcome, BENCH_TIMED);
    assert_true(row->kernel.median >= 0.005 && row->kernel.median < 0.05);
    assert_true(row->first_call >= 0.005);
    assert_true(row->kernel.count >= BENCH_ROUNDS);
    assert_true(row->kernel.q1 <= row->kernel.median && row->kernel.median <= row->kernel.q3);
    assert_true(reference->kernel.median > 0 && reference->kernel.median < 0.005);
    assert_null(bench_below(&run.bench, row));
    /* The rate by which a call moves its bytes and no more than the limit allows. */
    assert_true(run.bench.ceilings.copy_bytes_per_second > 1e8);
    assert_true(run.bench.ceilings.operations_per_second[OPERATION_MULTIPLY_ADD_8] > 1e8);
    assert_true(bench_limit_fraction(row) > 0 && bench_limit_fraction(row) < 1);
    const struct bench_ratio ratio = bench_ratio(&reference->kernel, &row->kernel);
    assert_true(ratio.differs && ratio.times < 1);
    done(&run);
}

/* A queue of three places whose pictures are computed when they are received, each after a pause. */
enum { PLACES = 3 };
static struct {
    struct image in, out;
} places[PLACES];
static long submitted, received;
static bool spoils;

static int three(void)
{
    return PLACES;
}

static enum status open_queue(const struct version *version, const void *params, void **queue)
{
    (void)version;
    submitted = received = 0;
    *queue = malloc(sizeof(struct blur_params));
    memcpy(*queue, params, sizeof(struct blur_params));
    return STATUS_OK;
}

static enum status submit_picture(void *queue, const struct image in[], const struct image out[])
{
    (void)queue;
    places[submitted % PLACES].in = in[0];
    places[submitted % PLACES].out = out[0];
    submitted++;
    return submitted - received <= PLACES ? STATUS_OK : status_set(STATUS_FAILED, "more pictures than places");
}

static enum status receive_picture(void *queue)
{
    struct image *out = &places[received % PLACES].out;
    const enum status status = slow(NULL, &places[received++ % PLACES].in, out, queue);

    if (spoils)
        *(uint8_t *)out->data ^= 1;
    return status;
}

static const char *no_note(void *queue)
{
    (void)queue;
    return NULL;
}

static void *allocate_aligned(size_t bytes)
{
    return aligned_alloc(IMAGE_ALIGNMENT, bytes);
}

static const struct version_queue queue_of_three = {three,   open_queue, submit_picture,   receive_picture,
                                                    no_note, free,       allocate_aligned, free};

static void many_pictures_are_timed_and_compared(void **unused)
{
    struct version version = made(&sources[0], right);
    const struct version peer = made(&sources[1], right);
    char text[16384] = "";
    FILE *stream = fmemopen(text, sizeof text, "w");
    struct run run;

    (void)unused;
    assert_non_null(stream);
    version.queue = &queue_of_three;
    bench(&run, &version, &peer, 0.3);
    const struct bench_row *row = bench_find(&run.bench, &version);
    assert_int_equal(row->outcome, BENCH_TIMED);
    assert_true(row->pictures.count > 0);
    assert_true(row->pictures.median >= 0.005); /* a receive sleeps for so long */
    assert_int_equal(row->under_way, PLACES);
    assert_int_equal(bench_find(&run.bench, &peer)->pictures.count, 0);
    table_print(&run.bench, stream);
    fclose(stream);
    assert_non_null(strstr(text, "a second from page-locked memory"));
    assert_non_null(strstr(text, "3 under way"));
    done(&run);

    spoils = true;
    bench(&run, &version, NULL, 0.3);
    row = bench_find(&run.bench, &version);
    assert_int_equal(row->outcome, BENCH_FAILED);
    assert_non_null(strstr(row->why, "wrong in one of many pictures"));
    done(&run);
    spoils = false;
}

static void what_declines_is_skipped_with_its_reason(void **unused)
{
    struct version version = made(&sources[0], right);
    struct run run;

    (void)unused;
    version.declines = declining;
    bench(&run, &version, NULL, 0.02);
    const struct bench_row *row = bench_find(&run.bench, &version);
    assert_int_equal(row->outcome, BENCH_SKIPPED);
    assert_string_equal(row->why, "not on a Friday");
    assert_false(bench_any_failed(&run.bench));
    done(&run);
}

static void zero_seconds_only_verify(void **unused)
{
    const struct version version = made(&sources[0], right);
    struct run run;

    (void)unused;
    bench(&run, &version, NULL, 0);
    assert_int_equal(bench_find(&run.bench, &version)->outcome, BENCH_TIMED);
    assert_int_equal(bench_find(&run.bench, &version)->kernel.count, 0);
    done(&run);
}

/* Each row once, after its first round and before the others' last; failures too, and nothing of what is only
 * verified. */
static void rows_are_shown_as_they_are_measured(void **unused)
{
    const struct version good = made(&sources[0], right), bad = made(&sources[1], wrong);
    struct run run;

    (void)unused;
    bench(&run, &good, &bad, 0.3);
    assert_int_equal(shown.count, 3);
    assert_ptr_equal(shown.version[0], serial);
    assert_ptr_equal(shown.version[1], &good);
    assert_ptr_equal(shown.version[2], &bad);
    for (int i = 0; i < 2; i++) {
        assert_true(shown.samples[i] > 0);
        assert_true(shown.samples[i] < run.bench.rows[i].end_to_end.count);
    }
    assert_int_equal(shown.outcome[2], BENCH_FAILED);
    done(&run);
}

/* Where a call takes longer than three times all of a version's time: of cpu/serial the two that made the reference
 * count, of others the first. */
static void slow_versions_are_timed_once(void **unused)
{
    const struct version version = made(&sources[0], slow);
    struct run run;

    (void)unused;
    bench(&run, &version, NULL, 1e-6);
    assert_int_equal(bench_reference(&run.bench)->end_to_end.count, 2);
    assert_true(bench_reference(&run.bench)->first_call > 0);
    assert_int_equal(bench_find(&run.bench, &version)->end_to_end.count, 1);
    assert_int_equal(shown.count, 2);
    assert_true(bench_find(&run.bench, &version)->end_to_end.q1 > 0.005);
    done(&run);
}

/* ------------------------------------------------------------------------------------ several inputs and outputs */

/* Cube times matrix: sums over bands as f64, the count of those above 1 in a table, and an output that is absent. */
static enum status kinds_shape(const struct image in[], const void *params, struct image out[])
{
    (void)params;
    out[0] = (struct image){.width = in[0].width, .height = in[0].height, .channels = 1, .type = PIXEL_F64};
    out[1] = (struct image){.width = 1, .height = 2, .channels = 1, .type = PIXEL_I32};
    return STATUS_OK;
}

static void kinds_cost(const struct image in[], const struct image out[], const void *params, struct cost *cost)
{
    (void)in, (void)params;
    cost->bytes = 1;
    cost->operations[OPERATION_MULTIPLY_ADD_F64] = 1e9 * *(const int32_t *)out[1].data;
    assert_null(out[2].data);
}

static enum status kinds_make(const struct input_request *request, struct image in[])
{
    enum status status = STATUS_OK;

    TRY(array_create(&in[0], request->width, request->height, 3, PIXEL_F32));
    TRY(array_create(&in[1], 3, 1, 1, PIXEL_F64));
    for (int y = 0; y < request->height; y++)
        for (int i = 0; i < 3 * request->width; i++)
            ((float *)image_row(&in[0], y))[i] = (float)((i + y + (int)request->seed) % 5);
    for (int i = 0; i < 3; i++)
        ((double *)in[1].data)[i] = 0.25;
out:
    return status;
}

static enum status kinds_run(void *state, const struct image in[], struct image *out, const void *params)
{
    int32_t count = 0;

    (void)state, (void)params;
    for (int y = 0; y < in[0].height; y++)
        for (int x = 0; x < in[0].width; x++) {
            const float *bands = (const float *)image_row(&in[0], y) + 3 * x;
            const double *weights = in[1].data;
            double *sum = (double *)image_row(&out[0], y) + x;

            *sum = bands[0] * weights[0] + bands[1] * weights[1] + bands[2] * weights[2];
            count += *sum > 1;
        }
    *(int32_t *)image_row(&out[1], 0) = 0;
    *(int32_t *)image_row(&out[1], 1) = 0;
    *(int32_t *)out[1].data = count;
    return out[2].data ? STATUS_FAILED : STATUS_OK;
}

static int radius_of_none(const void *params)
{
    (void)params;
    return 0;
}

static void inputs_and_outputs_of_every_kind_are_timed(void **unused)
{
    struct algorithm kinds = {.name = "kinds",
                              .inputs = {{.name = "cube", .kind = SLOT_TENSOR, .type = PIXEL_F32},
                                         {.name = "weights", .kind = SLOT_MATRIX, .type = PIXEL_F64}},
                              .outputs = {{.name = "sum", .kind = SLOT_MATRIX},
                                          {.name = "count", .kind = SLOT_MATRIX},
                                          {.name = "absent", .kind = SLOT_MATRIX}},
                              .shape = kinds_shape,
                              .cost = kinds_cost,
                              .radius = radius_of_none,
                              .make_inputs = kinds_make};
    const struct version_source source = {.path = "cpu/kinds/0_serial.c", .algorithm = "kinds", .id = "cpu/serial"};
    struct version only = made(&source, kinds_run);
    const struct version *versions[] = {&only};
    const struct input_request how = {.width = 40, .height = 30, .channels = 3, .seed = 1};
    struct bench_request request = {.algorithm = &kinds,
                                    .versions = versions,
                                    .version_count = 1,
                                    .made = &how,
                                    .threads = 1,
                                    .seconds = 0.1,
                                    .input = "",
                                    .command = ""};
    struct bench bench;
    int32_t above = 0;

    (void)unused;
    algorithm_count_slots(&kinds);
    only.algorithm = &kinds;
    assert_int_equal(kinds_make(&how, request.in), STATUS_OK);
    for (int y = 0; y < 30; y++)
        for (int x = 0; x < 40; x++)
            above += 0.25 * ((3 * x + y + 1) % 5 + (3 * x + y + 2) % 5 + (3 * x + y + 3) % 5) > 1;
    if (bench_run(&request, &bench) != STATUS_OK)
        fail_msg("%s", status_message());
    if (bench.rows[0].outcome != BENCH_TIMED)
        fail_msg("%s", bench.rows[0].why);
    /* The cost saw the reference's table; the limit is of that kind of operation. */
    assert_true(above > 0 && bench.cost.operations[OPERATION_MULTIPLY_ADD_F64] == 1e9 * above);
    assert_int_equal(bench.rows[0].bound, BENCH_BOUND_OPERATIONS);
    assert_int_equal(bench.rows[0].bound_operation, OPERATION_MULTIPLY_ADD_F64);
    assert_true(bench.ceilings.operations_per_second[OPERATION_MULTIPLY_ADD_F64] > 1e7);
    assert_true(bench.ceilings.operations_per_second[OPERATION_MULTIPLY_ADD_8] == 0);
    bench_free(&bench);
    image_free(&request.in[0]);
    image_free(&request.in[1]);
}

/* ------------------------------------------------------------------------------------------------------- files */

static void json_reads_back(void **unused)
{
    struct version skipped = made(&sources[0], right);
    const struct version peer = made(&sources[1], right);
    struct run run;
    struct output_file file;
    char path[128];
    json_error_t error;

    (void)unused;
    skipped.declines = declining;
    bench(&run, &skipped, &peer, 0.05);
    snprintf(path, sizeof path, "%s/results.json", folder);
    assert_int_equal(file_create(&file, path), STATUS_OK);
    assert_int_equal(results_write_json(&run.bench, &file), STATUS_OK);
    json_t *document = json_load_file(path, 0, &error);
    assert_non_null(document);
    assert_string_equal(json_string_value(json_object_get(document, "schema")), "rungs-results");
    assert_int_equal(json_integer_value(json_object_get(document, "version")), 1);
    assert_string_equal(json_string_value(json_object_get(document, "algorithm")), "blur");
    assert_string_equal(json_string_value(json_object_get(document, "input")), "a \"test\", made");
    assert_int_equal(json_integer_value(json_object_get(document, "width")), 61);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(document, "params"), "ksize")), 3);
    assert_true(json_string_length(json_object_get(json_object_get(document, "machine"), "cpu")) > 0);
    /* 61 x 47 x 3 samples, each read and written once. */
    assert_true(json_real_value(json_object_get(json_object_get(document, "cost"), "bytes")) == 2.0 * 61 * 47 * 3);

    const json_t *versions = json_object_get(document, "versions");
    assert_int_equal(json_array_size(versions), 3);
    const json_t *first = json_array_get(versions, 0), *second = json_array_get(versions, 1),
                 *third = json_array_get(versions, 2);
    assert_string_equal(json_string_value(json_object_get(first, "id")), "cpu/serial");
    assert_true(json_is_true(json_object_get(first, "reference")));
    assert_true(json_is_null(json_object_get(first, "over_serial")));
    assert_string_equal(json_string_value(json_object_get(second, "outcome")), "skipped");
    assert_true(json_is_null(json_object_get(second, "kernel")));
    assert_true(json_is_null(json_object_get(second, "first_call")));
    assert_true(json_is_null(json_object_get(second, "over_serial")));
    const double median = json_real_value(json_object_get(json_object_get(third, "kernel"), "median"));
    assert_true(median > 0.99999 * run.bench.rows[2].kernel.median &&
                median < 1.00001 * run.bench.rows[2].kernel.median);
    assert_true(
        json_is_boolean(json_object_get(json_object_get(json_object_get(third, "over_serial"), "kernel"), "differs")));
    json_decref(document);
    unlink(path);
    done(&run);
}

/* Fields of a line, with quotes undone; fields[] point into line. */
static int split_csv(char *line, char *fields[], int capacity)
{
    int count = 0;

    for (char *in = line; count < capacity;) {
        const int quoted = *in == '"';
        char *out = in += quoted;

        fields[count++] = out;
        for (;; in++) {
            if (quoted && in[0] == '"' && in[1] == '"')
                in++;
            else if (quoted ? *in == '"' : *in == ',' || *in == '\n' || *in == '\0')
                break;
            *out++ = *in;
        }
        in += quoted;
        const char after = *in;
        *out = '\0';
        if (after != ',')
            break;
        in++;
    }
    return count;
}

static void csv_has_a_field_for_each_column(void **unused)
{
    const struct version peer = made(&sources[1], right);
    struct run run;
    struct output_file written;
    char path[128], header[2048], line[2048], *names[64], *fields[64];
    int columns, rows = 0;

    (void)unused;
    bench(&run, &peer, NULL, 0.05);
    snprintf(path, sizeof path, "%s/results.csv", folder);
    assert_int_equal(file_create(&written, path), STATUS_OK);
    assert_int_equal(results_write_csv(&run.bench, &written), STATUS_OK);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(header, sizeof header, file));
    columns = split_csv(header, names, 64);
    assert_int_equal(columns, 30);
    while (fgets(line, sizeof line, file)) {
        assert_int_equal(split_csv(line, fields, 64), columns);
        for (int i = 0; i < columns; i++) {
            if (strcmp(names[i], "version") == 0)
                assert_string_equal(fields[i], rows == 0 ? "cpu/serial" : "peer/two");
            if (strcmp(names[i], "input") == 0)
                assert_string_equal(fields[i], "a \"test\", made");
            if (strcmp(names[i], "kernel_median") == 0)
                assert_true(atof(fields[i]) > 0);
            if (strcmp(names[i], "over_serial_kernel") == 0)
                assert_int_equal(fields[i][0] == '\0', rows == 0);
        }
        rows++;
    }
    assert_int_equal(rows, 2);
    fclose(file);
    unlink(path);
    done(&run);
}

/* A file that may hold no more than a few bytes stands for a full disk. */
static void a_file_that_cannot_be_written_leaves_nothing(void **unused)
{
    const struct version peer = made(&sources[1], right);
    struct rlimit before;
    struct run run;

    (void)unused;
    bench(&run, &peer, NULL, 0.02);
    getrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_IGN);
    for (int csv = 0; csv < 2; csv++) {
        struct output_file file;
        char path[128];

        snprintf(path, sizeof path, "%s/results.%s", folder, csv ? "csv" : "json");
        assert_int_equal(file_create(&file, path), STATUS_OK);
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){100, before.rlim_max});
        assert_int_equal(csv ? results_write_csv(&run.bench, &file) : results_write_json(&run.bench, &file),
                         STATUS_BAD_INPUT);
        setrlimit(RLIMIT_FSIZE, &before);
        assert_non_null(strstr(status_message(), path));
        assert_int_not_equal(access(path, F_OK), 0);
    }
    signal(SIGXFSZ, SIG_DFL);
    done(&run);
}

/* ------------------------------------------------------------------------------------------------------- table */

static void times_have_three_digits(void **unused)
{
    static const struct {
        double seconds;
        const char *text;
    } cases[] = {{1.2345, "1.23 s"},     {12.345, "12.3 s"},    {123.45, "123 s"},       {0.9996, "1.00 s"},
                 {0.9994, "999 ms"},     {0.045678, "45.7 ms"}, {0.0099996, "10.0 ms"},  {0.001, "1.00 ms"},
                 {0.0009996, "1.00 ms"}, {0.0009994, "999 us"}, {0.00000123, "1.23 us"}, {0.000000012, "0.0120 us"},
                 {4321, "4320 s"}};
    char text[TABLE_CELL];

    (void)unused;
    setlocale(LC_CTYPE, "C");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        table_time(cases[i].seconds, text);
        assert_string_equal(text, cases[i].text);
    }
}

static void numbers_have_three_digits(void **unused)
{
    static const struct {
        double number;
        const char *text;
    } cases[] = {{0, "0.00"},     {0.01234, "0.0123"}, {9.996, "10.0"},    {99.96, "100"},
                 {999.6, "1000"}, {1374.4, "1370"},    {38514.2, "38500"}, {338490, "338000"}};
    char text[TABLE_CELL];

    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        table_number(cases[i].number, text);
        assert_string_equal(text, cases[i].text);
    }
}

static void bytes_have_a_fitting_unit(void **unused)
{
    static const struct {
        double bytes;
        const char *text;
    } cases[] = {{6, "6 B"},         {999, "999 B"},       {2048, "2.05 kB"},
                 {65536, "65.5 kB"}, {307200, "0.307 MB"}, {4147200, "4.15 MB"}};
    char text[TABLE_CELL];

    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        table_bytes(cases[i].bytes, text);
        assert_string_equal(text, cases[i].text);
    }
}

static char *print(const struct bench *bench)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    assert_non_null(stream);
    table_print(bench, stream);
    fclose(stream);
    return text;
}

static void check_lines(const char *text, bool ascii)
{
    for (const char *line = text; *line;) {
        char copy[1024];
        const size_t length = strcspn(line, "\n");

        snprintf(copy, sizeof copy, "%.*s", (int)length, line);
        if (table_columns(copy) > 100)
            fail_msg("%d columns: %s", table_columns(copy), copy);
        for (const char *c = copy; ascii && *c; c++)
            assert_true((unsigned char)*c < 0x80);
        line += length + (line[length] == '\n');
    }
}

/* Numbers as they would come from an H200, with a launch() so that kernel and end-to-end times get their columns. */
static enum status no_launch(void *state, const struct image in[], struct image *out, const void *params,
                             struct CUstream_st *stream)
{
    (void)state, (void)in, (void)out, (void)params, (void)stream;
    return STATUS_FAILED;
}

static void tables_fit_and_say_what_was_measured(void **unused)
{
    struct version kernel = made(&sources[0], right), peer = made(&sources[1], right);
    struct bench_row rows[3] = {{0}};
    struct bench_request request = {.algorithm = blur,
                                    .threads = 16,
                                    .input = "images/fetched/aloeL.jpg, scaled to cover 3840x2160",
                                    .in = {{.width = 3840, .height = 2160, .channels = 1}}};
    struct bench by_hand = {.request = &request, .rows = rows, .row_count = 3, .settings = "ksize=15 sigma=2.6"};
    char *text;

    (void)unused;
    kernel.launch = peer.launch = no_launch;
    rows[0] = (struct bench_row){.version = serial,
                                 .reference = true,
                                 .kernel = {.median = 2, .q1 = 1.9, .q3 = 2.1, .count = 3},
                                 .end_to_end = {.median = 2, .q1 = 1.9, .q3 = 2.1, .count = 3}};
    rows[1] = (struct bench_row){.version = &kernel,
                                 .kernel = {.median = 4e-6, .q1 = 3.96e-6, .q3 = 4.04e-6, .count = 30},
                                 .end_to_end = {.median = 1e-3, .q1 = 0.9e-3, .q3 = 1.1e-3, .count = 30},
                                 .device = true,
                                 .limit = 3e-6,
                                 .bound = BENCH_BOUND_BYTES};
    rows[2] = rows[1];
    rows[2].version = &peer;
    rows[2].worst = 1;
    snprintf(by_hand.machine.cpu, sizeof by_hand.machine.cpu, "A processor with quite a long name @ 2.00 GHz");
    snprintf(by_hand.machine.gpu, sizeof by_hand.machine.gpu, "NVIDIA H200");
    by_hand.device_ceilings.copy_bytes_per_second = 4.2e12;
    by_hand.ceilings.copy_bytes_per_second = 1e11;

    setlocale(LC_CTYPE, "C");
    text = print(&by_hand);
    check_lines(text, true);
    assert_non_null(strstr(text, "reference"));
    assert_non_null(strstr(text, "2.00 s"));
    assert_non_null(strstr(text, "4.00 us"));
    assert_non_null(strstr(text, "+-1.0%"));
    assert_non_null(strstr(text, "500000")); /* 2 s over 4 us */
    assert_non_null(strstr(text, "75%"));    /* 3 us of 4 us */
    assert_non_null(strstr(text, "within 1"));
    free(text);

    rows[1].outcome = BENCH_EMULATED;
    rows[1].kernel = rows[1].end_to_end = (struct statistics){0};
    rows[2].outcome = BENCH_FAILED;
    rows[2].kernel = rows[2].end_to_end = (struct statistics){0};
    snprintf(rows[2].why, sizeof rows[2].why, "3 of 9 samples differ");
    text = print(&by_hand);
    check_lines(text, true);
    assert_non_null(strstr(text, "exact, emulated"));
    assert_null(strstr(text, " us"));
    assert_non_null(strstr(text, "FAIL peer/two: 3 of 9 samples differ"));
    free(text);
}

static void overlapping_spreads_are_not_different(void **unused)
{
    struct version peer = made(&sources[1], right);
    const struct statistics a = {.median = 1e-3, .q1 = 0.9e-3, .q3 = 1.1e-3, .count = 20};
    const struct statistics b = {.median = 1.15e-3, .q1 = 1.05e-3, .q3 = 1.2e-3, .count = 20};
    struct bench_row rows[2] = {{.version = serial, .reference = true, .kernel = a, .end_to_end = a},
                                {.version = &peer, .kernel = b, .end_to_end = b}};
    struct bench_request request = {
        .algorithm = blur, .threads = 1, .input = "x", .in = {{.width = 8, .height = 8, .channels = 1}}};
    struct bench by_hand = {.request = &request, .rows = rows, .row_count = 2};
    char *text;

    (void)unused;
    setlocale(LC_CTYPE, "C");
    text = print(&by_hand);
    assert_non_null(strstr(text, "cpu/serial and peer/two are not different"));
    free(text);
    rows[1].kernel.q1 = rows[1].end_to_end.q1 = 1.11e-3;
    text = print(&by_hand);
    assert_non_null(strstr(text, "cpu/serial is 1.15 x as fast as peer/two"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wrong_version_gets_no_times),
        cmocka_unit_test(a_cached_result_does_not_win),
        cmocka_unit_test(a_crash_is_that_version_s_alone),
        cmocka_unit_test(an_error_is_reported_in_its_own_words),
        cmocka_unit_test(times_are_what_a_call_takes),
        cmocka_unit_test(many_pictures_are_timed_and_compared),
        cmocka_unit_test(what_declines_is_skipped_with_its_reason),
        cmocka_unit_test(zero_seconds_only_verify),
        cmocka_unit_test(rows_are_shown_as_they_are_measured),
        cmocka_unit_test(slow_versions_are_timed_once),
        cmocka_unit_test(inputs_and_outputs_of_every_kind_are_timed),
        cmocka_unit_test(json_reads_back),
        cmocka_unit_test(csv_has_a_field_for_each_column),
        cmocka_unit_test(a_file_that_cannot_be_written_leaves_nothing),
        cmocka_unit_test(times_have_three_digits),
        cmocka_unit_test(numbers_have_three_digits),
        cmocka_unit_test(bytes_have_a_fitting_unit),
        cmocka_unit_test(tables_fit_and_say_what_was_measured),
        cmocka_unit_test(overlapping_spreads_are_not_different),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
