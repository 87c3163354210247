/*
 * Idea:     a vector of samples at a time, written past the caches: a core that stores to a line it does not hold fetches
 *           it first, a third of all traffic, and a streaming store does not.
 * Changed:  the loop over a row is written in vectors; a result larger than the caches is stored by streaming.
 * Expect:   no gain over omp while the result fits in the caches, for the compiler's loop is as good; from 32 MB on up
 *           to a half more, where memory is the limit.
 */
/* Try: make bench-threshold VERSIONS=cpu/serial,cpu/omp,cpu/simd,peer/opencv SIZE=7680x4320 */
#include "common/simd/simd.h"
#include "common/algo/threshold.h"

enum { STREAMED = 32 << 20 /* bytes of a result that no cache is likely to keep until it is read */ };

SIMD_INLINE void threshold_row(const uint8_t *from, uint8_t *to, int bytes, simd_u8 value, int stream)
{
    int x = 0;

    for (; x + SIMD_BYTES <= bytes; x += SIMD_BYTES) {
        const simd_u8 result = (simd_u8)(simd_load(from + x) > value);
        if (stream)
            simd_stream(to + x, result);
        else
            simd_store(to + x, result);
    }
    for (; x < bytes; x++)
        to[x] = from[x] > value[0] ? 255 : 0;
}

static enum status run(const struct image *in, struct image *out, const struct threshold_params *params)
{
    enum status status = STATUS_OK;
    const int bytes = in->width * in->channels;
    /* Streaming stores want whole vectors' addresses. */
    const int stream = (size_t)bytes * (size_t)in->height >= STREAMED && (uintptr_t)out->data % SIMD_BYTES == 0 &&
                       out->stride % SIMD_BYTES == 0;
    int value;

    TRY(threshold_value(in, params, "cpu/simd", &value));
#pragma omp parallel
    {
        const simd_u8 values = (simd_u8){0} + (uint8_t)value;
#pragma omp for schedule(static)
        for (int y = 0; y < in->height; y++) {
            if (stream)
                threshold_row(image_row(in, y), image_row(out, y), bytes, values, 1);
            else
                threshold_row(image_row(in, y), image_row(out, y), bytes, values, 0);
        }
        if (stream)
            simd_stream_end();
    }
out:
    return status;
}

RUNGS_CPU_VERSION(threshold, .instruction_set = SIMD_NAME)
