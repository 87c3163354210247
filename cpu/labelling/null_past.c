/*
 * Idea:     the floor of rungs that write past the caches. Each store of cpu/null has its line read before it is
 *           written; here no line is read.
 * Changed:  vectors of labels go past the caches, where rows lie as that needs it. A lane
 *           of a vector of pixels becomes 0 or 1, and is written four times over.
 * Expect:   half of null's time, for 5 bytes a pixel are moved in place of 9.
 * Result:   84 us, a sixth of null's 527 on one thread (results/cpu2/labelling/labelling_1920x1080_black.json): null's
 *           loop also takes longer to widen bytes than memory takes.
 * From:     cpu/null
 */
/* Try: make bench-labelling VERSIONS=cpu/null,cpu/null_past INPUT=a black or a white picture */
#include "common/algo/labelling.h"
#include "common/simd/simd.h"

enum { LANES = SIMD_BYTES / 4 };

static enum status run(const struct image *in, struct image *out, const struct labelling_params *params)
{
    const bool past = ((uintptr_t)out->data | out->stride) % SIMD_BYTES == 0;

    (void)params;
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (int y = 0; y < in->height; y++) {
            const uint8_t *row = image_row(in, y);
            int32_t *labels = image_row(out, y);
            int x = 0;
            for (; past && x + SIMD_BYTES <= in->width; x += SIMD_BYTES) {
                const simd_u32 lanes = (simd_u32)simd_load(row + x), some = (simd_u32)(lanes != 0) & 1;
                for (int i = 0; i < 4; i++)
                    simd_stream(labels + x + i * LANES, (simd_u8)some);
            }
            for (; x < in->width; x++)
                labels[x] = row[x] != 0;
        }
        simd_stream_end();
    }
    return STATUS_OK;
}

RUNGS_CPU_VERSION(labelling, .declines = labelling_one_kind_only)
