#include "cpu/harris/shared/gradients.h"

/* Repeats the gradients beside a row's first and last one, in reverse: their products are what the border reflects. */
static void reflect(int16_t *row, int width, int reach)
{
    for (int i = 1; i <= reach; i++) {
        row[-i] = row[harris_reflect(-i, width)];
        row[width - 1 + i] = row[harris_reflect(width - 1 + i, width)];
    }
}

void make_gradients(const struct image *in, int y, const struct harris_params *params, int16_t *row, size_t length,
                    int16_t *lines)
{
    const uint8_t *above = image_row(in, harris_reflect(y - 1, in->height)), *own = image_row(in, y);
    const uint8_t *below = image_row(in, harris_reflect(y + 1, in->height));
    const int width = in->width, reach = params->size / 2, sobel = params->gradient == HARRIS_SOBEL;
    int16_t *smooth = lines + 1, *falling = lines + length + 1;
    int16_t *gx = row + reach, *gy = gx + length;

#pragma omp simd
    for (int x = 0; x < width; x++) {
        smooth[x] = (int16_t)(sobel ? above[x] + 2 * own[x] + below[x] : own[x]);
        falling[x] = (int16_t)(below[x] - above[x]);
    }
    smooth[-1] = smooth[harris_reflect(-1, width)];
    smooth[width] = smooth[harris_reflect(width, width)];
    falling[-1] = falling[harris_reflect(-1, width)];
    falling[width] = falling[harris_reflect(width, width)];
#pragma omp simd
    for (int x = 0; x < width; x++) {
        gx[x] = (int16_t)(smooth[x + 1] - smooth[x - 1]);
        gy[x] = (int16_t)(sobel ? falling[x - 1] + 2 * falling[x] + falling[x + 1] : falling[x]);
    }
    reflect(gx, width, reach);
    reflect(gy, width, reach);
}
