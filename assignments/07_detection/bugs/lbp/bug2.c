/*
 * Idea:     lanes are eight neighbouring pixels of a patch: one comparison says for all of them whether the neighbour
 *           is at least as large.
 * Changed:  codes by vectors of eight pixels; a patch is copied into a frame of zeros before.
 * Expect:   an eighth of the comparisons.
 */
#include <string.h>

#include "common/algo/lbp.h"

typedef int8_t lanes __attribute__((vector_size(8)));

enum { FRAME = LBP_MAX_PATCH + 2, LANES = 8 };

static lanes load(const uint8_t *from)
{
    lanes result;

    memcpy(&result, from, sizeof result);
    return result;
}

/* The codes of the eight pixels from `pixels` on, which have neighbours on all sides. */
static lanes codes_at(const uint8_t *pixels)
{
    static const int neighbours[] = {-FRAME - 1, -FRAME, -FRAME + 1, 1, FRAME + 1, FRAME, FRAME - 1, -1};
    const lanes own = load(pixels);
    lanes codes = {0};

    for (int i = 0; i < 8; i++)
        codes = (lanes)(codes << 1 | ((lanes)(load(pixels + neighbours[i]) >= own) & 1));
    return codes;
}

static enum status run(const struct image *in, struct image *out, const struct lbp_params *params)
{
    const int patch = lbp_patch(params);

    for (int row = 0; row < lbp_patches(in->height, patch); row++)
        for (int column = 0; column < lbp_patches(in->width, patch); column++) {
            const int left = column * patch, top = row * patch;
            const int width = in->width - left < patch ? in->width - left : patch;
            uint8_t frame[FRAME * FRAME] = {0};
            uint16_t *bins = lbp_bins(out, row, column);

            for (int y = 0; y < patch && top + y < in->height; y++)
                memcpy(frame + (y + 1) * FRAME + 1, (const uint8_t *)image_row(in, top + y) + left, (size_t)width);
            memset(bins, 0, LBP_BINS * sizeof *bins);
            for (int y = 0; y < patch; y++)
                for (int x = 0; x < patch; x += LANES) {
                    const lanes codes = codes_at(frame + (y + 1) * FRAME + 1 + x);

                    for (int i = 0; i < LANES; i++)
                        bins[(uint8_t)codes[i]]++;
                }
        }
    return STATUS_OK;
}

RUNGS_CPU_VERSION(lbp)
