// expect: right 10..10 | lacks come one after the other
/* Idea: threads of C11 take bands of rows by an atomic counter; the caller works along and joins them. */
#include <stdatomic.h>
#include <threads.h>
#include "common/algo/grayscale.h"

enum { THREADS = 3, ROWS = 8 };

struct job {
    const struct image *in;
    struct image *out;
    atomic_int next;
    mtx_t lock;
    int bands; /* done, behind the lock */
};

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

static int work(void *argument)
{
    struct job *job = argument;
    int mine = 0;

    for (int from; (from = atomic_fetch_add(&job->next, ROWS)) < job->out->height; mine++)
        gray_rows(job->in, job->out, from, from + ROWS < job->out->height ? from + ROWS : job->out->height);
    mtx_lock(&job->lock);
    job->bands += mine;
    mtx_unlock(&job->lock);
    return 0;
}

static enum status run(const struct image *in, struct image *out, const struct grayscale_params *params)
{
    struct job job = {.in = in, .out = out};
    thrd_t threads[THREADS];

    (void)params;
    atomic_init(&job.next, 0);
    if (mtx_init(&job.lock, mtx_plain) != thrd_success)
        return status_set(STATUS_FAILED, "no lock");
    for (int i = 0; i < THREADS; i++)
        if (thrd_create(&threads[i], work, &job) != thrd_success)
            return status_set(STATUS_FAILED, "no thread");
    work(&job);
    for (int i = 0; i < THREADS; i++)
        thrd_join(threads[i], NULL);
    mtx_destroy(&job.lock);
    return job.bands == (out->height + ROWS - 1) / ROWS ? STATUS_OK : status_set(STATUS_FAILED, "lost rows");
}

RUNGS_CPU_VERSION(grayscale)
