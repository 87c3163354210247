/*
 * Idea:     the floor: reads the mask and writes as many labels, and does nothing between. What comes out is right where
 *           there is no foreground or nothing else.
 * Changed:  no components: each pixel becomes 0 or 1 in 4 bytes.
 * Expect:   as long as the memory takes, 0.25 ns a pixel on one core that has 20 GB/s for 5 bytes: whatever a rung takes
 *           above this is what finding components costs.
 * Result:   646 us on one thread (results/cpu2/labelling/labelling_1920x1080_black_1.json), of which asking for 0 takes a
 *           part: a loop that only widened took 527 (results/cpu2/labelling/labelling_1920x1080_black.json).
 * From:     cpu/one_pass
 */
/* Try: make bench-labelling VERSIONS=cpu/null,cpu/links INPUT=a black or a white picture */
#include "common/algo/labelling.h"

static enum status run(const struct image *in, struct image *out, const struct labelling_params *params)
{
    (void)params;
#pragma omp parallel for schedule(static)
    for (int y = 0; y < in->height; y++) {
        const uint8_t *row = image_row(in, y);
        int32_t *labels = image_row(out, y);
        for (int x = 0; x < in->width; x++)
            labels[x] = row[x] != 0;
    }
    return STATUS_OK;
}

RUNGS_CPU_VERSION(labelling, .declines = labelling_one_kind_only)
