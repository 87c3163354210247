#include "common/verify/displacement.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* out(x,y,c) = expected(place.x, place.y, place.c) for the sample (x,y,c): false where that lies outside. */
struct displacement {
    int dx, dy;
    bool mirror_x, mirror_y, transpose;
    int channel[3]; /* of 3 */
};

static bool displace(const struct image *image, const struct displacement *how, int *x, int *y, int *c)
{
    int u = how->mirror_x ? image->width - 1 - *x : *x + how->dx;
    int v = how->mirror_y ? image->height - 1 - *y : *y + how->dy;

    *x = how->transpose ? v : u;
    *y = how->transpose ? u : v;
    if (image->channels == 3)
        *c = how->channel[*c];
    return *x >= 0 && *x < image->width && *y >= 0 && *y < image->height;
}

/* The share of samples that agree after the displacement, judged by at most some 3,000; -1 when too few overlap. In a
 * matrix places that are 0 before and after say nothing: most counters of an accumulator are. */
static double agreement(const struct evidence *evidence, const struct displacement *how)
{
    const struct image *expected = evidence->expected;
    const int border = evidence->margin > 0 ? evidence->margin : 0;
    const size_t pixels = (size_t)expected->width * (size_t)expected->height;
    /* A step that shares no factor with common widths, so that the samples lie all over the image. */
    const size_t step = pixels > 3000 ? pixels / 3000 | 1 : 1;
    size_t agree = 0, seen = 0;

    for (size_t i = 0; i < pixels; i += step) {
        const int x = (int)(i % (size_t)expected->width), y = (int)(i / (size_t)expected->width);

        if (x < border || y < border || x >= expected->width - border || y >= expected->height - border)
            continue;
        for (int c = 0; c < expected->channels; c++) {
            int from_x = x, from_y = y, from_c = c;

            if (!displace(expected, how, &from_x, &from_y, &from_c))
                continue;
            const double a = image_sample(evidence->actual, x, y, c),
                         e = image_sample(expected, from_x, from_y, from_c);
            if (evidence->kind == SLOT_MATRIX && a == 0 && e == 0)
                continue;
            seen++;
            agree += fabs(a - e) <= evidence->tolerance;
        }
    }
    return seen < 16 ? -1 : (double)agree / (double)seen;
}

int find_displacement(const struct evidence *evidence, char *text, size_t size)
{
    const struct image *expected = evidence->expected;
    const struct displacement none = {.channel = {0, 1, 2}};
    const double in_place = agreement(evidence, &none);
    /* What the border does to a displaced image is left out of account by asking for less than all. */
    const double enough = 0.9;
    const int reach = evidence->radius > 15 ? 15 : evidence->radius < 3 ? 3 : evidence->radius;
    int found = 0;
    char from_x[16] = "x", from_y[16] = "y";

    if (in_place < 0 || in_place > 0.6)
        return CERTAINTY_NONE;

    static const int orders[][3] = {{2, 1, 0}, {1, 0, 2}, {0, 2, 1}, {1, 2, 0}, {2, 0, 1}};

    for (size_t i = 0; expected->channels == 3 && i < sizeof orders / sizeof *orders; i++) {
        const int *order = orders[i];
        const struct displacement how = {.channel = {order[0], order[1], order[2]}};

        if (agreement(evidence, &how) >= enough) {
            if (i < 3)
                snprintf(text, size, "channels %d and %d swapped%s", order[0] < order[1] ? 1 : 0, order[2] == 2 ? 1 : 2,
                         i == 0 ? " (BGR for RGB)" : "");
            else
                snprintf(text, size, "channels in the order %d, %d, %d", order[0], order[1], order[2]);
            return CERTAINTY_SURE;
        }
    }

    static const struct {
        struct displacement how;
        const char *words;
    } flips[] = {
        {{.channel = {0, 1, 2}, .mirror_x = true}, "mirrored left to right"},
        {{.channel = {0, 1, 2}, .mirror_y = true}, "upside down"},
        {{.channel = {0, 1, 2}, .mirror_x = true, .mirror_y = true}, "turned by 180 degrees"},
        {{.channel = {0, 1, 2}, .transpose = true}, "transposed: x and y mixed up"},
    };

    for (size_t i = 0; i < sizeof flips / sizeof *flips; i++) {
        if (flips[i].how.transpose && expected->width != expected->height)
            continue;
        if (agreement(evidence, &flips[i].how) >= enough) {
            snprintf(text, size, "%s", flips[i].words);
            return CERTAINTY_SURE;
        }
    }

    for (int dy = -reach; dy <= reach; dy++) {
        for (int dx = -reach; dx <= reach; dx++) {
            const struct displacement how = {.channel = {0, 1, 2}, .dx = dx, .dy = dy};
            /* A shift of 7 in 20 columns leaves two thirds to compare; of less, agreement is chance. */
            if ((dx == 0 && dy == 0) || 3 * abs(dx) > expected->width || 3 * abs(dy) > expected->height)
                continue;
            if (agreement(evidence, &how) < enough)
                continue;
            if (found++ > 0)
                continue;
            if (dx)
                snprintf(from_x, sizeof from_x, "x%+d", dx);
            if (dy)
                snprintf(from_y, sizeof from_y, "y%+d", dy);
            snprintf(text, size, "shifted by (%d,%d): out(x,y) holds what belongs at (%s,%s)", -dx, -dy, from_x,
                     from_y);
        }
    }
    return found == 0 ? CERTAINTY_NONE : found == 1 ? CERTAINTY_SURE : CERTAINTY_WEAK;
}
