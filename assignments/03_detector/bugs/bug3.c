/*
 * What somebody measured: a pipeline of three steps before and after two of them were made faster, in milliseconds for
 * a frame. The times are true. Is the last line?
 */
#include <stdio.h>

enum { STEPS = 3 };

static const char *const names[STEPS] = {"difference", "threshold", "morphology"};
static const double before[STEPS] = {21.0, 20.8, 209.0}, after[STEPS] = {1.1, 1.2, 208.8};

int main(void)
{
    double speedups = 0;

    for (int step = 0; step < STEPS; step++) {
        printf("%-11s before %6.1f ms, after %6.1f ms: %5.1f times as fast\n", names[step], before[step], after[step],
               before[step] / after[step]);
        speedups += before[step] / after[step];
    }
    printf("the pipeline is %.1f times as fast\n", speedups / STEPS);
    return 0;
}
