/*
 * What somebody measured: an addition of two arrays of 16 million numbers, five calls on one core, then five on all
 * eight, in milliseconds, in the order in which they ran. The times are true. Is the last line?
 */
#include <stdio.h>

enum { CALLS = 5 };

static const double one_core[CALLS] = {88.3, 20.6, 20.5, 20.7, 20.6};
static const double all_cores[CALLS] = {10.4, 5.2, 5.1, 5.1, 5.2};

static double mean(const char *name, const double milliseconds[])
{
    double sum = 0;

    for (int call = 0; call < CALLS; call++) {
        printf("%s, call %d: %5.1f ms\n", name, call + 1, milliseconds[call]);
        sum += milliseconds[call];
    }
    return sum / CALLS;
}

int main(void)
{
    const double one = mean("one core ", one_core), all = mean("all cores", all_cores);

    printf("mean: one core %.1f ms, all cores %.1f ms: %.1f times as fast\n", one, all, one / all);
    return 0;
}
