#include "common/verify/diagnose.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/image/image_io.h"

/* ------------------------------------------------------------------------------------------------ the facts */

/* A map of pixels (1 = marked) and what one pass over it tells. */
struct marks {
    uint8_t *pixel;    /* width x height */
    int *column, *row; /* marked pixels of each */
    int width, height;
    size_t count;
    int left, right, top, bottom; /* bounding box, inclusive */
};

static enum status marks_create(struct marks *marks, int width, int height)
{
    memset(marks, 0, sizeof *marks);
    marks->width = width;
    marks->height = height;
    marks->pixel = calloc((size_t)width * (size_t)height, 1);
    marks->column = calloc((size_t)width, sizeof *marks->column);
    marks->row = calloc((size_t)height, sizeof *marks->row);
    marks->left = width;
    marks->top = height;
    marks->right = marks->bottom = -1;
    if (!marks->pixel || !marks->column || !marks->row)
        return status_set(STATUS_NO_MEMORY, "no memory for the diagnosis of an image of %dx%d pixels", width, height);
    return STATUS_OK;
}

static void marks_free(struct marks *marks)
{
    free(marks->pixel);
    free(marks->column);
    free(marks->row);
}

static void mark(struct marks *marks, int x, int y)
{
    uint8_t *pixel = &marks->pixel[(size_t)y * (size_t)marks->width + (size_t)x];

    if (*pixel)
        return;
    *pixel = 1;
    marks->count++;
    marks->column[x]++;
    marks->row[y]++;
    marks->left = x < marks->left ? x : marks->left;
    marks->right = x > marks->right ? x : marks->right;
    marks->top = y < marks->top ? y : marks->top;
    marks->bottom = y > marks->bottom ? y : marks->bottom;
}

struct facts {
    struct marks wrong, unwritten;
    size_t samples, wrong_samples, unwritten_samples, nan_samples, too_large, too_small;
    size_t written_but_wrong;
    double smallest, largest;                /* of the signed differences of wrong samples */
    double magnitude;                        /* largest absolute expected value */
    bool actual_constant, expected_constant; /* over all compared samples */
    double constant;                         /* the value of a constant actual image */
    size_t channel_wrong[4];                 /* wrong samples of the first channels */
};

static enum status collect(const struct evidence *evidence, struct facts *facts)
{
    const struct image *expected = evidence->expected, *actual = evidence->actual;
    const int channels = expected->channels, margin = evidence->margin;
    double first_expected = 0;
    enum status status = STATUS_OK;

    memset(facts, 0, sizeof *facts);
    TRY(marks_create(&facts->wrong, expected->width, expected->height));
    TRY(marks_create(&facts->unwritten, expected->width, expected->height));
    facts->actual_constant = facts->expected_constant = true;
    facts->smallest = INFINITY;
    facts->largest = -INFINITY;

    for (int y = margin; y < expected->height - margin; y++) {
        for (int x = margin; x < expected->width - margin; x++) {
            for (int c = 0; c < channels; c++) {
                const double e = image_sample(expected, x, y, c), a = image_sample(actual, x, y, c);
                const size_t i = ((size_t)y * (size_t)expected->width + (size_t)x) * (size_t)channels + (size_t)c;
                const bool unwritten = evidence->unwritten && evidence->unwritten[i];

                if (facts->samples++ == 0) {
                    facts->constant = a;
                    first_expected = e;
                }
                facts->actual_constant &= a == facts->constant;
                facts->expected_constant &= e == first_expected;
                facts->magnitude = fmax(facts->magnitude, fabs(e));
                if (unwritten) {
                    facts->unwritten_samples++;
                    mark(&facts->unwritten, x, y);
                }
                if (!unwritten && fabs(a - e) <= evidence->tolerance)
                    continue;
                facts->wrong_samples++;
                facts->written_but_wrong += !unwritten;
                mark(&facts->wrong, x, y);
                if (c < 4)
                    facts->channel_wrong[c]++;
                if (isnan(a)) {
                    facts->nan_samples++;
                    continue;
                }
                facts->too_large += a > e;
                facts->too_small += a < e;
                facts->smallest = fmin(facts->smallest, a - e);
                facts->largest = fmax(facts->largest, a - e);
            }
        }
    }
out:
    return status;
}

static void facts_free(struct facts *facts)
{
    marks_free(&facts->wrong);
    marks_free(&facts->unwritten);
}

/* -------------------------------------------------------------------------------------- where the marks are */

static const char *plural(int count)
{
    return count == 1 ? "" : "s";
}

__attribute__((format(printf, 3, 4))) static void append(char *text, size_t size, const char *format, ...)
{
    const size_t length = strlen(text);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text + length, size - length, format, arguments);
    va_end(arguments);
}

/* Sides of tiles whose loop over full tiles ends at `start` and leaves `rest` over: powers of two, 4 to 128. */
struct tiles {
    int smallest, largest; /* 0: none fits */
};

static struct tiles tiles_that_leave(int start, int rest)
{
    struct tiles tiles = {0};

    for (int side = 4; side <= 128; side *= 2) {
        if (start % side != 0 || side <= rest)
            continue;
        tiles.smallest = tiles.smallest ? tiles.smallest : side;
        tiles.largest = side;
    }
    return tiles;
}

static void append_tiles(char *text, size_t size, const char *before, const struct tiles *tiles, const char *unit)
{
    if (tiles->smallest == tiles->largest)
        append(text, size, "%s of %d %s", before, tiles->largest, unit);
    else
        append(text, size, "%s of %d to %d %s", before, tiles->smallest, tiles->largest, unit);
}

/* Marks fill the last columns, the last rows or both, and nothing else. */
static int find_last(const struct marks *marks, int radius, int channels, char *text, size_t size)
{
    int x0 = marks->width, y0 = marks->height;

    while (x0 > 0 && 2 * marks->column[x0 - 1] > marks->height)
        x0--;
    while (y0 > 0 && 2 * marks->row[y0 - 1] > marks->width)
        y0--;
    if (x0 == 0 || y0 == 0 || (x0 == marks->width && y0 == marks->height))
        return CERTAINTY_NONE;
    for (int y = 0; y < y0; y++)
        for (int x = 0; x < x0; x++)
            if (marks->pixel[(size_t)y * (size_t)marks->width + (size_t)x])
                return CERTAINTY_NONE;

    const int columns = marks->width - x0, rows = marks->height - y0;
    struct tiles tile_x = {0}, tile_y = {0};
    const char *unit_x = "columns";

    if (columns)
        tile_x = tiles_that_leave(x0, columns);
    if (rows)
        tile_y = tiles_that_leave(y0, rows);
    /* Vector code counts samples, not pixels. */
    if (columns && !tile_x.largest && channels > 1) {
        tile_x = tiles_that_leave(x0 * channels, columns * channels);
        unit_x = "samples";
    }

    text[0] = '\0';
    append(text, size, "only the last ");
    if (columns > 1)
        append(text, size, "%d columns (x >= %d)", columns, x0);
    else if (columns)
        append(text, size, "column (x = %d)", x0);
    if (columns && rows)
        append(text, size, " and the last ");
    if (rows > 1)
        append(text, size, "%d rows (y >= %d)", rows, y0);
    else if (rows)
        append(text, size, "row (y = %d)", y0);
    if (tile_x.largest)
        append_tiles(text, size, ": remainder after the last full tile", &tile_x, unit_x);
    if (tile_y.largest)
        append_tiles(text, size, tile_x.largest ? " and" : ": remainder after the last full tile", &tile_y, "rows");

    /* As narrow as the radius it may also be the border on one or two sides. */
    const bool narrow = radius > 0 && columns <= radius && rows <= radius;

    if (!tile_x.largest && !tile_y.largest) {
        append(text, size,
               narrow ? ": border handling, or a loop that ends too early" : ": a loop that ends too early");
        return narrow ? CERTAINTY_WEAK : CERTAINTY_GOOD;
    }
    if (narrow) {
        append(text, size, ", or border handling");
        return CERTAINTY_WEAK;
    }
    /* One tile that fits says more than several. */
    return tile_x.smallest == tile_x.largest && tile_y.smallest == tile_y.largest ? CERTAINTY_SURE : CERTAINTY_GOOD;
}

/* Marks lie only where an output pixel looks beyond the image. */
static int find_border(const struct marks *marks, int radius, int *depth, char *text, size_t size)
{
    const int width = marks->width, height = marks->height;
    /* Pixels that are near the border on one side only tell which side it is. */
    enum { LEFT, RIGHT, TOP, BOTTOM, SIDES };
    static const char *const names[SIDES] = {"left", "right", "top", "bottom"};
    size_t near[SIDES] = {0};

    *depth = 0;

    if (radius < 1 || width <= 2 * radius || height <= 2 * radius)
        return CERTAINTY_NONE;
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            const bool beyond[SIDES] = {x < radius, x >= width - radius, y < radius, y >= height - radius};
            const int sides = beyond[LEFT] + beyond[RIGHT] + beyond[TOP] + beyond[BOTTOM];

            if (!marks->pixel[(size_t)y * (size_t)width + (size_t)x])
                continue;
            if (sides == 0)
                return CERTAINTY_NONE;

            int from_x = x < width - 1 - x ? x : width - 1 - x, from_y = y < height - 1 - y ? y : height - 1 - y;
            int from_edge = from_x < from_y ? from_x : from_y;
            *depth = from_edge + 1 > *depth ? from_edge + 1 : *depth;
            if (sides == 1)
                for (int side = 0; side < SIDES; side++)
                    near[side] += beyond[side];
        }
    }

    text[0] = '\0';
    append(text, size, "only within %d pixel%s of the image's border (", *depth, plural(*depth));
    int listed = 0;
    for (int side = 0; side < SIDES; side++)
        if (near[side])
            append(text, size, "%s%s", listed++ ? ", " : "", names[side]);
    append(text, size, "%s): border handling", listed ? "" : "corners");

    /* Where the border is most of the image, lying in it means little. */
    const double inside = (double)(width - 2 * radius) * (height - 2 * radius) / ((double)width * height);

    return inside >= 0.4 ? CERTAINTY_SURE : inside >= 0.1 ? CERTAINTY_GOOD : CERTAINTY_WEAK;
}

/* A period in one direction: `hits` tells for each column (or row) how many of its pixels are marked. */
struct period {
    int size;        /* 0: none */
    int first, last; /* the residues hit, first..last, cyclic */
    int lines;       /* columns hit */
    bool sharp;      /* at most half of the residues are hit */
};

static struct period find_period(const int *hits, int count)
{
    struct period period = {0};
    int most = 0, least = INT32_MAX;

    for (int i = 0; i < count; i++) {
        most = hits[i] > most ? hits[i] : most;
        least = hits[i] < least ? hits[i] : least;
    }
    /* A column counts as hit when it is nearer to the worst one than to the best one. */
    if (most < 2 || 10 * most <= 13 * least)
        return period;
    const int threshold = (most + least) / 2;

    for (int size = 2; size <= 128 && 2 * size <= count; size *= 2) {
        int seen[128] = {0}, hit[128] = {0}, of_hit = 0, lines = 0, residues = 0, first_tile = count, last_tile = -1;

        for (int i = 0; i < count; i++) {
            seen[i % size]++;
            if (hits[i] <= threshold)
                continue;
            hit[i % size]++;
            lines++;
            first_tile = i / size < first_tile ? i / size : first_tile;
            last_tile = i / size > last_tile ? i / size : last_tile;
        }
        for (int r = 0; r < size; r++) {
            residues += hit[r] > 0;
            of_hit += hit[r] ? seen[r] : 0;
        }
        /* In a true period each residue is hit in most tiles (not all: at the image's border a halo may be right by
         * luck); in half of the true period every other one is missing. */
        if (last_tile <= first_tile || 4 * residues > 3 * size || 10 * lines < 7 * of_hit)
            continue;

        /* The shortest cyclic range that holds all hit residues begins after the longest run of others. */
        int gap = -1, run = 0;

        for (int r = 0; r < 2 * size; r++) {
            run = hit[r % size] ? 0 : run + 1;
            if (run < size && run > gap) {
                gap = run;
                period.first = (r + 1) % size;
            }
        }
        period.last = (period.first + size - gap - 1) % size;
        period.size = size;
        period.lines = lines;
        period.sharp = 2 * residues <= size;
        return period;
    }
    return period;
}

static void append_range(char *text, size_t size, int first, int last)
{
    append(text, size, "%d", first);
    if (last > first)
        append(text, size, "..%d", last);
}

static void append_residues(char *text, size_t size, char axis, const struct period *period)
{
    append(text, size, "%c mod %d = ", axis, period->size);
    if (period->last < period->first) { /* around 0: first..size-1, then 0..last */
        append_range(text, size, period->first, period->size - 1);
        append(text, size, " and ");
        append_range(text, size, 0, period->last);
    } else {
        append_range(text, size, period->first, period->last);
    }
}

/* Marks repeat every so many columns or rows: the edges of tiles, or the lanes of a vector. */
static int find_lattice(const struct marks *marks, char *text, size_t size)
{
    const struct period x = find_period(marks->column, marks->width), y = find_period(marks->row, marks->height);

    if (!x.size && !y.size)
        return CERTAINTY_NONE;

    text[0] = '\0';
    append(text, size, "errors on a lattice of ");
    if (x.size)
        append(text, size, "%d columns%s", x.size, y.size ? " and " : "");
    if (y.size)
        append(text, size, "%d rows", y.size);
    append(text, size, " (");
    if (x.size)
        append_residues(text, size, 'x', &x);
    if (x.size && y.size)
        append(text, size, ", ");
    if (y.size)
        append_residues(text, size, 'y', &y);
    append(text, size, "): ");
    if (x.size >= 8 && y.size >= 8)
        append(text, size, "halo of %dx%d tiles", x.size, y.size);
    else if (x.size >= 8)
        append(text, size, "halo of %d-wide tiles", x.size);
    else if (y.size >= 8)
        append(text, size, "halo of %d-high tiles", y.size);
    else
        append(text, size, "some lanes of a vector, or steps of an unrolled loop");

    const int lines = x.lines + y.lines, tile = x.size > y.size ? x.size : y.size;

    /* Three periods along both axes also tell a tile from a strip; where a halo covers most of the tile, one axis may go
     * unnoticed. */
    if (lines >= 8 && (x.sharp || !x.size) && (y.sharp || !y.size) && marks->width >= 3 * tile &&
        marks->height >= 3 * tile)
        return CERTAINTY_SURE;
    return lines >= 4 ? CERTAINTY_GOOD : CERTAINTY_WEAK;
}

/* Marks lie in one part of the image. */
static int find_box(const struct marks *marks, char *text, size_t size)
{
    const int width = marks->right - marks->left + 1, height = marks->bottom - marks->top + 1;

    if ((double)width * height > 0.5 * marks->width * marks->height)
        return CERTAINTY_NONE;
    text[0] = '\0';
    append(text, size, "only in x %d..%d, y %d..%d", marks->left, marks->right, marks->top, marks->bottom);
    if (width == marks->width)
        append(text, size, " (%d whole row%s)", height, plural(height));
    else if (height == marks->height)
        append(text, size, " (%d whole column%s)", width, plural(width));
    else
        append(text, size, " (%dx%d of %dx%d pixels)", width, height, marks->width, marks->height);
    return CERTAINTY_WEAK;
}

static int find_region(const struct marks *marks, int radius, int channels, char *text, size_t size)
{
    char other[256];
    int depth, certainty = find_last(marks, radius, channels, text, size);

    if (certainty >= CERTAINTY_GOOD)
        return certainty;

    int border = find_border(marks, radius, &depth, other, sizeof other);

    /* A wrong border reaches as deep as the kernel (a pixel less where the outermost weight is next to nothing); what
     * is thinner, and at the end of rows or columns only, is as likely a remainder. */
    if (certainty == CERTAINTY_NONE || (border && depth >= radius - 1 && radius > 1)) {
        if (certainty && border > CERTAINTY_GOOD)
            border = CERTAINTY_GOOD;
        if (border) {
            snprintf(text, size, "%s", other);
            certainty = border;
        }
    }
    if (certainty == CERTAINTY_NONE)
        certainty = find_lattice(marks, text, size);
    if (certainty == CERTAINTY_NONE)
        certainty = find_box(marks, text, size);
    return certainty;
}

/* ---------------------------------------------------------------------------------- the right values, elsewhere */

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

/* The share of samples that agree after the displacement, judged by at most some 3,000; -1 when too few overlap. */
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
            seen++;
            agree += fabs(image_sample(evidence->actual, x, y, c) - image_sample(expected, from_x, from_y, from_c)) <=
                     evidence->tolerance;
        }
    }
    return seen < 16 ? -1 : (double)agree / (double)seen;
}

static int find_displacement(const struct evidence *evidence, char *text, size_t size)
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

/* ------------------------------------------------------------------------------------------------ the verdict */

static int diagnose_facts(const struct evidence *evidence, const struct facts *facts, char *text, size_t size)
{
    const struct image *expected = evidence->expected;
    const int channels = expected->channels;
    const double wrong_share = (double)facts->wrong_samples / (double)facts->samples;
    char region[256] = "";
    int certainty;

    if (facts->unwritten_samples == facts->samples) {
        snprintf(text, size, "never written: not one sample of the output (does the work run, does it reach `out`?)");
        return CERTAINTY_SURE;
    }
    if (facts->nan_samples) {
        snprintf(text, size, "NaN in %zu of %zu samples", facts->nan_samples, facts->samples);
        return CERTAINTY_SURE;
    }
    if (facts->unwritten_samples) {
        certainty = find_region(&facts->unwritten, 0, channels, region, sizeof region);
        snprintf(text, size, "never written: %s%s", certainty ? region : "samples all over the image",
                 facts->written_but_wrong ? "; others are wrong too" : "");
        return certainty == CERTAINTY_SURE ? CERTAINTY_SURE : CERTAINTY_GOOD;
    }
    if (evidence->kind == SLOT_TABLE)
        return diagnose_table(evidence, text, size);
    if (evidence->kind == SLOT_LABELS)
        return diagnose_labels(evidence, text, size);
    /* A result that is nearly flat can be flat by a few errors. */
    if (facts->actual_constant && !facts->expected_constant && wrong_share >= 0.05) {
        snprintf(text, size, "the output is constant: every sample is %g", facts->constant);
        return CERTAINTY_SURE;
    }

    certainty = find_displacement(evidence, text, size);
    if (certainty == CERTAINTY_SURE)
        return certainty;
    if (certainty)
        snprintf(region, sizeof region, "%s", text);

    /* f32: differences in the last 10 of a float's 24 bits are rounding. */
    const double step = expected->type == PIXEL_F32 ? facts->magnitude * 0x1p-14 : 1;

    if (fmax(-facts->smallest, facts->largest) <= step && wrong_share >= 0.05 && facts->samples > 1) {
        const char *amount = expected->type == PIXEL_F32 ? "slightly" : "by 1";

        if (facts->too_large == 0)
            snprintf(text, size,
                     "%.0f %% of the samples too small %s: rounding (truncated where it should be rounded?)",
                     100 * wrong_share, amount);
        else
            snprintf(text, size, "%.0f %% of the samples off %s: rounding", 100 * wrong_share, amount);
        return CERTAINTY_SURE;
    }
    if (facts->wrong_samples == facts->samples && facts->smallest == facts->largest) {
        snprintf(text, size, "every sample is off by %+g", facts->smallest);
        return CERTAINTY_SURE;
    }
    for (int c = 0; c < channels && channels > 1 && channels <= 4; c++) {
        if (facts->channel_wrong[c] == facts->wrong_samples && facts->wrong_samples > 8) {
            snprintf(text, size, "only channel %d (of %d) is wrong", c, channels);
            return CERTAINTY_GOOD;
        }
    }
    if (certainty) { /* more than one shift fits */
        snprintf(text, size, "%s", region);
        return certainty;
    }
    certainty = find_region(&facts->wrong, evidence->radius, channels, text, size);
    if (certainty)
        return certainty;
    if (fmax(-facts->smallest, facts->largest) <= step)
        snprintf(text, size, "a few samples off by no more than %g: rounding in rare cases", step);
    else
        snprintf(text, size, "no pattern recognised: wrong samples in x %d..%d, y %d..%d", facts->wrong.left,
                 facts->wrong.right, facts->wrong.top, facts->wrong.bottom);
    return CERTAINTY_NONE;
}

int diagnose(const struct evidence *evidence, char *text, size_t size)
{
    struct facts facts;
    int certainty = CERTAINTY_NONE;

    if (collect(evidence, &facts) != STATUS_OK)
        snprintf(text, size, "none: %s", status_message());
    else if (facts.wrong_samples == 0)
        snprintf(text, size, "none: nothing is wrong");
    else
        certainty = diagnose_facts(evidence, &facts, text, size);

    const size_t pixels = (size_t)evidence->expected->width * (size_t)evidence->expected->height;
    const int most = pixels < 64 ? CERTAINTY_WEAK : pixels < 512 ? CERTAINTY_GOOD : CERTAINTY_SURE;

    facts_free(&facts);
    return certainty < most ? certainty : most;
}

/* ----------------------------------------------------------------------------------------------- the picture */

enum status diagnose_picture(const struct evidence *evidence, const char *path)
{
    const struct image *expected = evidence->expected, *actual = evidence->actual;
    const int width = expected->width, height = expected->height, channels = expected->channels;
    const int side = width > height ? width : height, factor = side >= 512 ? 1 : side >= 32 ? 512 / side : 16;
    struct image picture = {0};
    double worst = 0, largest = 0;
    enum status status = STATUS_OK;

    TRY(image_create(&picture, width * factor, height * factor, 3, PIXEL_U8));
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            for (int c = 0; c < channels; c++) {
                const double e = image_sample(expected, x, y, c), d = image_sample(actual, x, y, c) - e;

                if (isfinite(d) && fabs(d) > worst)
                    worst = fabs(d);
                if (isfinite(e) && fabs(e) > largest)
                    largest = fabs(e);
            }
        }
    }

    for (int y = 0; y < picture.height; y++) {
        uint8_t *out = image_row(&picture, y);

        for (int x = 0; x < picture.width; x++, out += 3) {
            const int from_x = x / factor, from_y = y / factor;
            double most = 0, gray = 0;
            bool lost = false;

            for (int c = 0; c < channels; c++) {
                const double e = image_sample(expected, from_x, from_y, c);
                const double d = image_sample(actual, from_x, from_y, c) - e;
                const size_t i = ((size_t)from_y * (size_t)width + (size_t)from_x) * (size_t)channels + (size_t)c;

                lost |= !isfinite(d) || (evidence->unwritten && evidence->unwritten[i]);
                if (!(fabs(d) <= evidence->tolerance) && fabs(d) > fabs(most))
                    most = d;
                gray += isfinite(e) && largest > 0 ? fabs(e) / largest / channels : 0;
            }
            out[0] = out[1] = out[2] = (uint8_t)(60 * gray);
            if (lost) {
                out[0] = out[1] = 255;
                out[2] = 0;
            } else if (most != 0) {
                /* The square root keeps small differences visible beside large ones. */
                const uint8_t bright = (uint8_t)(90 + 165 * sqrt(fabs(most) / worst));

                out[0] = most > 0 ? bright : 0;
                out[1] = 0;
                out[2] = most > 0 ? 0 : bright;
            }
        }
    }
    TRY(image_save(&picture, path));
out:
    image_free(&picture);
    return status;
}
