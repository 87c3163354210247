/*
 * Idea:     the histograms of the next block are fetched while the products of this one are computed.
 * Changed:  nearest() asks for a line of the next block at each step. Eight histograms side by side are eight streams of 512
 *           bytes, too short for the processor to see them coming.
 * Expect:   2 times simd where histograms come from memory, 0.9 ms with two threads: a multiplication a cycle and core.
 * Result:   2.8 times simd (results/cpu2/nearest/nearest_252x189.json).
 * From:     cpu/simd
 */
/* Try: make bench-nearest VERSIONS=cpu */
#include <string.h>

#include "common/algo/nearest.h"
#include "common/simd/simd.h"

enum { LANES = SIMD_BYTES / 4, BLOCK = 8 };

/* BLOCK patches of a row: the smallest of |C|^2 - 128 h C. The table has LANES centroids side by side, those beyond k farther
 * than any: pieces[group][pair] holds two components of each. */
static void nearest(const uint16_t *bins, int patches, int groups, simd_i16 (*pieces)[LBP_BINS / 2],
                    const simd_i32 *norms, uint8_t *labels)
{
    int32_t smallest[BLOCK];

    for (int group = 0; group < groups; group++) {
        simd_i32 sums[BLOCK] = {{0}};
        for (int i = 0; i < LBP_BINS; i += 2) {
            if (patches == BLOCK)
                __builtin_prefetch(bins + (BLOCK + i / 2 % BLOCK) * LBP_BINS + i);
            for (int p = 0; p < BLOCK; p++) { /* behind the end the last one again */
                uint32_t pair;
                memcpy(&pair, bins + (p < patches ? p : patches - 1) * LBP_BINS + i, sizeof pair);
                sums[p] = simd_dot2(sums[p], (simd_i16)simd_splat(pair), pieces[group][i / 2]);
            }
        }
        for (int p = 0; p < patches; p++) {
            const simd_i32 scores = norms[group] - 2 * NEAREST_SCALE * sums[p];
            for (int lane = 0; lane < LANES; lane++)
                if ((group == 0 && lane == 0) || scores[lane] < smallest[p]) {
                    smallest[p] = scores[lane];
                    labels[p] = (uint8_t)(group * LANES + lane);
                }
        }
    }
}

static enum status run(const struct image *in, struct image *out, const struct nearest_params *params)
{
    simd_i16 pieces[NEAREST_MAX_K / LANES][LBP_BINS / 2];
    simd_i32 norms[NEAREST_MAX_K / LANES];
    const int k = in[1].height, groups = (k + LANES - 1) / LANES;

    (void)params;
    for (int j = 0; j < groups * LANES; j++) {
        int32_t norm = 0;
        for (int i = 0; i < LBP_BINS; i++) {
            const int c = j < k ? nearest_fixed(nearest_centroid(&in[1], j)[i]) : 0;
            pieces[j / LANES][i / 2][j % LANES * 2 + i % 2] = (int16_t)c;
            norm += c * c;
        }
        norms[j / LANES][j % LANES] = j < k ? norm : INT32_MAX;
    }
#pragma omp parallel for schedule(static)
    for (int row = 0; row < out->height; row++)
        for (int column = 0; column < out->width; column += BLOCK) {
            const int patches = out->width - column < BLOCK ? out->width - column : BLOCK;
            nearest(lbp_bins(in, row, column), patches, groups, pieces, norms, (uint8_t *)image_row(out, row) + column);
        }
    return STATUS_OK;
}

RUNGS_CPU_VERSION(nearest, .instruction_set = SIMD_NAME)
