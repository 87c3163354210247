// expect: right 10..10 | lacks come one after the other
/* Idea: two threads that stay from call to call; semaphores say when a picture is there and when it is done. */
#include <pthread.h>
#include <semaphore.h>
#include "common/algo/grayscale.h"

enum { WORKERS = 2 };

static struct worker {
    pthread_t thread;
    sem_t go, done;
    const struct image *in;
    struct image *out;
    int from, to;
} workers[WORKERS];
static bool started;

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

static void *work(void *argument)
{
    struct worker *worker = argument;

    for (;;) {
        sem_wait(&worker->go);
        gray_rows(worker->in, worker->out, worker->from, worker->to);
        sem_post(&worker->done);
    }
    return NULL;
}

static enum status run(const struct image *in, struct image *out, const struct grayscale_params *params)
{
    (void)params;
    for (int i = 0; i < WORKERS && !started; i++) {
        sem_init(&workers[i].go, 0, 0);
        sem_init(&workers[i].done, 0, 0);
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
            return status_set(STATUS_FAILED, "no thread");
        pthread_detach(workers[i].thread);
    }
    started = true;
    for (int i = 0; i < WORKERS; i++) {
        workers[i].in = in;
        workers[i].out = out;
        workers[i].from = out->height * i / WORKERS;
        workers[i].to = out->height * (i + 1) / WORKERS;
        sem_post(&workers[i].go);
    }
    for (int i = 0; i < WORKERS; i++)
        sem_wait(&workers[i].done);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(grayscale)
