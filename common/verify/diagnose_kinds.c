#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/verify/diagnose.h"

/* ---------------------------------------------------------------------------------------------------- tables */

/* What is wrong below the first row. */
struct table_facts {
    int rows;                 /* that are wrong in the worst column */
    double smallest, largest; /* of the differences of wrong samples */
    char names[128];          /* "width, area": the wrong columns */
    char signs[192];          /* "width too small, area" */
};

static void collect_table(const struct evidence *evidence, int rows, struct table_facts *facts)
{
    size_t names = 0, signs = 0;

    *facts = (struct table_facts){.smallest = INFINITY, .largest = -INFINITY};
    for (int x = 0; x < evidence->expected->width && evidence->columns[x]; x++) {
        int too_small = 0, too_large = 0;

        for (int y = 1; y <= rows; y++) {
            const double difference =
                image_sample(evidence->actual, x, y, 0) - image_sample(evidence->expected, x, y, 0);

            too_small += difference < 0;
            too_large += difference > 0;
            facts->smallest = difference != 0 ? fmin(facts->smallest, difference) : facts->smallest;
            facts->largest = difference != 0 ? fmax(facts->largest, difference) : facts->largest;
        }
        if (too_small + too_large == 0)
            continue;
        facts->rows = too_small + too_large > facts->rows ? too_small + too_large : facts->rows;
        if (names < sizeof facts->names)
            names += (size_t)snprintf(facts->names + names, sizeof facts->names - names, "%s%s", names ? ", " : "",
                                      evidence->columns[x]);
        if (signs < sizeof facts->signs)
            signs += (size_t)snprintf(facts->signs + signs, sizeof facts->signs - signs, "%s%s%s", signs ? ", " : "",
                                      evidence->columns[x],
                                      too_large == 0   ? " too small"
                                      : too_small == 0 ? " too large"
                                                       : "");
    }
}

int diagnose_table(const struct evidence *evidence, char *text, size_t size)
{
    const struct image *expected = evidence->expected;
    const double count = image_sample(evidence->actual, 0, 0, 0), right = image_sample(expected, 0, 0, 0);
    const int rows = right < expected->height - 1 ? (int)right : expected->height - 1;
    struct table_facts facts;

    if (count != right) {
        snprintf(text, size, "the table counts %.0f, and there are %.0f: some are %s", count, right,
                 count < right ? "lost" : "split, or are none");
        return CERTAINTY_GOOD;
    }
    collect_table(evidence, rows, &facts);
    if (facts.rows == 0) {
        snprintf(text, size, "the %d rows in use are right, what lies beside or below them is not", rows);
        return CERTAINTY_SURE;
    }
    if (strncmp(facts.names, evidence->columns[0], strlen(evidence->columns[0])) == 0) {
        snprintf(text, size, "%d of %d rows begin with another %s: not the same rows, or in another order", facts.rows,
                 rows, evidence->columns[0]);
        return CERTAINTY_GOOD;
    }
    if (facts.smallest == facts.largest && facts.rows == rows)
        snprintf(text, size, "%s: off by %+g in every row", facts.names, facts.smallest);
    else if (facts.largest == -1 && facts.smallest == -1)
        snprintf(text, size, "%s: too small by 1 in %d of %d rows: rounding (truncated where it should be rounded?)",
                 facts.names, facts.rows, rows);
    else if (fmax(-facts.smallest, facts.largest) <= 1)
        snprintf(text, size, "%s: off by 1 in %d of %d rows: rounding", facts.names, facts.rows, rows);
    else
        snprintf(text, size, "wrong in %d of %d rows: %s", facts.rows, rows, facts.signs);
    return rows >= 4 ? CERTAINTY_SURE : CERTAINTY_WEAK;
}

/* ---------------------------------------------------------------------------------------------------- labels */

static int32_t label_at(const struct image *image, int x, int y)
{
    return ((const int32_t *)image_row(image, y))[x];
}

/* Where two neighbours of one component have two labels. */
struct seams {
    size_t straight, diagonal;
    int x, y;                     /* the first: of the later pixel of the two */
    unsigned columns_or, rows_or; /* all x between side by side, all y between one below the other, or-ed */
};

static struct seams find_seams(const struct evidence *evidence)
{
    static const int dx[4] = {-1, 0, -1, 1}, dy[4] = {0, -1, -1, -1};
    const struct image *expected = evidence->expected, *actual = evidence->actual;
    struct seams seams = {0};

    for (int y = 0; y < expected->height; y++)
        for (int x = 0; x < expected->width; x++)
            for (int k = 0; k < 4; k++) {
                const int u = x + dx[k], v = y + dy[k];

                if (u < 0 || u >= expected->width || v < 0 || label_at(expected, x, y) == 0 ||
                    label_at(expected, x, y) != label_at(expected, u, v) ||
                    label_at(actual, x, y) == label_at(actual, u, v))
                    continue;
                if (seams.straight + seams.diagonal == 0) {
                    seams.x = x;
                    seams.y = y;
                }
                seams.straight += k < 2;
                seams.diagonal += k >= 2;
                seams.columns_or |= k == 0 ? (unsigned)x : 0;
                seams.rows_or |= k == 1 ? (unsigned)y : 0;
            }
    return seams;
}

/* The largest power of two, at most 128, that divides all numbers or-ed into `all`; 0: there are none. */
static int common_tile(unsigned all)
{
    return all ? 1 << (__builtin_ctz(all) < 7 ? __builtin_ctz(all) : 7) : 0;
}

/* One label in several components: *x, *y is a pixel of the second. Labels that the image cannot have are left out. */
static bool find_joined(const struct evidence *evidence, int *x, int *y)
{
    const struct image *expected = evidence->expected;
    const int32_t largest = expected->width * expected->height;
    int32_t *owner = calloc((size_t)largest + 1, sizeof *owner);
    bool found = false;

    for (int v = 0; owner && v < expected->height && !found; v++)
        for (int u = 0; u < expected->width && !found; u++) {
            const int32_t label = label_at(evidence->actual, u, v), component = label_at(expected, u, v);

            if (label < 1 || label > largest || component == 0)
                continue;
            if (owner[label] == 0)
                owner[label] = component;
            found = owner[label] != component;
            *x = u;
            *y = v;
        }
    free(owner);
    return found;
}

int diagnose_labels(const struct evidence *evidence, char *text, size_t size)
{
    const struct image *expected = evidence->expected;
    size_t foreground = 0, unlabelled = 0, ground = 0, same = 0;
    int32_t offset = 0;
    int x, y;

    for (int v = 0; v < expected->height; v++)
        for (int u = 0; u < expected->width; u++) {
            const int32_t right = label_at(expected, u, v), label = label_at(evidence->actual, u, v);

            ground += right == 0 && label != 0;
            if (right == 0)
                continue;
            if (foreground++ == 0)
                offset = (int32_t)((uint32_t)label - (uint32_t)right);
            same += (uint32_t)label - (uint32_t)right == (uint32_t)offset;
            unlabelled += label == 0;
        }
    if (ground == 0 && same == foreground) {
        snprintf(text, size, "the components are right, and every label is off by %+d", offset);
        return CERTAINTY_SURE;
    }
    if (ground > 0 || unlabelled > 0) {
        snprintf(text, size, "%zu pixels of the foreground are 0, %zu of the background are not", unlabelled, ground);
        return CERTAINTY_GOOD;
    }

    const struct seams seams = find_seams(evidence);
    const int tile_x = common_tile(seams.columns_or), tile_y = common_tile(seams.rows_or);

    if (seams.straight == 0 && seams.diagonal > 0) {
        snprintf(text, size, "components are split where they touch at corners only: diagonals are not followed");
        return CERTAINTY_GOOD;
    }
    if (seams.straight >= 4 && tile_x != 1 && tile_x != 2 && tile_y != 1 && tile_y != 2) {
        snprintf(text, size, "components are split");
        if (tile_x)
            snprintf(text + strlen(text), size - strlen(text), " at every %dth column", tile_x);
        if (tile_y)
            snprintf(text + strlen(text), size - strlen(text), "%s at every %dth row", tile_x ? " and" : "", tile_y);
        snprintf(text + strlen(text), size - strlen(text), ": what meets at the borders of tiles is not joined");
        return CERTAINTY_SURE;
    }
    if (seams.straight > 0) {
        snprintf(text, size, "components are split: neighbours that belong together have two labels, first at (%d,%d)",
                 seams.x, seams.y);
        return CERTAINTY_GOOD;
    }
    if (find_joined(evidence, &x, &y)) {
        snprintf(text, size, "different components have one label, first seen at (%d,%d): too much is joined", x, y);
        return CERTAINTY_GOOD;
    }
    snprintf(text, size, "the components are right, but not labelled by their first pixel");
    return CERTAINTY_SURE;
}
