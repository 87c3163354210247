/*
 * Idea:     neighbours are those in the picture.
 * Changed:  also across the border of a patch.
 * Expect:   goes to a wrong one
 * Case:     16x17
 */
#include <string.h>

#include "common/algo/lbp.h"

/* Pixel (x, y) of the patch that begins at (left, top): 0 outside of the patch and of the picture. */
static int sample(const struct image *in, int left, int top, int x, int y)
{
    if (left + x < 0 || top + y < 0 || left + x >= in->width || top + y >= in->height)
        return 0;
    return ((const uint8_t *)image_row(in, top + y))[left + x];
}

static int texton(const struct image *in, int patch, int left, int top, int x, int y)
{
    static const int dx[] = {-1, 0, 1, 1, 1, 0, -1, -1}, dy[] = {-1, -1, -1, 0, 1, 1, 1, 0};
    const int pixel = sample(in, left, top, x, y);
    int code = 0;

    (void)patch;
    for (int i = 0; i < 8; i++)
        code = 2 * code + (sample(in, left, top, x + dx[i], y + dy[i]) >= pixel);
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

    for (int row = 0; row < out->height; row++)
        for (int column = 0; column < out->width; column++)
            count_patch(in, patch, column * patch, row * patch, lbp_bins(out, row, column));
    return STATUS_OK;
}

RUNGS_CPU_VERSION(lbp)
