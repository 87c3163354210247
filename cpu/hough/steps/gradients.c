#include "cpu/hough/steps/gradients.h"

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

/* hough_bin() near a guess: from a direction close by, one or two cross products say where the gradient lies. */
static int bin_near(const struct hough_direction *directions, int rows, struct hough_gradient g, float guess)
{
    int bin = (int)guess < 0 ? 0 : (int)guess > rows ? rows : (int)guess;

    if (g.y < 0 || (g.y == 0 && g.x < 0)) {
        g.x = -g.x;
        g.y = -g.y;
    }
    while (bin > 0 && directions[bin].x * g.y - directions[bin].y * g.x < 0)
        bin--;
    while (bin < rows && directions[bin + 1].x * g.y - directions[bin + 1].y * g.x >= 0)
        bin++;
    return bin == rows ? 0 : bin;
}

/* The arc tangent is guessed to 0.005 radians (Rajan, Wang, Inkol and Joyal 2006); the guesses of many points are made in
 * vectors. */
void gradients_bins(const struct gradients *gradients, struct points *points, size_t first, size_t last,
                    const struct hough_params *params, const struct hough_direction *directions)
{
    enum { MANY = 256 };
    const float scale = (float)params->theta_steps / 3.14159265F;
    float x[MANY], y[MANY], guess[MANY];

    for (; first < last; first += MANY) {
        const size_t many = last - first < MANY ? last - first : MANY;
        for (size_t i = 0; i < many; i++) {
            const int at = (int)points->x[first + i];
            x[i] = gradients->x[at];
            y[i] = gradients->y[at];
        }
        for (size_t i = 0; i < many; i++) {
            const float a = fabsf(x[i]), b = fabsf(y[i]), more = a > b ? a : b, less = a > b ? b : a;
            const float t = less / (more + 1e-9F), arc = t * (0.7853982F + 0.273F * (1 - t));
            const float quarter = a > b ? arc : 1.5707963F - arc;
            guess[i] = ((x[i] < 0) == (y[i] < 0) ? quarter : 3.14159265F - quarter) * scale + 0.5F;
        }
        for (size_t i = 0; i < many; i++)
            points->bins[first + i] = (uint16_t)bin_near(directions, params->theta_steps,
                                                         (struct hough_gradient){(int)x[i], (int)y[i]}, guess[i]);
    }
}
