/*
 * Problem:  cpu/serial is compute-bound and uses one core.
 * Idea:     Patches share nothing: an OpenMP pragma gives each thread rows of patches.
 * Expect:   The speedup over cpu/serial is the number of cores.
 * Result:   9.7 times as fast as cpu/serial with 16 threads, 20 ms
 *           (results/h100/lbp/lbp_4032x3024_climb.json); the reason is not known. 1.8 times with 2
 *           threads (results/cpu2/lbp/lbp_4032x3024.json).
 * Run:      make diff-lbp A=cpu/serial B=cpu/omp
 */
#include <string.h>

#include "common/algo/lbp.h"

/* Pixel (x, y) of the patch that begins at (left, top): 0 outside of the patch and of the picture. */
static int sample(const struct image *in, int patch, int left, int top, int x, int y)
{
    if (x < 0 || y < 0 || x >= patch || y >= patch || left + x >= in->width || top + y >= in->height)
        return 0;
    return ((const uint8_t *)image_row(in, top + y))[left + x];
}

static int texton(const struct image *in, int patch, int left, int top, int x, int y)
{
    static const int dx[] = {-1, 0, 1, 1, 1, 0, -1, -1}, dy[] = {-1, -1, -1, 0, 1, 1, 1, 0};
    const int pixel = sample(in, patch, left, top, x, y);
    int code = 0;

    for (int i = 0; i < 8; i++)
        code = 2 * code + (sample(in, patch, left, top, x + dx[i], y + dy[i]) >= pixel);
    return code;
}

static void count_patch(const struct image *in, int patch, int left, int top, uint16_t *bins)
{
    memset(bins, 0, LBP_BINS * sizeof *bins);
    for (int y = 0; y < patch; y++)
        for (int x = 0; x < patch; x++)
            bins[texton(in, patch, left, top, x, y)]++;
}

static enum status run(const struct image *in, struct image *out, const struct lbp_params *params)
{
    const int patch = lbp_patch(params);

#pragma omp parallel for schedule(static)
    for (int row = 0; row < out->height; row++)
        for (int column = 0; column < out->width; column++)
            count_patch(in, patch, column * patch, row * patch, lbp_bins(out, row, column));
    return STATUS_OK;
}

RUNGS_CPU_VERSION(lbp)
