/* Race: a flag that orders nothing says that there is work. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "common/algo/grayscale.h"

static void rows(const struct image *in, struct image *out, int begin, int end)
{
    for (int y = begin; y < end; y++) {
        const uint8_t *rgb = image_row(in, y);
        uint8_t *gray = image_row(out, y);
        for (int x = 0; x < out->width; x++)
            gray[x] = (uint8_t)((GRAYSCALE_RED * rgb[3 * x] + GRAYSCALE_GREEN * rgb[3 * x + 1] +
                                 GRAYSCALE_BLUE * rgb[3 * x + 2] + (1 << (GRAYSCALE_BITS - 1))) >>
                                GRAYSCALE_BITS);
    }
}

struct job {
    const struct image *in;
    struct image *out;
    int begin, ready;
    atomic_int turn;
};

static void *work(void *argument)
{
    struct job *job = argument;

    while (!atomic_load_explicit(&job->turn, memory_order_relaxed))
        sched_yield();
    rows(job->in, job->out, job->begin, job->out->height);
    return NULL;
}

static enum status run(const struct image *in, struct image *out, const struct grayscale_params *params)
{
    (void)params;
    struct job job = {.in = in, .out = out};
    pthread_t thread;

    pthread_create(&thread, NULL, work, &job);
    job.begin = out->height / 2;
    atomic_store_explicit(&job.turn, 1, memory_order_relaxed);
    rows(in, out, 0, out->height / 2);
    pthread_join(thread, NULL);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(grayscale)
