/*
 * bands.h: the two steps of open and close in one pass, for cpu/ring and the rungs above it. Threads take bands of rows, and
 * go down them a pair of output rows at a time. Between two steps, row y waits in slot y % slots of a ring that has only as
 * many rows as the second step sees; each band makes the few rows beyond its ends itself. With one step there is no ring.
 */
#ifndef RUNGS_MORPHOLOGY_STEPS_BANDS_H
#define RUNGS_MORPHOLOGY_STEPS_BANDS_H

#include <omp.h>
#include <stdlib.h>

#include "cpu/morphology/shared/element.h"

enum {
    BANDS = 4,          /* for each thread, so that a thread that ends early takes another */
    STREAMED = 32 << 20 /* bytes of a result that no cache is likely to keep until it is read */
};

/* Two output rows, of which the second may be NULL, and all that they are made of. */
struct pair {
    const uint8_t *rows[MORPHOLOGY_MAX_KSIZE + 1]; /* from `radius` rows above the first to `radius` below the second */
    const uint8_t *ahead[2];                       /* rows that are soon to be read */
    uint8_t *to[2], *after[2];                     /* after: rows that are soon to be written */
    uint8_t *lines;                                /* of this thread and step, at first all what never wins */
    const uint8_t *inside;                         /* a line: 255 where a row's pixels are in the image, else 0 */
    bool erode, stream; /* stream: nobody reads the results soon, and they are aligned to vectors */
};

typedef void work_on_pair(const struct element *element, const struct pair *pair);

/* How an op is done. */
struct job {
    const struct element *element;
    const uint8_t *inside;
    work_on_pair *work;
    int count, ahead;
    bool erodes[2], stream;
};

/* Output rows from top to bottom, bottom excluded. nothing[]: a row outside the image, for each step. */
static inline void morphology_band(const struct image *in, struct image *out, const struct job *job,
                                   uint8_t *const nothing[2], uint8_t *ring, int top, int bottom)
{
    const struct element *element = job->element;
    const int radius = element->radius, slots = 2 * radius + 3, last = in->height - 1, count = job->count;
    struct pair first = {.lines = nothing[0] + element->pitch, .inside = job->inside, .erode = job->erodes[0]};
    struct pair second = {.lines = nothing[count - 1] + element->pitch,
                          .inside = job->inside,
                          .erode = job->erodes[count - 1],
                          .stream = job->stream};
    int next = maximum(top - radius, 0); /* the row that the first of two steps is at */

    for (int y = top; y < bottom; y += 2) {
        if (count == 2)
            for (; next <= minimum(y + 1 + radius, last); next += 2) {
                for (int n = 0, v = next - radius; n < 2 * radius + 2; n++, v++)
                    first.rows[n] = v < 0 || v > last ? nothing[0] : image_row(in, v);
                for (int n = 0; n < 2; n++) {
                    first.ahead[n] = image_row(in, minimum(next + radius + job->ahead + n, last));
                    first.after[n] = ring + (size_t)((next + n) % slots) * element->pitch;
                    first.to[n] = next + n <= last ? first.after[n] : NULL;
                }
                job->work(element, &first);
            }
        for (int n = 0, v = y - radius; n < 2 * radius + 2; n++, v++)
            second.rows[n] = v < 0 || v > last ? nothing[count - 1]
                             : count == 2      ? ring + (size_t)(v % slots) * element->pitch
                                               : image_row(in, v);
        for (int n = 0; n < 2; n++) {
            second.ahead[n] = count == 2 ? second.rows[n] : image_row(in, minimum(y + radius + job->ahead + n, last));
            second.to[n] = y + n < bottom ? image_row(out, y + n) : NULL;
            second.after[n] = image_row(out, minimum(y + 4 + n, bottom - 1));
        }
        job->work(element, &second);
    }
}

/* `lines` is how many lines of element->pitch bytes a step wants in each thread; `ahead`, which rows pair.ahead[] begins
 * with: so many below the last that the pair's first result sees. */
static inline enum status morphology_bands(const struct image *in, struct image *out,
                                           const struct morphology_params *params, const struct element *element,
                                           int lines, int ahead, work_on_pair *work)
{
    const int threads = omp_get_max_threads(), pairs = (in->height + 1) / 2;
    const size_t one_step = (size_t)(1 + lines) * element->pitch;
    struct job job = {.element = element, .work = work, .ahead = ahead};
    uint8_t *memory;

    job.count = morphology_steps(params, job.erodes);
    job.stream = (size_t)in->width * (size_t)in->height >= STREAMED && (uintptr_t)out->data % SIMD_BYTES == 0 &&
                 out->stride % SIMD_BYTES == 0;
    const int bands = minimum(job.count == 1 ? BANDS * threads : threads, pairs);
    const int slots = job.count == 2 ? params->ksize + 2 : 0;
    const size_t one_thread = (size_t)job.count * one_step + (size_t)slots * element->pitch;

    memory = aligned_alloc(64, (size_t)threads * one_thread + element->pitch);
    if (!memory)
        return status_set(STATUS_NO_MEMORY, "no memory for the lines of %d pixels", in->width);
    uint8_t *inside = memory + (size_t)threads * one_thread;
    memset(inside, 0, element->pitch);
    memset(inside + MARGIN, 255, (size_t)in->width);
    job.inside = inside;
#pragma omp parallel
    {
        uint8_t *mine = memory + (size_t)omp_get_thread_num() * one_thread, *nothing[2] = {mine, mine + one_step};
        for (int n = 0; n < job.count; n++)
            memset(nothing[n], job.erodes[n] ? 255 : 0, one_step);
#pragma omp for schedule(dynamic)
        for (int band = 0; band < bands; band++)
            morphology_band(in, out, &job, nothing, mine + (size_t)job.count * one_step,
                            (int)((int64_t)pairs * band / bands) * 2,
                            minimum((int)((int64_t)pairs * (band + 1) / bands) * 2, in->height));
        if (job.stream)
            simd_stream_end();
    }
    free(memory);
    return STATUS_OK;
}

#endif
