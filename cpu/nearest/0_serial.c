/*
 * Idea:     The definition: for each patch the squared distance to every centroid, component by
 *           component. It is the reference of all other versions.
 * Expect:   47,628 patches x 16 centroids x 256 components are 195 million differences; 4 per cycle
 *           in vectors of 64-bit sums: 20 ms.
 * Result:   42 ms (results/h100/nearest/nearest_252x189.json); the reason is not known.
 * Run:      make bench-nearest VERSIONS=cpu
 */
#include "common/algo/nearest.h"

static int nearest(const uint16_t *bins, int k, int (*centroids)[LBP_BINS])
{
    int64_t smallest = INT64_MAX;
    int label = 0;

    for (int j = 0; j < k; j++) {
        int64_t sum = 0;
        for (int i = 0; i < LBP_BINS; i++)
            sum += (int64_t)(NEAREST_SCALE * bins[i] - centroids[j][i]) * (NEAREST_SCALE * bins[i] - centroids[j][i]);
        if (sum < smallest) {
            smallest = sum;
            label = j;
        }
    }
    return label;
}

static enum status run(const struct image *in, struct image *out, const struct nearest_params *params)
{
    int centroids[NEAREST_MAX_K][LBP_BINS];
    const int k = in[1].height;

    (void)params;
    for (int j = 0; j < k; j++)
        for (int i = 0; i < LBP_BINS; i++)
            centroids[j][i] = nearest_fixed(nearest_centroid(&in[1], j)[i]);
    for (int row = 0; row < out->height; row++)
        for (int column = 0; column < out->width; column++)
            ((uint8_t *)image_row(out, row))[column] = (uint8_t)nearest(lbp_bins(in, row, column), k, centroids);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(nearest)
