#include "common/measure/statistics.h"

#include <math.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double quantile(const double *sorted, size_t count, double fraction)
{
    const double position = fraction * (double)(count - 1);
    const size_t below = (size_t)position;

    if (below + 1 >= count)
        return sorted[count - 1];
    return sorted[below] + (position - (double)below) * (sorted[below + 1] - sorted[below]);
}

struct statistics statistics_of(double *samples, size_t count)
{
    struct statistics statistics = {.count = count};

    if (count == 0)
        return statistics;
    qsort(samples, count, sizeof *samples, ascending);
    statistics.q1 = quantile(samples, count, 0.25);
    statistics.median = quantile(samples, count, 0.5);
    statistics.q3 = quantile(samples, count, 0.75);
    return statistics;
}

bool statistics_stable(const struct statistics *statistics)
{
    const double half_width = 1.57 * (statistics->q3 - statistics->q1) / sqrt((double)statistics->count);

    return statistics->count >= STATISTICS_STABLE_SAMPLES && half_width <= 0.01 * statistics->median;
}

bool statistics_differ(const struct statistics *a, const struct statistics *b)
{
    return a->count > 0 && b->count > 0 && (a->q3 < b->q1 || b->q3 < a->q1);
}

double statistics_spread(const struct statistics *statistics)
{
    return statistics->median > 0 ? (statistics->q3 - statistics->q1) / 2 / statistics->median : 0;
}
