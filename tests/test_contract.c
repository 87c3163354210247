/*
 * test_contract.c: what a contract can ask for besides one picture of one type: several outputs, tables, matrices,
 * tensors, absent outputs, comparisons by order, sign, share and property, models, state on the CPU, input makers.
 *
 * The algorithms are made here and listed nowhere. Each has one right version and wrong ones, which must fail with a
 * diagnosis in terms of what is compared.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/contract/inputs.h"
#include "common/verify/compare.h"
#include "common/verify/outputs.h"
#include "common/verify/verify.h"

typedef enum status run_function(void *state, const struct image in[], struct image out[], const void *params);

static const struct version_source serial = {
    .path = "test", .algorithm = "test", .id = "cpu/serial", .idea = "", .expect = ""};

static struct verdict verdict;

/* Verifies `run` against `right` on made inputs of one shape. The version stands in for cpu/serial, so that other
 * inputs are compared with its own results from a new state. */
static void verify(struct algorithm *algorithm, run_function *right, run_function *run, struct version more,
                   const void *params, int width, int height)
{
    const struct input_request request = {
        .width = width, .height = height, .channels = 1, .pattern = PATTERN_RANDOM, .seed = 3, .params = params};
    struct image in[ALGORITHM_MAX_INPUTS] = {{0}}, expected[ALGORITHM_MAX_OUTPUTS] = {{0}};
    struct image shapes[ALGORITHM_MAX_OUTPUTS] = {{0}};

    algorithm_count_slots(algorithm);
    more.algorithm = algorithm;
    more.source = &serial;
    more.run = run;
    assert_int_equal(inputs_make(algorithm, &request, in), STATUS_OK);
    assert_int_equal(algorithm->shape(in, params, shapes), STATUS_OK);
    assert_int_equal(outputs_create_like(expected, shapes), STATUS_OK);
    assert_int_equal(right(NULL, in, expected, params), STATUS_OK);
    assert_int_equal(verify_version(&more, in, params, expected, &request, NULL, &verdict), STATUS_OK);
    inputs_free(algorithm, in);
    outputs_free(expected);
}

#define assert_passes() assert_string_equal(verdict.outcome == OUTCOME_PASS ? "" : verdict.what, "")
#define assert_fails(in_what, in_diagnosis)                                                                            \
    do {                                                                                                               \
        assert_int_equal(verdict.outcome, OUTCOME_FAIL);                                                               \
        if (!strstr(verdict.what, in_what) || !strstr(verdict.diagnosis, in_diagnosis))                                \
            print_error("expected \"%s\" and \"%s\", got \"%s\" and \"%s\"\n", in_what, in_diagnosis, verdict.what,    \
                        verdict.diagnosis);                                                                            \
        assert_non_null(strstr(verdict.what, in_what));                                                                \
        assert_non_null(strstr(verdict.diagnosis, in_diagnosis));                                                      \
    } while (0)

static const struct version plain;

/* --------------------------------------------------------------------------------- peaks: a map and a table
 * map = 2 * sample, i32. peaks: one row for each sample above 250: x, y, value, by falling value, then by position;
 * at most 64. With map=0 the map is absent. */

struct peaks_params {
    int map;
};

static const char *const peak_columns[] = {"x", "y", "value", NULL};

static enum status peaks_shape(const struct image in[], const void *params, struct image out[])
{
    const struct peaks_params *p = params;

    if (p->map)
        out[0] = (struct image){.width = in->width, .height = in->height, .channels = 1, .type = PIXEL_I32};
    out[1] = (struct image){.width = 3, .height = 65, .channels = 1, .type = PIXEL_U32};
    return STATUS_OK;
}

static struct algorithm peaks = {
    .name = "peaks",
    .inputs = {{.name = "picture", .kind = SLOT_PICTURE, .type = PIXEL_U8}},
    .outputs = {{.name = "map", .kind = SLOT_PICTURE},
                {.name = "peaks",
                 .kind = SLOT_TABLE,
                 .columns = peak_columns,
                 .comparison = {.up_to_order = true, .key = "value"}}},
    .params_size = sizeof(struct peaks_params),
    .shape = peaks_shape,
};

static uint32_t *cell(const struct image *table, int row, int column)
{
    return (uint32_t *)image_row(table, row) + column;
}

static void fill_map(const struct image in[], struct image out[])
{
    for (int y = 0; out[0].data && y < in->height; y++)
        for (int x = 0; x < in->width; x++)
            ((int32_t *)image_row(&out[0], y))[x] = 2 * ((const uint8_t *)image_row(in, y))[x];
}

/* `up`: rows of equal value from the last position to the first. */
static void fill_peaks(const struct image in[], struct image out[], bool up)
{
    uint32_t count = 0;

    image_fill(&out[1], 0);
    for (int value = 255; value > 250; value--)
        for (int i = 0; i < in->width * in->height && count < 64; i++) {
            const int at = up ? in->width * in->height - 1 - i : i, x = at % in->width, y = at / in->width;

            if (((const uint8_t *)image_row(in, y))[x] != value)
                continue;
            count++;
            *cell(&out[1], (int)count, 0) = (uint32_t)x;
            *cell(&out[1], (int)count, 1) = (uint32_t)y;
            *cell(&out[1], (int)count, 2) = (uint32_t)value;
        }
    *cell(&out[1], 0, 0) = count;
}

static enum status peaks_right(void *state, const struct image in[], struct image out[], const void *params)
{
    (void)state, (void)params;
    fill_map(in, out);
    fill_peaks(in, out, false);
    return STATUS_OK;
}

static enum status peaks_other_order(void *state, const struct image in[], struct image out[], const void *params)
{
    (void)state, (void)params;
    fill_map(in, out);
    fill_peaks(in, out, true);
    return STATUS_OK;
}

static enum status peaks_loses_one(void *state, const struct image in[], struct image out[], const void *params)
{
    peaks_right(state, in, out, params);
    const uint32_t count = --*cell(&out[1], 0, 0);
    memset(image_row(&out[1], (int)count + 1), 0, 12);
    return STATUS_OK;
}

static enum status peaks_moves_one(void *state, const struct image in[], struct image out[], const void *params)
{
    peaks_right(state, in, out, params);
    *cell(&out[1], 2, 0) += 1000;
    return STATUS_OK;
}

static enum status peaks_unordered(void *state, const struct image in[], struct image out[], const void *params)
{
    uint32_t row[3];
    int other = 2;

    peaks_right(state, in, out, params);
    while (*cell(&out[1], other, 2) == *cell(&out[1], 1, 2)) /* another value stands there */
        other++;
    memcpy(row, image_row(&out[1], 1), sizeof row);
    memcpy(image_row(&out[1], 1), image_row(&out[1], other), sizeof row);
    memcpy(image_row(&out[1], other), row, sizeof row);
    return STATUS_OK;
}

static enum status peaks_no_map(void *state, const struct image in[], struct image out[], const void *params)
{
    (void)state, (void)params;
    fill_peaks(in, out, false);
    return STATUS_OK;
}

static void test_two_outputs(void **state)
{
    const struct peaks_params with = {1}, without = {0};

    (void)state;
    verify(&peaks, peaks_right, peaks_right, plain, &with, 61, 37);
    assert_passes();
    assert_int_equal(verdict.samples, 61 * 37 + 65 * 3);
    verify(&peaks, peaks_right, peaks_other_order, plain, &with, 61, 37);
    assert_passes();
    verify(&peaks, peaks_right, peaks_loses_one, plain, &with, 61, 37);
    assert_fails("samples of peaks wrong", "1 row missing, first (x ");
    assert_int_equal(verdict.slot, 1);
    verify(&peaks, peaks_right, peaks_moves_one, plain, &with, 61, 37);
    assert_fails("samples of peaks wrong", "1 row missing, first (x ");
    assert_non_null(strstr(verdict.diagnosis, "; 1 too many, first (x 10"));
    verify(&peaks, peaks_right, peaks_unordered, plain, &with, 61, 37);
    assert_fails("samples of peaks wrong", "in another order");
    verify(&peaks, peaks_right, peaks_no_map, plain, &with, 61, 37);
    assert_fails("samples of map wrong", "never written");
    assert_int_equal(verdict.slot, 0);
    /* An absent output is no memory to write to. */
    verify(&peaks, peaks_right, peaks_no_map, plain, &without, 61, 37);
    assert_passes();
}

/* Under AddressSanitizer this ends the process. */
#if !defined(__SANITIZE_ADDRESS__)
static enum status peaks_past_table(void *state, const struct image in[], struct image out[], const void *params)
{
    peaks_right(state, in, out, params);
    *cell(&out[1], 65, 1) = 7;
    return STATUS_OK;
}

static void test_guards_of_the_second_output(void **state)
{
    const struct peaks_params with = {1};

    (void)state;
    verify(&peaks, peaks_right, peaks_past_table, plain, &with, 61, 37);
    assert_fails("past the last row of the output peaks", "writes below the last row");
}
#endif

/* --------------------------------------------------------------------- axes: a symmetric matrix, f64, and vectors
 * One input, a tensor of rows x 2 f32 (a maker of its own); outputs `matrix`: sums of products, 2 x 2 f64, within a
 * share; `vectors`: two orthogonal columns, each with either sign; `values`: only their sum is asked for, a
 * property. */

static enum status axes_inputs(const struct input_request *request, struct image in[])
{
    uint64_t seed = request->seed;
    enum status status = array_create(&in[0], 2, request->height, 1, PIXEL_F32);

    for (int y = 0; status == STATUS_OK && y < request->height; y++) {
        float *row = image_row(&in[0], y);
        row[0] = (float)(pattern_random(&seed) >> 40) * 0x1p-24f;
        row[1] = 0.5f * row[0] + 0.1f * (float)(pattern_random(&seed) >> 40) * 0x1p-24f;
    }
    return status;
}

static enum status axes_shape(const struct image in[], const void *params, struct image out[])
{
    (void)params;
    if (in->type != PIXEL_F32)
        return status_set(STATUS_BAD_INPUT, "axes takes f32");
    out[0] = (struct image){.width = 2, .height = 2, .channels = 1, .type = PIXEL_F64};
    out[1] = out[0];
    out[2] = (struct image){.width = 1, .height = 2, .channels = 1, .type = PIXEL_F64};
    return STATUS_OK;
}

static double *entry(const struct image *matrix, int row, int column)
{
    return (double *)image_row(matrix, row) + column;
}

/* How far the values' sum is from the sum of all squares, which is the matrix' trace. */
static double trace_error(const struct property_case *item)
{
    double trace = 0;

    for (int y = 0; y < item->in->height; y++)
        for (int x = 0; x < 2; x++)
            trace += pow(image_sample(item->in, x, y, 0), 2);
    return fabs(*entry(&item->actual[2], 0, 0) + *entry(&item->actual[2], 1, 0) - trace);
}

static struct algorithm axes = {
    .name = "axes",
    .inputs = {{.name = "rows", .kind = SLOT_TENSOR, .type = PIXEL_F32}},
    .outputs =
        {{.name = "matrix", .kind = SLOT_MATRIX, .comparison = {.tolerance = 1e-6, .relative = true}},
         {.name = "vectors", .kind = SLOT_MATRIX, .comparison = {.tolerance = 1e-9, .up_to_sign = true}},
         {.name = "values",
          .kind = SLOT_MATRIX,
          .comparison = {.tolerance = 1e-6, .property = trace_error, .property_name = "distance of sum and trace"}}},
    .make_inputs = axes_inputs,
    .shape = axes_shape,
};

static void axes_of(const struct image in[], struct image out[], double scale, double sign, double first_share)
{
    double sums[3] = {0}, angle;

    for (int y = 0; y < in->height; y++) {
        const float *row = image_row(in, y);
        sums[0] += (double)row[0] * row[0];
        sums[1] += (double)row[0] * row[1];
        sums[2] += (double)row[1] * row[1];
    }
    *entry(&out[0], 0, 0) = scale * sums[0];
    *entry(&out[0], 0, 1) = *entry(&out[0], 1, 0) = scale * sums[1];
    *entry(&out[0], 1, 1) = scale * sums[2];
    angle = 0.5 * atan2(2 * sums[1], sums[0] - sums[2]);
    *entry(&out[1], 0, 0) = sign * cos(angle);
    *entry(&out[1], 1, 0) = sign * sin(angle);
    *entry(&out[1], 0, 1) = -sin(angle);
    *entry(&out[1], 1, 1) = cos(angle);
    *entry(&out[2], 0, 0) = first_share * (sums[0] + sums[2]);
    *entry(&out[2], 1, 0) = (1 - first_share) * (sums[0] + sums[2]);
}

static enum status axes_right(void *state, const struct image in[], struct image out[], const void *params)
{
    (void)state, (void)params;
    axes_of(in, out, 1, 1, 0.75);
    return STATUS_OK;
}

/* The other sign, rounded sums, and other values with the same sum. */
static enum status axes_also_right(void *state, const struct image in[], struct image out[], const void *params)
{
    (void)state, (void)params;
    axes_of(in, out, 1 + 5e-7, -1, 0.25);
    return STATUS_OK;
}

static enum status axes_scaled(void *state, const struct image in[], struct image out[], const void *params)
{
    (void)state, (void)params;
    axes_of(in, out, 2, 1, 0.75);
    return STATUS_OK;
}

static enum status axes_turned(void *state, const struct image in[], struct image out[], const void *params)
{
    axes_right(state, in, out, params);
    *entry(&out[1], 0, 1) *= -1; /* one entry alone is no sign of a column */
    return STATUS_OK;
}

static enum status axes_no_diagonal(void *state, const struct image in[], struct image out[], const void *params)
{
    axes_right(state, in, out, params);
    *entry(&out[0], 0, 0) = *entry(&out[0], 1, 1) = 0;
    return STATUS_OK;
}

static enum status axes_wrong_sum(void *state, const struct image in[], struct image out[], const void *params)
{
    axes_right(state, in, out, params);
    *entry(&out[2], 1, 0) += 0.5;
    return STATUS_OK;
}

static enum status axes_nan(void *state, const struct image in[], struct image out[], const void *params)
{
    axes_right(state, in, out, params);
    *entry(&out[2], 1, 0) = NAN;
    return STATUS_OK;
}

static enum status axes_half_written(void *state, const struct image in[], struct image out[], const void *params)
{
    const double kept = *entry(&out[2], 0, 0);

    axes_right(state, in, out, params);
    *entry(&out[2], 0, 0) = kept;
    return STATUS_OK;
}

static void test_matrices(void **state)
{
    (void)state;
    verify(&axes, axes_right, axes_right, plain, NULL, 2, 1000);
    assert_passes();
    verify(&axes, axes_right, axes_also_right, plain, NULL, 2, 1000);
    assert_passes();
    assert_true(verdict.worst > 0);
    verify(&axes, axes_right, axes_scaled, plain, NULL, 2, 1000);
    assert_fails("samples of matrix wrong", "every sample is 2 times what it should be");
    verify(&axes, axes_right, axes_no_diagonal, plain, NULL, 2, 1000);
    assert_fails("samples of matrix wrong", "only the diagonal is wrong");
    verify(&axes, axes_right, axes_turned, plain, NULL, 2, 1000);
    assert_fails("samples of vectors wrong", "wrong");
}

static void test_properties(void **state)
{
    (void)state;
    verify(&axes, axes_right, axes_wrong_sum, plain, NULL, 2, 1000);
    assert_fails("values: distance of sum and trace is 0.5, more than 1e-06", "does not have the property");
    verify(&axes, axes_right, axes_nan, plain, NULL, 2, 1000);
    assert_fails("values: distance of sum and trace is nan", "NaN in values");
    verify(&axes, axes_right, axes_half_written, plain, NULL, 2, 1000);
    assert_fails("1 never written", "never written");
}

/* A table of more rows than a picture may have. */
static void test_long_arrays(void **state)
{
    struct image picture, array;

    (void)state;
    assert_int_equal(image_create(&picture, 2, IMAGE_MAX_SIDE + 1, 1, PIXEL_U8), STATUS_BAD_INPUT);
    assert_int_equal(array_create(&array, 2, 3000000, 1, PIXEL_U8), STATUS_OK);
    ((uint8_t *)image_row(&array, 2999999))[1] = 9;
    assert_true(image_sample(&array, 1, 2999999, 0) == 9);
    image_free(&array);
    assert_int_equal(array_create(&array, 0, 1, 1, PIXEL_F64), STATUS_BAD_INPUT);
    assert_int_equal(array_create(&array, ARRAY_MAX_SIDE, 1, 2, PIXEL_U8), STATUS_BAD_INPUT);
    assert_int_equal(array_create(&array, 1 << 20, 1 << 20, 1, PIXEL_F64), STATUS_BAD_INPUT);
    verify(&axes, axes_right, axes_right, plain, NULL, 2, 70000);
    assert_passes();
}

/* ------------------------------------------------------------------------------- running: state on the CPU
 * out = in + 1. A version may keep buffers in its state, but nothing of an earlier call's values. */

static enum status plus_shape(const struct image in[], const void *params, struct image out[])
{
    (void)params;
    out[0] = in[0];
    out[0].data = NULL;
    return STATUS_OK;
}

static struct algorithm plus = {.name = "plus",
                                .inputs = {{.name = "in", .kind = SLOT_PICTURE, .type = PIXEL_U8}},
                                .outputs = {{.name = "out", .kind = SLOT_PICTURE}},
                                .shape = plus_shape};

struct kept {
    uint8_t *row;
    int calls;
};

static int teardowns;

static void free_kept(void *state)
{
    free(((struct kept *)state)->row);
    teardowns++;
}

static void plus_row(const struct image in[], struct image out[], int y, int by)
{
    for (int x = 0; x < in->width; x++)
        ((uint8_t *)image_row(out, y))[x] = (uint8_t)(((const uint8_t *)image_row(in, y))[x] + by);
}

static enum status plus_right(void *state, const struct image in[], struct image out[], const void *params)
{
    (void)state, (void)params;
    for (int y = 0; y < in->height; y++)
        plus_row(in, out, y, 1);
    return STATUS_OK;
}

/* Keeps memory and uses it well. */
static enum status plus_kept(void *state, const struct image in[], struct image out[], const void *params)
{
    struct kept *kept = state;

    if (!kept->row)
        kept->row = malloc((size_t)in->width);
    for (int y = 0; kept->row && y < in->height; y++) {
        memcpy(kept->row, image_row(in, y), (size_t)in->width);
        for (int x = 0; x < in->width; x++)
            ((uint8_t *)image_row(out, y))[x] = (uint8_t)(kept->row[x] + 1);
    }
    return plus_right(state, in, out, params);
}

/* Looks at the first row that it ever saw. */
static enum status plus_leaks(void *state, const struct image in[], struct image out[], const void *params)
{
    struct kept *kept = state;

    plus_right(state, in, out, params);
    if (!kept->row && (kept->row = malloc((size_t)in->width)))
        memcpy(kept->row, image_row(out, 0), (size_t)in->width);
    memcpy(image_row(out, 0), kept->row, (size_t)in->width);
    return STATUS_OK;
}

/* Counts its calls, and is wrong from the second on. */
static enum status plus_counts(void *state, const struct image in[], struct image out[], const void *params)
{
    const int calls = ((struct kept *)state)->calls++;

    (void)params;
    for (int y = 0; y < in->height; y++)
        plus_row(in, out, y, 1 + calls);
    return STATUS_OK;
}

static void test_state(void **state)
{
    const struct version with = {.state_size = sizeof(struct kept), .teardown = free_kept};

    (void)state;
    teardowns = 0;
    verify(&plus, plus_right, plus_kept, with, NULL, 40, 30);
    assert_passes();
    assert_true(teardowns > 0);
    verify(&plus, plus_right, plus_leaks, with, NULL, 40, 30);
    assert_fails("right for one input, wrong for the next one", "something of an earlier call is kept");
    verify(&plus, plus_right, plus_counts, with, NULL, 40, 30);
    assert_fails("samples wrong", "first call and later calls with the same state differ");
}

/* The peaks of the first call, the map of each, on a picture that is too large to compare every further result in
 * full. */
static enum status peaks_stale(void *state, const struct image in[], struct image out[], const void *params)
{
    uint32_t *kept = *(uint32_t **)state;

    peaks_right(NULL, in, out, params);
    if (!kept && (kept = *(uint32_t **)state = calloc(65, 12)))
        for (int y = 0; y < 65; y++)
            memcpy(kept + 3 * (size_t)y, image_row(&out[1], y), 12);
    for (int y = 0; kept && y < 65; y++)
        memcpy(image_row(&out[1], y), kept + 3 * (size_t)y, 12);
    return STATUS_OK;
}

static void free_peaks(void *state)
{
    free(*(void **)state);
}

static void test_stale_second_output(void **state)
{
    const struct version with = {.state_size = sizeof(void *), .teardown = free_peaks};
    const struct peaks_params map = {1};

    (void)state;
    verify(&peaks, peaks_right, peaks_stale, with, &map, 300, 200);
    assert_fails("right for one input, wrong for the next one", "something of an earlier call is kept");
}

static int radius_3(const void *params)
{
    (void)params;
    return 3;
}

/* An absent output is no reason to pass over the others of a peer whose borders do not count. */
static void test_interior_beside_an_absent_output(void **state)
{
    const struct version interior = {.compare_interior = true};
    const struct peaks_params without = {0};

    (void)state;
    peaks.radius = radius_3;
    verify(&peaks, peaks_right, peaks_right, interior, &without, 61, 37);
    assert_int_equal(verdict.outcome, OUTCOME_PASS);
    verify(&peaks, peaks_right, peaks_loses_one, interior, &without, 61, 37);
    assert_fails("samples of peaks wrong", "1 row missing");
    peaks.radius = NULL;
}

/* ---------------------------------------------------------------------------------------------- comparisons alone */

static void test_canonical_tables(void **state)
{
    struct image table[ALGORITHM_MAX_OUTPUTS] = {{0}};
    static const uint32_t rows[][3] = {{5, 0, 0}, {9, 1, 7}, {2, 1, 7}, {4, 4, 3}, {1, 9, 3}, {3, 0, 3}};
    static const uint32_t sorted[][3] = {{5, 0, 0}, {2, 1, 7}, {9, 1, 7}, {1, 9, 3}, {3, 0, 3}, {4, 4, 3}};

    (void)state;
    algorithm_count_slots(&peaks);
    assert_int_equal(array_create(&table[1], 3, 6, 1, PIXEL_U32), STATUS_OK);
    for (int y = 0; y < 6; y++)
        memcpy(image_row(&table[1], y), rows[y], sizeof rows[y]);
    assert_int_equal(compare_canonical_expected(&peaks, table), STATUS_OK);
    for (int y = 0; y < 6; y++)
        assert_memory_equal(image_row(&table[1], y), sorted[y], sizeof sorted[y]);
    /* A count beyond the table, or none, is not followed. */
    *cell(&table[1], 0, 0) = 4000000000u;
    assert_int_equal(slot_table_rows(&table[1]), 5);
    *cell(&table[1], 0, 0) = 0;
    assert_int_equal(slot_table_rows(&table[1]), 0);
    outputs_free(table);
}

/* A tolerance that the large numbers of one column need says nothing of another column, nor of the number of rows. */
static void test_tolerance_of_tables(void **state)
{
    static const char *const columns[] = {"area", "score", NULL};
    struct algorithm scored = {.outputs = {{.name = "found",
                                            .kind = SLOT_TABLE,
                                            .columns = columns,
                                            .comparison = {.tolerance = 1e-3, .relative = true}}},
                               .output_count = 1};
    const struct version version = {.algorithm = &scored};
    struct image expected[ALGORITHM_MAX_OUTPUTS] = {{0}}, actual[ALGORITHM_MAX_OUTPUTS] = {{0}};
    static const double right[][2] = {{2, 0}, {9000, 0.5}, {100, 0.25}, {0, 0}};
    static const struct {
        int x, y;
        double value;
        size_t wrong;
    } cases[] = {{0, 1, 9005, 0}, {0, 2, 105, 0}, {0, 1, 9010, 1}, {1, 1, 0.5004, 0}, {1, 2, 0.5, 1}, {0, 0, 3, 1}};

    (void)state;
    assert_int_equal(array_create(&expected[0], 2, 4, 1, PIXEL_F64), STATUS_OK);
    assert_int_equal(array_create(&actual[0], 2, 4, 1, PIXEL_F64), STATUS_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct slot_difference difference;

        for (int y = 0; y < 4; y++) {
            memcpy(image_row(&expected[0], y), right[y], sizeof right[y]);
            memcpy(image_row(&actual[0], y), right[y], sizeof right[y]);
        }
        image_set_sample(&actual[0], cases[i].x, cases[i].y, 0, cases[i].value);
        compare_slot(&version, 0, NULL, NULL, expected, actual, NULL, &difference);
        assert_int_equal(difference.wrong, cases[i].wrong);
    }
    scored.outputs[0].comparison.relative = false;
    scored.outputs[0].comparison.tolerance = 2;
    struct slot_difference difference;
    compare_slot(&version, 0, NULL, NULL, expected, actual, NULL, &difference);
    assert_int_equal(difference.wrong, 1);
    outputs_free(expected);
    outputs_free(actual);
}

/* ------------------------------------------------------------------------------------------------------- models */

static int loads;

/* A file of one byte that says how many bytes follow. */
static enum status load_counted(const char *path, void **data, size_t *size)
{
    FILE *file = fopen(path, "rb");
    unsigned char bytes[256];
    size_t got;

    if (!file)
        return status_set(STATUS_BAD_INPUT, "%s: cannot be opened", path);
    got = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    loads++;
    if (got < 1 || bytes[0] != got - 1)
        return status_set(STATUS_BAD_INPUT, "%s: damaged: %zu bytes", path, got);
    *size = got - 1;
    *data = malloc(*size + 1);
    memcpy(*data, bytes + 1, *size);
    return STATUS_OK;
}

struct coded_params {
    struct model model;
    int twice;
};

static enum status coded_finish(void *params)
{
    struct coded_params *p = params;

    p->twice = (int)(2 * p->model.size);
    return STATUS_OK;
}

static const struct parameter coded_parameters[] = {{.name = "model",
                                                     .kind = PARAMETER_MODEL,
                                                     .offset = offsetof(struct coded_params, model),
                                                     .load = load_counted,
                                                     .help = "a file"},
                                                    {0}};
static struct algorithm coded = {.name = "coded",
                                 .params_size = sizeof(struct coded_params),
                                 .parameters = coded_parameters,
                                 .finish = coded_finish};

static void write_file(const char *path, const char *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static void test_models(void **state)
{
    char path[] = "/tmp/rungs_model_XXXXXX", setting[64];
    const int file = mkstemp(path);
    struct coded_params params, again;

    (void)state;
    assert_true(file >= 0);
    close(file);
    snprintf(setting, sizeof setting, "model=%s", path);
    write_file(path, "\3abc", 4);
    loads = 0;
    assert_int_equal(params_parse_text(&coded, setting, &params), STATUS_OK);
    assert_int_equal(params.twice, 6);
    assert_memory_equal(params.model.data, "abc", 3);
    assert_int_equal((uintptr_t)params.model.data % 64, 0);
    /* The same file is read once, and all parameter sets share its content. */
    assert_int_equal(params_parse_text(&coded, setting, &again), STATUS_OK);
    assert_ptr_equal(params.model.data, again.model.data);
    assert_int_equal(loads, 1);
    /* Another content is read anew. */
    write_file(path, "\5abcde", 6);
    assert_int_equal(params_parse_text(&coded, setting, &again), STATUS_OK);
    assert_int_equal(again.model.size, 5);
    assert_int_equal(loads, 2);
    /* Damaged, and missing. */
    write_file(path, "\7abc", 4);
    assert_int_equal(params_parse_text(&coded, setting, &again), STATUS_BAD_INPUT);
    assert_non_null(strstr(status_message(), "damaged"));
    unlink(path);
    assert_int_equal(params_parse_text(&coded, setting, &again), STATUS_BAD_INPUT);
    assert_non_null(strstr(status_message(), path));
    assert_int_equal(params_parse_text(&coded, "", &params), STATUS_OK);
    assert_null(params.model.data);
    model_close_all();
}

/* --------------------------------------------------------------------------------------------------- input makers */

static void test_inputs(void **state)
{
    struct image in[ALGORITHM_MAX_INPUTS], photograph;
    struct input_request request = {.width = 8, .height = 4, .channels = 1, .pattern = PATTERN_RANDOM, .seed = 5};
    struct algorithm two = {.inputs = {{.name = "a", .type = PIXEL_U8}, {.name = "b", .type = PIXEL_F64}}};

    (void)state;
    algorithm_count_slots(&two);
    assert_int_equal(image_create(&photograph, 8, 4, 1, PIXEL_U8), STATUS_OK);
    image_fill(&photograph, 77);
    request.photograph = &photograph;
    assert_int_equal(inputs_make(&two, &request, in), STATUS_OK);
    assert_true(image_sample(&in[0], 3, 3, 0) == 77);
    assert_int_equal(in[1].type, PIXEL_F64);
    assert_true(image_sample(&in[1], 3, 3, 0) > 0 && image_sample(&in[1], 3, 3, 0) <= 1);
    inputs_free(&two, in);
    request.width = 0;
    request.photograph = NULL;
    assert_int_equal(inputs_make(&two, &request, in), STATUS_BAD_INPUT);
    assert_null(in[0].data);
    image_free(&photograph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_outputs),
#if !defined(__SANITIZE_ADDRESS__)
        cmocka_unit_test(test_guards_of_the_second_output),
#endif
        cmocka_unit_test(test_matrices),
        cmocka_unit_test(test_properties),
        cmocka_unit_test(test_long_arrays),
        cmocka_unit_test(test_state),
        cmocka_unit_test(test_stale_second_output),
        cmocka_unit_test(test_interior_beside_an_absent_output),
        cmocka_unit_test(test_canonical_tables),
        cmocka_unit_test(test_tolerance_of_tables),
        cmocka_unit_test(test_models),
        cmocka_unit_test(test_inputs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
