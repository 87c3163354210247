#include "cpu/hough/shared/gradients.h"

/* Columns 1 to width - 2 of a row. Sums of Sobel's weights and edge, 2040 at most, fit in 16 bits. */
static void find_inner(const uint8_t *restrict above, const uint8_t *restrict own, const uint8_t *restrict below,
                       int width, int16_t edge, int16_t *restrict to_x, int16_t *restrict to_y, uint8_t *restrict mask)
{
    for (int x = 1; x < width - 1; x++) {
        const int16_t falling = (int16_t)(below[x + 1] - above[x - 1]), rising = (int16_t)(above[x + 1] - below[x - 1]);
        const int16_t gx = (int16_t)(2 * (own[x + 1] - own[x - 1]) + falling + rising);
        const int16_t gy = (int16_t)(2 * (below[x] - above[x]) + falling - rising);
        to_x[x] = gx;
        to_y[x] = gy;
        mask[x] = (int16_t)((gx < 0 ? -gx : gx) + (gy < 0 ? -gy : gy)) > edge;
    }
}

void gradients_find(const struct image *in, int y, int edge, const struct gradients *out)
{
    find_inner(image_row(in, y > 0 ? y - 1 : 0), image_row(in, y), image_row(in, y + 1 < in->height ? y + 1 : y),
               in->width, (int16_t)edge, out->x, out->y, out->mask);
    for (int end = 0; end < 2; end++) {
        const int x = end ? in->width - 1 : 0;
        const struct hough_gradient g = hough_sobel(in, x, y);
        out->x[x] = (int16_t)g.x;
        out->y[x] = (int16_t)g.y;
        out->mask[x] = (uint8_t)(abs(g.x) + abs(g.y) > edge);
    }
}

/* hough_bin() of a gradient in the upper half, near a guess that is wrong by less than a row: the signs of two cross
 * products tell which of three rows it is. No branch depends on the picture. */
static int bin_near(const struct hough_direction *directions, int rows, int x, int y, float guess)
{
    const int bin = (int)guess < rows ? (int)guess : rows, next = bin < rows ? bin + 1 : rows;
    const int behind =
        directions[bin].x * y - directions[bin].y * x < 0; /* never for bin 0, whose direction is (0, 0) */
    const int ahead = directions[next].x * y - directions[next].y * x >= 0 && bin < rows;
    const int found = bin - behind + ahead;

    return found < rows ? found : 0;
}

/* The angle of (x, y), y >= 0, to 1.2e-5 radians: 0.06 of 16384 rows (Abramowitz and Stegun 4.4.49). */
static float angle_near(float x, float y)
{
    const float a = fabsf(x), t = (a > y ? y : a) / ((a > y ? a : y) + 1e-9F), u = t * t;
    const float arc = t * (0.999866F + u * (-0.3302995F + u * (0.180141F + u * (-0.085133F + u * 0.0208351F))));
    const float quarter = a > y ? arc : 1.5707963F - arc;

    return x < 0 ? 3.14159265F - quarter : quarter;
}

/* What is done with many points is done in vectors, step by step. */
void gradients_bins(const struct gradients *gradients, struct points *points, size_t first, size_t last,
                    const struct hough_params *params, const struct hough_direction *directions)
{
    enum { MANY = 256 };
    const float scale = (float)params->theta_steps / 3.14159265F;
    int x[MANY], y[MANY];
    float guess[MANY];

    for (; first < last && params->d; first++) {
        const int at = (int)points->x[first];
        const struct hough_gradient gradient = {gradients->x[at], gradients->y[at]};
        points->bins[first] = (uint16_t)hough_parallel_bin(params->d, gradient);
    }
    for (; first < last; first += MANY) {
        const size_t many = last - first < MANY ? last - first : MANY;
        for (size_t i = 0; i < many; i++) {
            const int at = (int)points->x[first + i];
            x[i] = gradients->x[at];
            y[i] = gradients->y[at];
        }
        for (size_t i = 0; i < many; i++) {
            const int turn = y[i] < 0 ? -1 : 1;
            x[i] *= turn;
            y[i] *= turn;
            guess[i] = angle_near((float)x[i], (float)y[i]) * scale + 0.5F;
        }
        for (size_t i = 0; i < many; i++)
            points->bins[first + i] = (uint16_t)bin_near(directions, params->theta_steps, x[i], y[i], guess[i]);
    }
}
