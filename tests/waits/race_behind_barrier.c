/* Race: one thread writes behind the barrier what the other reads there. */
#include <pthread.h>

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
    pthread_barrier_t barrier;
};

static void *work(void *argument)
{
    struct job *job = argument;

    pthread_barrier_wait(&job->barrier);
    rows(job->in, job->out, 0, job->out->height);
    job->begin = job->ready;
    return NULL;
}

static enum status run(const struct image *in, struct image *out, const struct grayscale_params *params)
{
    (void)params;
    struct job job = {.in = in, .out = out};
    pthread_t thread;

    pthread_barrier_init(&job.barrier, NULL, 2);
    pthread_create(&thread, NULL, work, &job);
    pthread_barrier_wait(&job.barrier);
    job.ready = 1;
    pthread_join(thread, NULL);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(grayscale)
