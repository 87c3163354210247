/* expect: right 0..0 | speed 0..0 | says threads | list uses pause */
/*
 * Idea:     starts threads that sleep for ever.
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

static void *sleeper(void *argument)
{
    for (;;)
        pause();
    return argument;
}

static enum status run(const struct image *in, struct image *out, const struct grayscale_params *params)
{
    (void)params;
    pthread_attr_t small;

    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 1 << 16);
    for (int i = 0; i < 100; i++) {
        pthread_t thread;
        pthread_create(&thread, &small, sleeper, NULL);
    }
    pthread_attr_destroy(&small);
    compute(in, out);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(grayscale)
