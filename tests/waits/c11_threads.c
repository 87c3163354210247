/* Right: threads, locks and conditions of C11. */
#include <threads.h>

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
    mtx_t lock;
    cnd_t changed;
    once_flag once;
};

static struct job job;

static void decide(void)
{
    job.ready = 1;
}

static int work(void *argument)
{
    (void)argument;
    call_once(&job.once, decide);
    mtx_lock(&job.lock);
    while (!job.begin)
        cnd_wait(&job.changed, &job.lock);
    mtx_unlock(&job.lock);
    rows(job.in, job.out, job.begin - 1, job.out->height);
    return job.ready;
}

static enum status run(const struct image *in, struct image *out, const struct grayscale_params *params)
{
    (void)params;
    thrd_t thread;
    int result = 0;

    job = (struct job){.in = in, .out = out, .once = ONCE_FLAG_INIT};
    mtx_init(&job.lock, mtx_plain);
    cnd_init(&job.changed);
    thrd_create(&thread, work, NULL);
    call_once(&job.once, decide);
    mtx_lock(&job.lock);
    job.begin = 1 + out->height / 2;
    cnd_signal(&job.changed);
    mtx_unlock(&job.lock);
    rows(in, out, 0, out->height / 2);
    thrd_join(thread, &result);
    cnd_destroy(&job.changed);
    mtx_destroy(&job.lock);
    return result == job.ready ? STATUS_OK : STATUS_FAILED;
}

RUNGS_CPU_VERSION(grayscale)
