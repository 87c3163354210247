#include "common/verify/marks.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum status marks_create(struct marks *marks, int width, int height)
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

void marks_free(struct marks *marks)
{
    free(marks->pixel);
    free(marks->column);
    free(marks->row);
}

void marks_add(struct marks *marks, int x, int y)
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
    /* Many of the last rows are most of each column, and are no columns. */
    if (y0 > 0 && marks->top >= y0)
        x0 = marks->width;
    else if (x0 > 0 && marks->left >= x0)
        y0 = marks->height;
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
    enum { SMALL_TILE = 16 };
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

    /* Where the border is most of the image, lying in it means little; where a tile begins that near to the border, and
     * only there, it may be the halo. */
    const double inside = (double)(width - 2 * radius) * (height - 2 * radius) / ((double)width * height);
    const bool tile = (near[RIGHT] && !near[LEFT] && (width - 1) % SMALL_TILE < radius) ||
                      (near[BOTTOM] && !near[TOP] && (height - 1) % SMALL_TILE < radius);

    return inside >= 0.4 && !tile ? CERTAINTY_SURE : inside >= 0.1 ? CERTAINTY_GOOD : CERTAINTY_WEAK;
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
    if (!x.size && y.size <= 4 && y.first == y.last) {
        append(text, size, "only every %s row (y mod %d = %d): the steps of the loop over the rows",
               y.size == 2 ? "second" : "fourth", y.size, y.first);
        return y.lines >= 8 ? CERTAINTY_SURE : y.lines >= 4 ? CERTAINTY_GOOD : CERTAINTY_WEAK;
    }
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

    /* Three periods along both axes also tell a tile from a strip; where a halo covers most of the tile, one axis may
     * go unnoticed. */
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
    if (width == marks->width && marks->top == 0) {
        append(text, size, height == 1 ? "only the first row (y = 0)" : "only the first %d rows (y < %d)", height,
               height);
        return CERTAINTY_WEAK;
    }
    if (height == marks->height && marks->left == 0) {
        append(text, size, width == 1 ? "only the first column (x = 0)" : "only the first %d columns (x < %d)", width,
               width);
        return CERTAINTY_WEAK;
    }
    append(text, size, "only in x %d..%d, y %d..%d", marks->left, marks->right, marks->top, marks->bottom);
    if (width == marks->width)
        append(text, size, " (%d whole row%s)", height, plural(height));
    else if (height == marks->height)
        append(text, size, " (%d whole column%s)", width, plural(width));
    else
        append(text, size, " (%dx%d of %dx%d pixels)", width, height, marks->width, marks->height);
    return CERTAINTY_WEAK;
}

int marks_find_region(const struct marks *marks, bool is_picture, int radius, int channels, char *text, size_t size)
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
    if (certainty == CERTAINTY_NONE && is_picture)
        certainty = find_lattice(marks, text, size);
    if (certainty == CERTAINTY_NONE)
        certainty = find_box(marks, text, size);
    return certainty;
}
