/*
 * A pipeline of three steps before and after somebody made two of them faster. Every step is timed, five times, and the
 * least time counts. The sums are right. Can the last line be believed?
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 1 << 20, STEPS = 3, CALLS = 5 };

static unsigned char picture[COUNT], result[COUNT];

static void add(int from)
{
    for (int i = 0; i < COUNT; i++)
        result[i] = (unsigned char)(picture[i] + from);
}

/* Adds over and over, `times` times: a step of that weight. */
static double time_step(int times)
{
    double best = 1e9;

    for (int call = 0; call < CALLS; call++) {
        const double start = omp_get_wtime();

        for (int i = 0; i < times; i++)
            add(i);
        best = omp_get_wtime() - start < best ? omp_get_wtime() - start : best;
    }
    return best;
}

int main(void)
{
    static const char *const names[STEPS] = {"difference", "threshold", "morphology"};
    static const int before[STEPS] = {200, 200, 2000}, after[STEPS] = {10, 10, 2000};
    double speedups = 0;

    for (int step = 0; step < STEPS; step++) {
        const double old_seconds = time_step(before[step]), new_seconds = time_step(after[step]);

        printf("%-11s before %7.2f ms, after %7.2f ms: %5.1f times as fast\n", names[step], 1e3 * old_seconds,
               1e3 * new_seconds, old_seconds / new_seconds);
        speedups += old_seconds / new_seconds;
    }
    printf("the pipeline is %.1f times as fast\n", speedups / STEPS);
    return result[COUNT / 2] == 255;
}
