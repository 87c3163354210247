/*
 * Problem:  Bandwidth-bound: 3 bytes move per sample, not 2, because a core reads each cache line
 *           of the result before it writes to it.
 * Idea:     A loop over vectors of samples. Streaming (non-temporal) stores write a result that is
 *           larger than the caches and do not read its lines first.
 * Expect:   1.5 times as fast from 32 MB on (2 bytes, not 3); no gain in the caches.
 * Result:   1.3 times as fast as cpu/omp with 16 threads (not streamed: 8 MB), the reason is not
 *           known (results/h100/threshold/threshold_3840x2160.json); from 32 MB on not measured.
 * Run:      make diff-threshold A=cpu/omp B=cpu/simd SIZE=8192x4608
 */
#include "common/algo/threshold.h"
#include "common/simd/simd.h"

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
