/*
 * The thresholds of a sequential classifier, by the ratio test of Wald as Sochman and Matas use it: after each stage
 * the windows below a threshold are rejected, the highest below which, in all stages together, objects are at most
 * alpha times as frequent as others. Objects and others are drawn by lot here, always the same: a stage adds 0.25 to
 * the response of an object on average and takes as much from that of anything else, with a deviation of 1.
 *
 * usage: bug3 [ALPHA...]
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { SAMPLES = 20000, STAGES = 60 };

struct sample {
    double response;
    int object, left; /* left: no stage has rejected it */
};

static uint64_t random_state;

/* Sum of twelve numbers of 0 to 1: a deviation of 1 about 0. */
static double draw(void)
{
    double sum = -6;

    for (int i = 0; i < 12; i++) {
        random_state = random_state * 6364136223846793005u + 1442695040888963407u;
        sum += (double)(random_state >> 11) / 9007199254740992.0;
    }
    return sum;
}

/* Those that are left first, the least response first. */
static int compare(const void *a, const void *b)
{
    const struct sample *left = a, *right = b;

    if (left->left != right->left)
        return right->left - left->left;
    return (left->response > right->response) - (left->response < right->response);
}

/* Rejects what the test allows; gone[1] and gone[0] count objects and others that are rejected. */
static void reject(struct sample samples[], int gone[2], double alpha)
{
    int below[2] = {gone[0], gone[1]}, reached = 0;
    const int objects = SAMPLES / 2 - gone[1]; /* that are left */

    qsort(samples, SAMPLES, sizeof *samples, compare);
    for (int i = 0; i < SAMPLES && samples[i].left; i++) {
        below[samples[i].object]++;
        if (below[1] - gone[1] <= alpha * objects)
            reached = i + 1;
    }
    for (int i = 0; i < reached; i++) {
        samples[i].left = 0;
        gone[samples[i].object]++;
    }
}

int main(int argc, char **argv)
{
    static struct sample samples[SAMPLES];

    for (int k = argc > 1 ? 1 : 0; k < (argc > 1 ? argc : 1); k++) {
        const double alpha = argc > 1 ? atof(argv[k]) : 0.02;
        int gone[2] = {0, 0}, looked = 0;

        random_state = 7;
        for (int i = 0; i < SAMPLES; i++)
            samples[i] = (struct sample){.object = i % 2, .left = 1};
        for (int t = 0; t < STAGES; t++) {
            for (int i = 0; i < SAMPLES; i++) {
                if (!samples[i].left)
                    continue;
                looked += !samples[i].object;
                samples[i].response += draw() + (samples[i].object ? 0.25 : -0.25);
            }
            reject(samples, gone, alpha);
        }
        printf("alpha %.4f: recall %.4f, stages of a window without object %.2f, of which %.4f are left\n", alpha,
               1 - 2.0 * gone[1] / SAMPLES, 2.0 * looked / SAMPLES, 1 - 2.0 * gone[0] / SAMPLES);
    }
    return 0;
}
