/*
 * Times an addition of two arrays on one core and on all, and says how many times as fast all are. The sums are right.
 * Can the last line be believed?
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 1 << 24, CALLS = 5 };

static double time_calls(const char *name, const float *a, const float *b, float *sum, int threads)
{
    const double start = omp_get_wtime();

    for (int call = 0; call < CALLS; call++) {
        const double begin = omp_get_wtime();

#pragma omp parallel for num_threads(threads) schedule(static)
        for (int i = 0; i < COUNT; i++)
            sum[i] = a[i] + b[i];
        printf("%s, call %d: %6.2f ms\n", name, call + 1, 1e3 * (omp_get_wtime() - begin));
    }
    return (omp_get_wtime() - start) / CALLS;
}

int main(void)
{
    float *a = malloc(COUNT * sizeof *a), *b = malloc(COUNT * sizeof *b), *sum = malloc(COUNT * sizeof *sum);

    if (!a || !b || !sum)
        return 1;
    for (int i = 0; i < COUNT; i++) {
        a[i] = (float)i;
        b[i] = 1;
    }
    const double one = time_calls("one core", a, b, sum, 1);
    const double all = time_calls("all cores", a, b, sum, omp_get_max_threads());

    printf("mean: one core %.2f ms, all cores %.2f ms: %.1f times as fast\n", 1e3 * one, 1e3 * all, one / all);
    free(a);
    free(b);
    free(sum);
    return 0;
}
