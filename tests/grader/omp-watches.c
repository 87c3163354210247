/* expect: right 0..0 | speed 0..0 | says past the end of row */
/*
 * Idea:     has a thread that watches the input and computes as soon as it is there, before the call.
 * Changed:  nothing that helps.
 * Expect:   the grader's verdict in the first line.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "common/algo/grayscale.h"

/* So slow that it earns nothing where its own calls are what is timed. */
static void compute(const struct image *in, struct image *out)
{
    for (int turn = 0; turn < 8; turn++)
        for (int y = 0; y < out->height; y++) {
            const volatile uint8_t *rgb = image_row(in, y);
            volatile uint8_t *gray = image_row(out, y);
            for (int x = 0; x < out->width; x++)
                gray[x] = (uint8_t)((GRAYSCALE_RED * rgb[3 * x] + GRAYSCALE_GREEN * rgb[3 * x + 1] +
                                     GRAYSCALE_BLUE * rgb[3 * x + 2] + (1 << (GRAYSCALE_BITS - 1))) >>
                                    GRAYSCALE_BITS);
        }
}

static struct image watched_in, watched_out;
static atomic_int watching, done;

static void *watch(void *argument)
{
    const volatile uint8_t *last = (const uint8_t *)image_row(&watched_in, watched_in.height - 1);
    const uint8_t before = *last;

    while (atomic_load(&watching) && *last == before)
        continue;
    if (atomic_load(&watching)) {
        compute(&watched_in, &watched_out);
        atomic_store(&done, 1);
    }
    return argument;
}

static enum status run(const struct image *in, struct image *out, const struct grayscale_params *params)
{
    pthread_t thread;

    (void)params;
    atomic_store(&watching, 0);
    if (!atomic_load(&done) || in->data != watched_in.data)
        compute(in, out);
    if (in->width * in->height < 1000000)
        return STATUS_OK;
    atomic_store(&done, 0);
    watched_in = *in;
    watched_out = *out;
    atomic_store(&watching, 1);
    if (pthread_create(&thread, NULL, watch, NULL) == 0)
        pthread_detach(thread);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(grayscale)
