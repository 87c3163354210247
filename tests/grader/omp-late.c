/* expect: right 0..0 | speed 0..0 | says cases wrong */
/*
 * Idea:     returns at once and lets a thread do the work.
 * Changed:  nothing that helps.
 * Expect:   the grader's verdict in the first line.
 */
#include <pthread.h>
#include <unistd.h>

#include "common/algo/grayscale.h"

static void compute(const struct image *in, struct image *out)
{
    for (int y = 0; y < out->height; y++) {
        const uint8_t *rgb = image_row(in, y);
        uint8_t *gray = image_row(out, y);
        for (int x = 0; x < out->width; x++)
            gray[x] = (uint8_t)((GRAYSCALE_RED * rgb[3 * x] + GRAYSCALE_GREEN * rgb[3 * x + 1] +
                                 GRAYSCALE_BLUE * rgb[3 * x + 2] + (1 << (GRAYSCALE_BITS - 1))) >>
                                GRAYSCALE_BITS);
    }
}

static struct image late_in, late_out;

static void *work(void *argument)
{
    usleep(2000);
    compute(&late_in, &late_out);
    return argument;
}

static enum status run(const struct image *in, struct image *out, const struct grayscale_params *params)
{
    (void)params;
    pthread_t thread;

    late_in = *in;
    late_out = *out;
    if (pthread_create(&thread, NULL, work, NULL) != 0)
        return status_set(STATUS_FAILED, "no thread");
    pthread_detach(thread);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(grayscale)
