#include "cpu/harris/shared/gradients.h"

enum { PIECE = 1024 /* columns at once, whose lines stay in the first-level cache */ };

/* A piece inside the picture. Its lines begin one column to the left, reflected where that lies outside. */
static void make_piece(const struct image *in, const struct harris_params *params, int y, int left, int count,
                       int16_t *gx, int16_t *gy)
{
    const uint8_t *above = image_row(in, harris_reflect(y - 1, in->height)), *own = image_row(in, y);
    const uint8_t *below = image_row(in, harris_reflect(y + 1, in->height));
    const int width = in->width, sobel = params->gradient == HARRIS_SOBEL;
    const int first = left > 0 ? 0 : 1, end = left + count < width ? count + 2 : count + 1;
    int16_t smooth[PIECE + 2], falling[PIECE + 2]; /* 1 2 1 and -1 0 1 down each column */

#pragma omp simd
    for (int i = first; i < end; i++) {
        const int x = left - 1 + i;
        smooth[i] = (int16_t)(sobel ? above[x] + 2 * own[x] + below[x] : own[x]);
        falling[i] = (int16_t)(below[x] - above[x]);
    }
    if (first > 0) {
        smooth[0] = smooth[1 + harris_reflect(-1, width)];
        falling[0] = falling[1 + harris_reflect(-1, width)];
    }
    if (end < count + 2) {
        smooth[end] = width > 1 ? smooth[end - 2] : smooth[end - 1];
        falling[end] = width > 1 ? falling[end - 2] : falling[end - 1];
    }
#pragma omp simd
    for (int i = 0; i < count; i++) {
        gx[i] = (int16_t)(smooth[i + 2] - smooth[i]);
        gy[i] = (int16_t)(sobel ? falling[i] + 2 * falling[i + 1] + falling[i + 2] : falling[i + 1]);
    }
}

void make_gradients(const struct image *in, const struct harris_params *params, int y, int left, int right, int16_t *gx,
                    int16_t *gy)
{
    const int width = in->width, end = right < width ? right : width;

    for (int x = left > 0 ? left : 0; x < end; x += PIECE)
        make_piece(in, params, y, x, end - x < PIECE ? end - x : PIECE, gx + (x - left), gy + (x - left));
    for (int x = left < 0 ? left : end; x < right; x = x == -1 ? end : x + 1) { /* those outside the picture */
        gx[x - left] = gx[harris_reflect(x, width) - left];
        gy[x - left] = gy[harris_reflect(x, width) - left];
    }
}
