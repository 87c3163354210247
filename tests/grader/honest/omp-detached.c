// expect: right 10..10 | lacks come one after the other
#include <pthread.h>
#include <semaphore.h>
#include "common/algo/grayscale.h"

enum { THREADS = 4 };
struct job { const struct image *in; struct image *out; int from, to; sem_t *done; };
static struct job jobs[THREADS];
static sem_t done;

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

static __attribute__((noinline)) void fill(int *scratch, int from)
{
    for (int i = 0; i < 64; i++)
        scratch[i] = i * from;
}

static void *work(void *argument)
{
    struct job job = *(struct job *)argument;
    int scratch[64];
    fill(scratch, job.from);
    gray_rows(job.in, job.out, job.from, job.to);
    sem_post(job.done);
    fill(scratch, job.to);
    return scratch[job.from % 64] == -1 ? argument : NULL;
}

static enum status run(const struct image *in, struct image *out, const struct grayscale_params *params)
{
    (void)params;
    sem_init(&done, 0, 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        jobs[i] = (struct job){in, out, out->height * i / THREADS, out->height * (i + 1) / THREADS, &done};
        pthread_create(&thread, NULL, work, &jobs[i]);
        pthread_detach(thread);
    }
    for (int i = 0; i < THREADS; i++)
        sem_wait(&done);
    sem_destroy(&done);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(grayscale)
