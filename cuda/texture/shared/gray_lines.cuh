/*
 * gray_lines.cuh: lines of patches as lbp's v2.1 has them, from a gray picture or from one in colour; of texture v2.0.
 */
#ifndef RUNGS_TEXTURE_GRAY_LINES_CUH
#define RUNGS_TEXTURE_GRAY_LINES_CUH

#include "common/algo/grayscale.h"
#include "cuda/lbp/shared/halves.cuh"
#include "cuda/lbp/shared/lines.cuh"

/* Four gray pixels from three words, R G B R  G B R G  B R G B. With twice grayscale.h's weights a pixel is byte 2 of
 * its sum. */
static __device__ inline unsigned texture_gray_of(unsigned a, unsigned b, unsigned c)
{
    const unsigned red = 2 * GRAYSCALE_RED, green = 2 * GRAYSCALE_GREEN, blue = 2 * GRAYSCALE_BLUE, half = 1u << 15;
    const unsigned first = __dp2a_hi(blue, a, __dp2a_lo(red | green << 16, a, half));
    const unsigned second = __dp2a_lo(green | blue << 16, b, __dp2a_hi(red << 16, a, half));
    const unsigned third = __dp2a_lo(blue, c, __dp2a_hi(red | green << 16, b, half));
    const unsigned fourth = __dp2a_hi(green | blue << 16, c, __dp2a_lo(red << 16, c, half));

    return __byte_perm(__byte_perm(first, second, 0x0062), __byte_perm(third, fourth, 0x0062), 0x5410);
}

/* Line y of a patch, of a gray picture or one in colour. */
template <int PATCH, int CHANNELS>
static __device__ inline void texture_load_line(const struct image &in, int x, int y, bool inside,
                                                lbp_line<PATCH> &line)
{
    unsigned words[PATCH / 4 + 2] = {};

    if constexpr (CHANNELS == 1) {
        lbp_load_line<PATCH>(in, x, y, inside, words);
    } else {
        constexpr int COUNT = PATCH / 4; /* words of a load */
        const lbp_loaded<PATCH> *from = (const lbp_loaded<PATCH> *)((const uint8_t *)image_row(&in, y) + 3 * x);
        unsigned rgb[3 * COUNT];
        for (int i = 0; i < 3; i++) {
            lbp_loaded<PATCH> loaded = {};
            if (inside && y < in.height && 3 * x + 4 * COUNT * i < 3 * in.width)
                loaded = from[i];
            for (int w = 0; w < COUNT; w++)
                rgb[COUNT * i + w] = loaded.words[w];
        }
        for (int w = 0; w < COUNT; w++) {
            const int left = in.width - x - 4 * w; /* pixels */
            const unsigned gray = texture_gray_of(rgb[3 * w], rgb[3 * w + 1], rgb[3 * w + 2]);
            words[w + 1] = gray & (left >= 4 ? ~0u : left > 0 ? (1u << 8 * left) - 1 : 0);
        }
    }
    lbp_make_line<PATCH>(words, line);
}

#endif
