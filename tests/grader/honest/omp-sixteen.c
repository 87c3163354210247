// expect: right 10..10 | lacks come one after the other
#include <pthread.h>
#include "common/algo/grayscale.h"

enum { THREADS = 16 };
struct job { const struct image *in; struct image *out; int number; };

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

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all = PTHREAD_COND_INITIALIZER;
static int there;

static void *work(void *argument)
{
    struct job *job = argument;
    pthread_mutex_lock(&lock);
    if (++there == THREADS)
        pthread_cond_broadcast(&all);
    while (there < THREADS)
        pthread_cond_wait(&all, &lock);
    pthread_mutex_unlock(&lock);
    gray_rows(job->in, job->out, job->out->height * job->number / THREADS, job->out->height * (job->number + 1) / THREADS);
    return NULL;
}

static enum status run(const struct image *in, struct image *out, const struct grayscale_params *params)
{
    (void)params;
    there = 0;
    pthread_t threads[THREADS];
    struct job jobs[THREADS];
    for (int i = 0; i < THREADS; i++) {
        jobs[i] = (struct job){in, out, i};
        pthread_create(&threads[i], NULL, work, &jobs[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(grayscale)
