/* statistics.h against answers worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/measure/statistics.h"

#define NEAR(a, b) assert_true((a) - (b) < 1e-12 && (b) - (a) < 1e-12)

static void nothing_measured(void **unused)
{
    const struct statistics none = statistics_of(NULL, 0);
    double one[] = {1};
    const struct statistics some = statistics_of(one, 1);

    (void)unused;
    assert_int_equal(none.count, 0);
    assert_false(statistics_stable(&none));
    assert_false(statistics_differ(&none, &some));
    assert_false(statistics_differ(&some, &none));
    NEAR(statistics_spread(&none), 0);
}

static void one_sample(void **unused)
{
    double samples[] = {7};
    const struct statistics s = statistics_of(samples, 1);

    (void)unused;
    NEAR(s.q1, 7);
    NEAR(s.median, 7);
    NEAR(s.q3, 7);
    assert_false(statistics_stable(&s));
}

/* Type 7: for 1..4, q1 lies at position 0.75, the median at 1.5, q3 at 2.25. */
static void quartiles_interpolate(void **unused)
{
    double samples[] = {4, 1, 3, 2};
    const struct statistics s = statistics_of(samples, 4);

    (void)unused;
    NEAR(s.q1, 1.75);
    NEAR(s.median, 2.5);
    NEAR(s.q3, 3.25);
    NEAR(statistics_spread(&s), 0.3); /* (3.25 - 1.75) / 2 / 2.5 */
    assert_int_equal(s.count, 4);
}

static void an_outlier_does_not_move_the_median(void **unused)
{
    double samples[] = {1, 1e9, 1, 1, 1};
    const struct statistics s = statistics_of(samples, 5);

    (void)unused;
    NEAR(s.median, 1);
    NEAR(s.q3, 1);
}

/* 16 samples: the half-width is 1.57 / 4 of the interquartile range, so 1 % of the median is reached at a range of
 * 2.547 % of it. */
static void stable_is_a_narrow_interval_of_enough_samples(void **unused)
{
    const struct statistics narrow = {.median = 1, .q1 = 0.9873, .q3 = 1.0127, .count = 16};
    const struct statistics wide = {.median = 1, .q1 = 0.9872, .q3 = 1.0128, .count = 16};
    const struct statistics few = {.median = 1, .q1 = 1, .q3 = 1, .count = STATISTICS_STABLE_SAMPLES - 1};

    (void)unused;
    assert_true(statistics_stable(&narrow));
    assert_false(statistics_stable(&wide));
    assert_false(statistics_stable(&few));
}

static void differing_means_apart(void **unused)
{
    const struct statistics low = {.median = 2, .q1 = 1, .q3 = 3, .count = 9};
    const struct statistics touching = {.median = 4, .q1 = 3, .q3 = 5, .count = 9};
    const struct statistics high = {.median = 4, .q1 = 3.1, .q3 = 5, .count = 9};

    (void)unused;
    assert_false(statistics_differ(&low, &touching));
    assert_false(statistics_differ(&touching, &low));
    assert_true(statistics_differ(&low, &high));
    assert_true(statistics_differ(&high, &low));
    assert_false(statistics_differ(&low, &low));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_measured),
        cmocka_unit_test(one_sample),
        cmocka_unit_test(quartiles_interpolate),
        cmocka_unit_test(an_outlier_does_not_move_the_median),
        cmocka_unit_test(stable_is_a_narrow_interval_of_enough_samples),
        cmocka_unit_test(differing_means_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
