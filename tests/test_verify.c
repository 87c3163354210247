/*
 * test_verify.c: verify_version() on small algorithms made here: what the mutants of blur (u8, exact) cannot show, such
 * as NaN, tolerances, peers with other borders, versions that decline, two inputs and wider types.
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

#include "common/image/pattern.h"
#include "common/verify/diagnose.h"
#include "common/verify/verify.h"

#if defined(__SANITIZE_ADDRESS__)
#define UNDER_ADDRESS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define UNDER_ADDRESS_SANITIZER
#endif
#endif

/* ------------------------------------------------------------------------------------------------- algorithms
 * average: f32, out = (a + b) / 2 of two inputs.   negate: i32, out = -in. Neither has parameters. */

static enum status average_shape(const struct image in[], const void *params, struct image *out)
{
    (void)params;
    if (!image_same_shape(&in[0], &in[1]))
        return status_set(STATUS_BAD_INPUT, "average: two shapes");
    *out = in[0];
    out->data = NULL;
    return STATUS_OK;
}

static enum status negate_shape(const struct image in[], const void *params, struct image *out)
{
    (void)params;
    *out = in[0];
    out->data = NULL;
    return STATUS_OK;
}

static int radius_2(const void *params)
{
    (void)params;
    return 2;
}

static struct algorithm average = {.name = "average",
                                   .inputs = {{.name = "a", .type = PIXEL_F32}, {.name = "b", .type = PIXEL_F32}},
                                   .outputs = {{.name = "out"}},
                                   .input_count = 2,
                                   .output_count = 1,
                                   .shape = average_shape,
                                   .radius = radius_2};
static struct algorithm negate = {.name = "negate",
                                  .inputs = {{.name = "in", .type = PIXEL_I32}},
                                  .outputs = {{.name = "out"}},
                                  .input_count = 1,
                                  .output_count = 1,
                                  .shape = negate_shape};

/* The id of a reference, so that the verification takes these very versions as their own reference. */
static const struct version_source serial = {
    .path = "test", .algorithm = "test", .id = "cpu/serial", .idea = "", .expect = ""};

static float averaged(const struct image in[], int x, int y)
{
    return (((const float *)image_row(&in[0], y))[x] + ((const float *)image_row(&in[1], y))[x]) / 2;
}

static float *at(const struct image *image, int x, int y)
{
    return (float *)image_row(image, y) + x;
}

static void average_all(const struct image in[], struct image *out)
{
    for (int y = 0; y < out->height; y++)
        for (int x = 0; x < out->width; x++)
            *at(out, x, y) = averaged(in, x, y);
}

/* ----------------------------------------------------------------------------------------------- the harness of it */

enum { WIDTH = 37, HEIGHT = 21 };

typedef enum status run_function(void *state, const struct image in[], struct image *out, const void *params);

static struct verdict verdict;

/* Verifies a version against the right answer. */
static void verify(struct version *version, const char *picture)
{
    const struct algorithm *algorithm = version->algorithm;
    struct image in[2] = {{0}}, expected = {0};

    version->source = &serial;
    for (int i = 0; i < algorithm->input_count; i++) {
        assert_int_equal(image_create(&in[i], WIDTH, HEIGHT, 1, algorithm->inputs[i].type), STATUS_OK);
        pattern_fill(&in[i], PATTERN_RANDOM, (uint64_t)i);
    }
    assert_int_equal(image_create_like(&expected, &in[0]), STATUS_OK);
    if (algorithm == &average)
        average_all(in, &expected);
    else
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++)
                ((int32_t *)image_row(&expected, y))[x] = -((int32_t *)image_row(&in[0], y))[x];

    assert_int_equal(verify_version(version, in, NULL, &expected, NULL, picture, &verdict), STATUS_OK);
    image_free(&in[0]);
    image_free(&in[1]);
    image_free(&expected);
}

static void verify_run(const struct algorithm *algorithm, run_function *run)
{
    struct version version = {.algorithm = algorithm, .run = run};

    verify(&version, NULL);
}

#define assert_fails(words)                                                                                            \
    do {                                                                                                               \
        assert_int_equal(verdict.outcome, OUTCOME_FAIL);                                                               \
        if (!strstr(verdict.diagnosis, words))                                                                         \
            print_error("expected \"%s\", got \"%s\": %s\n", words, verdict.diagnosis, verdict.what);                  \
        assert_non_null(strstr(verdict.diagnosis, words));                                                             \
    } while (0)

/* ------------------------------------------------------------------------------------------------------- right */

static enum status run_right(void *state, const struct image in[], struct image *out, const void *params)
{
    (void)state, (void)params;
    average_all(in, out);
    return STATUS_OK;
}

static enum status run_negate(void *state, const struct image in[], struct image *out, const void *params)
{
    (void)state, (void)params;
    for (int y = 0; y < out->height; y++)
        for (int x = 0; x < out->width; x++)
            ((int32_t *)image_row(out, y))[x] = -((const int32_t *)image_row(&in[0], y))[x];
    return STATUS_OK;
}

static void test_right_versions_pass(void **state)
{
    (void)state;
    verify_run(&average, run_right);
    assert_int_equal(verdict.outcome, OUTCOME_PASS);
    assert_int_equal(verdict.wrong, 0);
    assert_int_equal(verdict.samples, WIDTH * HEIGHT);
    assert_true(verdict.worst == 0);
    verify_run(&negate, run_negate);
    assert_int_equal(verdict.outcome, OUTCOME_PASS);
}

/* ---------------------------------------------------------------------------------------------- NaN and tolerance */

static enum status run_nan(void *state, const struct image in[], struct image *out, const void *params)
{
    (void)state, (void)params;
    average_all(in, out);
    *at(out, 20, 10) = NAN;
    return STATUS_OK;
}

static void test_nan_never_passes(void **state)
{
    struct version version = {.algorithm = &average, .run = run_nan, .tolerance = 1e30};

    (void)state;
    verify_run(&average, run_nan);
    assert_fails("NaN in 1 of 777 samples");
    assert_int_equal(verdict.wrong, 1);
    assert_int_equal(verdict.worst_x, 20);
    assert_int_equal(verdict.worst_y, 10);
    assert_non_null(strstr(verdict.what, "1 of 777 samples wrong"));
    /* However large the tolerance. */
    verify(&version, NULL);
    assert_fails("NaN");
}

static enum status run_nearly(void *state, const struct image in[], struct image *out, const void *params)
{
    (void)state, (void)params;
    average_all(in, out);
    for (int y = 0; y < out->height; y++)
        for (int x = 0; x < out->width; x++)
            *at(out, x, y) += (x + y) % 2 ? 0.01f : -0.01f;
    return STATUS_OK;
}

/* The order of a parallel sum may change a result from call to call, within the tolerance. */
static enum status run_unsteady(void *state, const struct image in[], struct image *out, const void *params)
{
    static int calls;

    (void)state, (void)params;
    average_all(in, out);
    *at(out, 3, 3) += ++calls % 2 ? 0.01f : 0;
    return STATUS_OK;
}

static void test_tolerance(void **state)
{
    struct version nearly = {.algorithm = &average, .run = run_nearly, .tolerance = 0.02};
    struct version unsteady = {.algorithm = &average, .run = run_unsteady, .tolerance = 0.02};

    (void)state;
    verify(&nearly, NULL);
    assert_int_equal(verdict.outcome, OUTCOME_PASS);
    assert_true(verdict.worst > 0.009 && verdict.worst < 0.011);
    verify(&unsteady, NULL);
    assert_int_equal(verdict.outcome, OUTCOME_PASS);

    nearly.tolerance = 0.005;
    verify(&nearly, NULL);
    assert_int_equal(verdict.outcome, OUTCOME_FAIL);
    assert_int_equal(verdict.wrong, WIDTH * HEIGHT);
    unsteady.tolerance = 0;
    verify(&unsteady, NULL);
    assert_int_equal(verdict.outcome, OUTCOME_FAIL);
    assert_fails("first call and later calls");

    /* The larger one of the version's and the algorithm's counts. */
    average.outputs[0].comparison.tolerance = 0.02;
    verify_run(&average, run_nearly);
    average.outputs[0].comparison.tolerance = 0;
    assert_int_equal(verdict.outcome, OUTCOME_PASS);
}

/* ------------------------------------------------------------------------------------------------------ interior */

static enum status run_other_border(void *state, const struct image in[], struct image *out, const void *params)
{
    (void)state, (void)params;
    average_all(in, out);
    for (int y = 0; y < out->height; y++)
        for (int x = 0; x < out->width; x++)
            if (x < 2 || y < 2 || x >= out->width - 2 || y >= out->height - 2)
                *at(out, x, y) = -1;
    return STATUS_OK;
}

static enum status run_wrong_inside(void *state, const struct image in[], struct image *out, const void *params)
{
    run_other_border(state, in, out, params);
    *at(out, 2, 2) = -1;
    return STATUS_OK;
}

/* Writes the interior only. */
static enum status run_interior(void *state, const struct image in[], struct image *out, const void *params)
{
    (void)state, (void)params;
    for (int y = 2; y < out->height - 2; y++)
        for (int x = 2; x < out->width - 2; x++)
            *at(out, x, y) = averaged(in, x, y);
    return STATUS_OK;
}

static void test_interior_only(void **state)
{
    struct version peer = {.algorithm = &average, .run = run_other_border, .compare_interior = true};
    struct image in[2] = {{0}}, expected = {0};

    (void)state;
    verify(&peer, NULL);
    assert_int_equal(verdict.outcome, OUTCOME_PASS);
    assert_int_equal(verdict.samples, (WIDTH - 4) * (HEIGHT - 4));
    peer.run = run_interior;
    verify(&peer, NULL);
    assert_int_equal(verdict.outcome, OUTCOME_PASS);
    peer.run = run_wrong_inside;
    verify(&peer, NULL);
    assert_int_equal(verdict.outcome, OUTCOME_FAIL);
    assert_int_equal(verdict.wrong, 1);
    peer.compare_interior = false;
    peer.run = run_other_border;
    verify(&peer, NULL);
    assert_fails("only within 2 pixels of the image's border");

    /* An image that is all border proves nothing: no PASS. */
    peer.compare_interior = true;
    for (int i = 0; i < 2; i++)
        assert_int_equal(image_create(&in[i], 4, 30, 1, PIXEL_F32), STATUS_OK);
    assert_int_equal(image_create_like(&expected, &in[0]), STATUS_OK);
    for (int i = 0; i < 2; i++)
        image_fill(&in[i], 0);
    image_fill(&expected, 0);
    assert_int_equal(verify_version(&peer, in, NULL, &expected, NULL, NULL, &verdict), STATUS_OK);
    assert_int_equal(verdict.outcome, OUTCOME_SKIP);
    image_free(&in[0]);
    image_free(&in[1]);
    image_free(&expected);
}

/* ----------------------------------------------------------------------------------------------- declining, failing */

static const char *unavailable(void)
{
    return "no such unit in this processor";
}

static const char *declines(const struct image in[], const void *params)
{
    (void)params;
    return in->width > 8 ? "too wide for me" : NULL;
}

static enum status run_unsupported(void *state, const struct image in[], struct image *out, const void *params)
{
    (void)state, (void)in, (void)out, (void)params;
    return status_set(STATUS_UNSUPPORTED, "not on this device");
}

static enum status run_failing(void *state, const struct image in[], struct image *out, const void *params)
{
    (void)state, (void)in, (void)out, (void)params;
    return status_set(STATUS_FAILED, "ran out of patience");
}

/* As a version does that asks for memory by a number that it has read from beside a row. */
static enum status run_failing_by_stride(void *state, const struct image in[], struct image *out, const void *params)
{
    const size_t bytes = image_row_bytes(in);

    if (in->stride > image_minimal_stride(in))
        return status_set(STATUS_NO_MEMORY, "no memory for %zu bytes", bytes << 40);
    return run_right(state, in, out, params);
}

static void test_skip_is_not_pass(void **state)
{
    struct version version = {.algorithm = &average, .run = run_right, .unavailable = unavailable};

    (void)state;
    verify(&version, NULL);
    assert_int_equal(verdict.outcome, OUTCOME_SKIP);
    assert_string_equal(verdict.what, "no such unit in this processor");
    version.unavailable = NULL;
    version.declines = declines;
    verify(&version, NULL);
    assert_int_equal(verdict.outcome, OUTCOME_SKIP);
    assert_string_equal(verdict.what, "too wide for me");
    verify_run(&average, run_unsupported);
    assert_fails("declines()");
    assert_non_null(strstr(verdict.what, "not on this device"));
    verify_run(&average, run_failing);
    assert_fails("the version itself reports");
    assert_non_null(strstr(verdict.what, "ran out of patience"));
    verify_run(&average, run_failing_by_stride);
    assert_fails("depends on how far apart the rows lie");
    assert_non_null(strstr(verdict.what, "returned a failure: no memory"));
}

/* ------------------------------------------------------------------------------------------ inputs and surroundings */

static enum status run_second_input_modified(void *state, const struct image in[], struct image *out,
                                             const void *params)
{
    run_right(state, in, out, params);
    *at(&in[1], 36, 20) += 1;
    return STATUS_OK;
}

static enum status run_ignores_second(void *state, const struct image in[], struct image *out, const void *params)
{
    const struct image twice[2] = {in[0], in[0]};

    return run_right(state, twice, out, params);
}

static void test_second_input(void **state)
{
    (void)state;
    verify_run(&average, run_second_input_modified);
    assert_fails("input modified");
    assert_non_null(strstr(verdict.what, "(36,20)"));
    verify_run(&average, run_ignores_second);
    assert_int_equal(verdict.outcome, OUTCOME_FAIL);
}

/* Under AddressSanitizer these three end the process; tests/mutants covers that. */
#ifndef UNDER_ADDRESS_SANITIZER
static enum status run_past_row(void *state, const struct image in[], struct image *out, const void *params)
{
    run_negate(state, in, out, params);
    ((int32_t *)image_row(out, 4))[WIDTH + 1] = 5;
    return STATUS_OK;
}

static enum status run_past_image(void *state, const struct image in[], struct image *out, const void *params)
{
    run_negate(state, in, out, params);
    ((int32_t *)image_row(out, HEIGHT))[2] = 5;
    return STATUS_OK;
}

static enum status run_before_image(void *state, const struct image in[], struct image *out, const void *params)
{
    run_negate(state, in, out, params);
    ((int32_t *)image_row(out, 0))[-1] = 5;
    return STATUS_OK;
}

static enum status run_input_padding(void *state, const struct image in[], struct image *out, const void *params)
{
    run_negate(state, in, out, params);
    ((int32_t *)image_row(&in[0], 7))[WIDTH] = 5;
    return STATUS_OK;
}

static void test_overruns(void **state)
{
    (void)state;
    verify_run(&negate, run_past_row);
    assert_fails("overrun: writes right of the last column");
    assert_non_null(strstr(verdict.what, "wrote 8 bytes past the end of row 4 of the output (1 such row)"));
    verify_run(&negate, run_past_image);
    assert_fails("overrun: writes below the last row, 1 row too many");
    assert_non_null(strstr(verdict.what, "wrote 12 bytes past the last row of the output"));
    verify_run(&negate, run_before_image);
    assert_fails("overrun: writes left of the first column");
    verify_run(&negate, run_input_padding);
    assert_fails("overrun");
    assert_non_null(strstr(verdict.what, "row 7 of the input"));
}
#endif

/* ---------------------------------------------------------------------------------------------------- the state */

struct counter {
    int calls;
    float *kept;
};
static int teardowns;

static enum status run_counting(void *state, const struct image in[], struct image *out, const void *params)
{
    struct counter *counter = state;

    if (counter->calls == 0 && counter->kept)
        return status_set(STATUS_FAILED, "the state was not zeroed");
    if (!counter->kept)
        counter->kept = malloc(sizeof *counter->kept);
    counter->calls++;
    return run_right(state, in, out, params);
}

/* Wrong from the second call on. */
static enum status run_wearing_out(void *state, const struct image in[], struct image *out, const void *params)
{
    run_counting(state, in, out, params);
    if (((struct counter *)state)->calls > 1)
        *at(out, 1, 1) = -3;
    return STATUS_OK;
}

static void tear_down(void *state)
{
    free(((struct counter *)state)->kept);
    memset(state, 0, sizeof(struct counter));
    teardowns++;
}

static void test_state(void **state)
{
    struct version version = {
        .algorithm = &average, .run = run_counting, .state_size = sizeof(struct counter), .teardown = tear_down};

    (void)state;
    verify(&version, NULL);
    assert_int_equal(verdict.outcome, OUTCOME_PASS);
    assert_true(teardowns >= 1);
    version.run = run_wearing_out;
    verify(&version, NULL);
    assert_fails("first call and later calls with the same state differ");
}

/* ------------------------------------------------------------------------------------------------- the picture */

static void test_picture(void **state)
{
    char folder[] = "/tmp/rungs-test-verify-XXXXXX", path[64];
    struct version version = {.algorithm = &average, .run = run_nan};

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/difference.png", folder);
    verify(&version, path);
    assert_true(verdict.pictured);
    assert_int_equal(access(path, R_OK), 0);
    unlink(path);

    version.run = run_right;
    verify(&version, path);
    assert_false(verdict.pictured);
    assert_int_not_equal(access(path, R_OK), 0);

    /* A picture that cannot be written does not hide the verdict. */
    version.run = run_nan;
    verify(&version, "/nonexistent/difference.png");
    assert_fails("NaN");
    assert_false(verdict.pictured);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right_versions_pass),
        cmocka_unit_test(test_nan_never_passes),
        cmocka_unit_test(test_tolerance),
        cmocka_unit_test(test_interior_only),
        cmocka_unit_test(test_skip_is_not_pass),
        cmocka_unit_test(test_second_input),
#ifndef UNDER_ADDRESS_SANITIZER
        cmocka_unit_test(test_overruns),
#endif
        cmocka_unit_test(test_state),
        cmocka_unit_test(test_picture),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
