/* The bounds of correlation from both sides: what rounding explains is right, a little more is not; integers have no
 * bound. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka.h wants the three above first. */
#include <cmocka.h>

#include "common/algo/correlation.h"
#include "common/contract/inputs.h"
#include "common/verify/compare.h"
#include "common/verify/outputs.h"
#include "common/verify/verify.h"

static const struct algorithm *algorithm;

/* The mean square of a band, its spectrum of the middle pixel taken off for center=1: the contract's P. */
static double power(const struct image *in, const struct correlation_params *params, int band)
{
    const float *shift = correlation_shift(in, params);
    const int64_t pixels = (int64_t)in->width * in->height;
    double sum = 0;

    for (int64_t i = 0; i < pixels; i++) {
        const double value =
            (double)((const float *)correlation_pixel(in, i))[band] - (double)(shift ? shift[band] : 0);
        sum += value * value;
    }
    return sum / (double)pixels;
}

static void test(const struct correlation_params *params)
{
    const struct version version = {.algorithm = algorithm};
    struct image in[ALGORITHM_MAX_INPUTS] = {{0}}, expected[ALGORITHM_MAX_OUTPUTS] = {{0}};
    struct image actual[ALGORITHM_MAX_OUTPUTS] = {{0}};
    const struct input_request request = {
        .width = 13, .height = 9, .channels = 5, .pattern = PATTERN_RANDOM, .seed = 3, .params = params};

    assert_int_equal(inputs_make(algorithm, &request, in), STATUS_OK);
    assert_int_equal(verify_reference(algorithm, in, params, expected), STATUS_OK);
    assert_int_equal(outputs_create_like(actual, expected), STATUS_OK);
    for (int u = 0; u < 5; u++)
        for (int v = 0; v < 5; v++) {
            const double right = image_sample(&expected[0], v, u, 0);
            double *entry = (double *)image_row(&actual[0], u) + v;

            outputs_copy(actual, expected);
            assert_true(compare_agrees(&version, in, params, expected, actual, NULL));
            if (params->type != 0) {
                *entry = nextafter(right, INFINITY);
                assert_false(compare_agrees(&version, in, params, expected, actual, NULL));
                continue;
            }
            const double bound = 0x1p-12 * sqrt(power(in, params, u) * power(in, params, v));
            for (int sign = -1; sign <= 1; sign += 2) {
                *entry = right + 0.99 * sign * bound;
                assert_true(compare_agrees(&version, in, params, expected, actual, NULL));
                *entry = right + 1.01 * sign * bound;
                assert_false(compare_agrees(&version, in, params, expected, actual, NULL));
            }
        }
    inputs_free(algorithm, in);
    outputs_free(expected);
    outputs_free(actual);
}

static void bounds_hold_from_both_sides(void **state)
{
    (void)state;
    for (int type = 0; type < 3; type++)
        for (int center = 0; center < 2; center++)
            test(&(struct correlation_params){.center = center, .type = type});
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bounds_hold_from_both_sides)};

    if (registry_open() != STATUS_OK || !(algorithm = registry_find_algorithm("correlation")))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
