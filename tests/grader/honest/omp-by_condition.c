// expect: right 10..10 | lacks come one after the other
/* Idea: threads take the next rows from a queue behind a lock; a condition says when there are some, and when all are done. */
#include <pthread.h>
#include <unistd.h>
#include "common/algo/grayscale.h"

enum { MOST = 8, ROWS = 16 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER, finished = PTHREAD_COND_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static const struct image *input;
static struct image *output;
static int next_row, rows_left;

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
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!output || next_row >= output->height)
            pthread_cond_wait(&changed, &lock);
        const int from = next_row, to = from + ROWS < output->height ? from + ROWS : output->height;
        next_row = to;
        pthread_mutex_unlock(&lock);
        gray_rows(input, output, from, to);
        pthread_mutex_lock(&lock);
        rows_left -= to - from;
        if (rows_left == 0)
            pthread_cond_signal(&finished);
    }
    return argument;
}

static void start(void)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    pthread_t thread;

    for (int i = 0; i < cores && i < MOST; i++)
        pthread_create(&thread, NULL, work, NULL);
}

static enum status run(const struct image *in, struct image *out, const struct grayscale_params *params)
{
    (void)params;
    pthread_once(&once, start);
    pthread_mutex_lock(&lock);
    input = in;
    output = out;
    next_row = 0;
    rows_left = out->height;
    pthread_cond_broadcast(&changed);
    while (rows_left > 0)
        pthread_cond_wait(&finished, &lock);
    output = NULL;
    pthread_mutex_unlock(&lock);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(grayscale)
