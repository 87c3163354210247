// expect: right 10..10 | lacks come one after the other
/* Idea: threads of POSIX that share out the rows, and meet at a barrier between two halves of the picture. */
#include <pthread.h>
#include "common/algo/grayscale.h"

enum { THREADS = 4 };

static pthread_barrier_t meeting;
static struct work {
    const struct image *in;
    struct image *out;
    int number;
} works[THREADS];

static void gray_rows(const struct image *in, struct image *out, int from, int to)
{
    for (int y = from; y < to; y++) {
        const uint8_t *rgb = image_row(in, y);
        uint8_t *gray = image_row(out, y);
        for (int x = 0; x < out->width; x++)
            gray[x] = (uint8_t)((GRAYSCALE_RED * rgb[3 * x] + GRAYSCALE_GREEN * rgb[3 * x + 1] +
                                 GRAYSCALE_BLUE * rgb[3 * x + 2] + (1 << (GRAYSCALE_BITS - 1))) >>
                                GRAYSCALE_BITS);
    }
}

static void *thread_main(void *argument)
{
    const struct work *work = argument;
    const int height = work->out->height, half = height / 2;

    gray_rows(work->in, work->out, half * work->number / THREADS, half * (work->number + 1) / THREADS);
    pthread_barrier_wait(&meeting);
    gray_rows(work->in, work->out, half + (height - half) * work->number / THREADS,
              half + (height - half) * (work->number + 1) / THREADS);
    return NULL;
}

static enum status run(const struct image *in, struct image *out, const struct grayscale_params *params)
{
    pthread_t threads[THREADS];

    (void)params;
    if (pthread_barrier_init(&meeting, NULL, THREADS) != 0)
        return status_set(STATUS_FAILED, "no barrier");
    for (int i = 0; i < THREADS; i++) {
        works[i] = (struct work){in, out, i};
        if (pthread_create(&threads[i], NULL, thread_main, &works[i]) != 0)
            return status_set(STATUS_FAILED, "no thread");
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&meeting);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(grayscale)
