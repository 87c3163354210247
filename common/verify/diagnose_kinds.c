#include "common/verify/diagnose_kinds.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* A table's rows in the order of all their columns, for finding the rows of one table in another. */
struct sorted_rows {
    const struct image *table;
    int count, *row;
};

static int compare_samples(const struct image *a, int row_a, const struct image *b, int row_b, double tolerance)
{
    for (int x = 0; x < a->width; x++) {
        const double difference = image_sample(a, x, row_a, 0) - image_sample(b, x, row_b, 0);

        if (!(fabs(difference) <= tolerance))
            return difference < 0 ? -1 : 1;
    }
    return 0;
}

static int compare_sorted(const void *left, const void *right, void *table)
{
    return compare_samples(table, *(const int *)left, table, *(const int *)right, 0);
}

static bool sort_rows(struct sorted_rows *rows, const struct image *table)
{
    rows->table = table;
    rows->count = slot_table_rows(table);
    rows->row = malloc((size_t)(rows->count + 1) * sizeof *rows->row);
    if (!rows->row)
        return false;
    for (int i = 0; i < rows->count; i++)
        rows->row[i] = i + 1;
    qsort_r(rows->row, (size_t)rows->count, sizeof *rows->row, compare_sorted, (void *)table);
    return true;
}

/* Which rows only one of two tables has. */
struct row_sets {
    int missing, extra;             /* how many */
    int first_missing, first_extra; /* the first of each, in its own table; 0: there is none */
};

static bool find_row_sets(const struct evidence *evidence, struct row_sets *sets)
{
    struct sorted_rows expected = {0}, actual = {0};
    const bool done = sort_rows(&expected, evidence->expected) && sort_rows(&actual, evidence->actual);

    memset(sets, 0, sizeof *sets);
    for (int e = 0, a = 0; done && (e < expected.count || a < actual.count);) {
        const int order = e == expected.count ? 1
                          : a == actual.count ? -1
                                              : compare_samples(expected.table, expected.row[e], actual.table,
                                                                actual.row[a], evidence->tolerance);

        if (order < 0) {
            sets->missing++;
            if (!sets->first_missing || expected.row[e] < sets->first_missing)
                sets->first_missing = expected.row[e];
        } else if (order > 0) {
            sets->extra++;
            if (!sets->first_extra || actual.row[a] < sets->first_extra)
                sets->first_extra = actual.row[a];
        }
        e += order <= 0;
        a += order >= 0;
    }
    free(expected.row);
    free(actual.row);
    return done;
}

/* "x 12, y 40, response 0.25" */
static void append_row(const struct evidence *evidence, const struct image *table, int row, char *text, size_t size)
{
    size_t used = strlen(text);

    for (int x = 0; x < table->width && evidence->columns && evidence->columns[x] && used < size; x++)
        used += (size_t)snprintf(text + used, size - used, "%s%s %.6g", x ? ", " : "", evidence->columns[x],
                                 image_sample(table, x, row, 0));
}

/* The rows of the right table that are not there, and those that should not be. */
static int name_rows(const struct evidence *evidence, const char *begin, const struct row_sets *sets, char *text,
                     size_t size)
{
    snprintf(text, size, "%s", begin);
    if (sets->missing) {
        snprintf(text + strlen(text), size - strlen(text), "%d row%s missing, first (", sets->missing,
                 sets->missing == 1 ? "" : "s");
        append_row(evidence, evidence->expected, sets->first_missing, text, size);
        snprintf(text + strlen(text), size - strlen(text), ")");
    }
    if (sets->extra) {
        snprintf(text + strlen(text), size - strlen(text), "%s%d too many, first (", sets->missing ? "; " : "",
                 sets->extra);
        append_row(evidence, evidence->actual, sets->first_extra, text, size);
        snprintf(text + strlen(text), size - strlen(text), ")");
    }
    return CERTAINTY_GOOD;
}

/* Whether the rows are right, and each stands `places` below its own place. */
static bool stand_below(const struct evidence *evidence, int rows, int places)
{
    int right = 0, seen = 0;

    for (int y = 1; y <= rows; y++) {
        if (y + places < 1 || y + places >= evidence->actual->height)
            continue;
        seen++;
        right += compare_samples(evidence->expected, y, evidence->actual, y + places, evidence->tolerance) == 0;
    }
    return seen >= 4 && right >= seen - 1; /* the last may have gone beyond the table */
}

int diagnose_table(const struct evidence *evidence, char *text, size_t size)
{
    const struct image *expected = evidence->expected;
    const double count = image_sample(evidence->actual, 0, 0, 0), right = image_sample(expected, 0, 0, 0);
    const int rows = right < expected->height - 1 ? (int)right : expected->height - 1;
    struct table_facts facts;
    struct row_sets sets;
    char begin[128];

    if (count != right) {
        snprintf(begin, sizeof begin, "the table counts %.0f, and there are %.0f: ", count, right);
        if (find_row_sets(evidence, &sets) && sets.missing + sets.extra > 0)
            return name_rows(evidence, begin, &sets, text, size);
        snprintf(text, size, "%ssome are %s", begin, count < right ? "lost" : "split, or are none");
        return CERTAINTY_GOOD;
    }
    collect_table(evidence, rows, &facts);
    if (facts.rows == rows && rows > 1 && facts.smallest == facts.largest) {
        snprintf(text, size, "%s: off by %+g in every row", facts.names, facts.smallest);
        return rows >= 4 ? CERTAINTY_SURE : CERTAINTY_GOOD;
    }
    if (facts.rows > 0 && (stand_below(evidence, rows, 1) || stand_below(evidence, rows, -1))) {
        snprintf(text, size, "the right rows, each one place too far %s: the index of the first is wrong",
                 stand_below(evidence, rows, 1) ? "down" : "up");
        return rows >= 8 ? CERTAINTY_SURE : CERTAINTY_GOOD;
    }
    if (facts.rows == 0) {
        snprintf(text, size, "the %d rows in use are right, what lies beside or below them is not", rows);
        return CERTAINTY_SURE;
    }
    if (strncmp(facts.names, evidence->columns[0], strlen(evidence->columns[0])) == 0) {
        if (find_row_sets(evidence, &sets) && sets.missing == 0) {
            snprintf(text, size, "the right %d rows in another order: %d stand elsewhere", rows, facts.rows);
            return rows >= 4 ? CERTAINTY_SURE : CERTAINTY_GOOD;
        }
        snprintf(begin, sizeof begin, "%d of %d rows begin with another %s: ", facts.rows, rows, evidence->columns[0]);
        return name_rows(evidence, begin, &sets, text, size);
    }
    if (facts.smallest == facts.largest && facts.rows == rows)
        snprintf(text, size, "%s: off by %+g in every row", facts.names, facts.smallest);
    else if (facts.largest == -1 && facts.smallest == -1)
        snprintf(text, size,
                 "%s: too small by 1 in %d of %d rows: rounding (truncated where it should be rounded?), or one is not "
                 "counted",
                 facts.names, facts.rows, rows);
    else if (fmax(-facts.smallest, facts.largest) <= 1)
        snprintf(text, size, "%s: off by 1 in %d of %d rows: rounding", facts.names, facts.rows, rows);
    else
        snprintf(text, size, "wrong in %d of %d rows: %s", facts.rows, rows, facts.signs);
    return rows >= 4 ? CERTAINTY_SURE : CERTAINTY_WEAK;
}

/* -------------------------------------------------------------------------------------------------- matrices */

/* Of a square matrix of real numbers whose diagonal is above 0, as where sums of squares lie: whether all of that is
 * too small, or too large. */
static bool diagonal_is_off(const struct evidence *evidence, char *text, size_t size)
{
    const double rounding = 1e-5;
    double smallest = INFINITY, largest = -INFINITY; /* of what the diagonal is times what it should be */

    if (evidence->expected->type != PIXEL_F32 && evidence->expected->type != PIXEL_F64)
        return false;
    for (int i = 0; i < evidence->expected->height; i++) {
        const double e = image_sample(evidence->expected, i, i, 0);

        if (e <= 0)
            return false;
        smallest = fmin(smallest, image_sample(evidence->actual, i, i, 0) / e);
        largest = fmax(largest, image_sample(evidence->actual, i, i, 0) / e);
    }
    if (largest < 1 - rounding)
        snprintf(text, size, "the diagonal is up to %.2g %% too small: sums leave something out", 100 * (1 - smallest));
    else if (smallest > 1 + rounding)
        snprintf(text, size, "the diagonal is up to %.2g %% too large: sums have something twice", 100 * (largest - 1));
    return largest < 1 - rounding || smallest > 1 + rounding;
}

int diagnose_matrix(const struct evidence *evidence, char *text, size_t size)
{
    const struct image *expected = evidence->expected, *actual = evidence->actual;
    const bool square = expected->width == expected->height && expected->width > 1;
    size_t wrong = 0, on = 0, below = 0, above = 0, columns = 0, swapped = 0;
    size_t of_zeros = 0; /* wrong samples that should be 0: no factor makes something of them */
    double smallest = INFINITY, largest = -INFINITY; /* of the ratios of all samples */
    int first_column = -1, last_column = -1;

    for (int x = 0; x < expected->width; x++) {
        bool any = false;

        for (int y = 0; y < expected->height; y++) {
            const double e = image_sample(expected, x, y, 0), a = image_sample(actual, x, y, 0);

            if (e != 0) {
                smallest = fmin(smallest, a / e);
                largest = fmax(largest, a / e);
            }
            if (fabs(a - e) <= evidence->tolerance)
                continue;
            any = true;
            wrong++;
            of_zeros += e == 0;
            on += x == y;
            below += y > x;
            above += y < x;
            swapped += square && fabs(a - image_sample(expected, y, x, 0)) <= evidence->tolerance;
        }
        if (!any)
            continue;
        columns++;
        first_column = first_column < 0 ? x : first_column;
        last_column = x;
    }
    if (square && on == wrong && 2 * on > (size_t)expected->width)
        snprintf(text, size, "only the diagonal is wrong (%zu of %d)", on, expected->width);
    else if (square && (below == wrong || above == wrong))
        snprintf(text, size, "only the half %s the diagonal is wrong: not computed, or not mirrored",
                 below == wrong ? "below" : "above");
    else if (square && swapped == wrong)
        snprintf(text, size, "transposed: row and column are exchanged");
    else if (wrong > 1 && largest == 0 && smallest == 0)
        snprintf(text, size, "every sample is 0 that should be something");
    else if (wrong > 1 && smallest > largest)
        snprintf(text, size, "every sample should be 0: something is not cleared, or added where nothing belongs");
    else if (wrong > 1 && of_zeros == 0 && largest - smallest <= 1e-6 * fabs(largest) && largest != 1)
        snprintf(text, size, "every sample is %.6g times what it should be", largest);
    else if (columns == 1 && expected->width > 1 && (wrong > 1 || expected->height == 1))
        snprintf(text, size, "only column %d of %d is wrong", first_column, expected->width);
    else if (first_column > 0 && last_column == expected->width - 1 &&
             columns == (size_t)(last_column - first_column + 1))
        snprintf(text, size, "columns %d to %d are wrong, those before are right", first_column, last_column);
    else if (square && diagonal_is_off(evidence, text, size))
        return CERTAINTY_GOOD;
    else
        return CERTAINTY_NONE;
    return wrong >= 4 ? CERTAINTY_SURE : CERTAINTY_GOOD;
}

/* Counters: whole numbers, none below 0, of which each row has the same sum, because each counts the same points. */
int diagnose_counts(const struct evidence *evidence, char *text, size_t size)
{
    const struct image *expected = evidence->expected, *actual = evidence->actual;
    size_t wrong = 0, too_small = 0;
    int wrong_rows = 0, first_wrong = expected->height;
    char several[16] = "";
    double of_row = 0, lost = 0, least = INFINITY,
           most = -INFINITY; /* what a row should have, what all and each lack */

    if (expected->type == PIXEL_F32 || expected->type == PIXEL_F64 || expected->width < 2 || expected->height < 2)
        return CERTAINTY_NONE;
    for (int y = 0; y < expected->height; y++) {
        const size_t before = wrong;
        double right = 0, lacks = 0;

        for (int x = 0; x < expected->width; x++) {
            const double e = image_sample(expected, x, y, 0), a = image_sample(actual, x, y, 0);

            if (e < 0 || a < 0)
                return CERTAINTY_NONE;
            wrong += a != e;
            too_small += a < e;
            lacks += e - a;
            right += e;
        }
        if (y > 0 && right != of_row)
            return CERTAINTY_NONE;
        of_row = right;
        if (wrong > before && wrong_rows++ == 0)
            first_wrong = y;
        lost += lacks;
        least = fmin(least, lacks);
        most = fmax(most, lacks);
    }
    const bool are_empty = lost >= of_row * wrong_rows;

    /* Of more rows than half the first may be right because there is nothing in them to get wrong: cos(0) rounds to
     * itself. */
    if (first_wrong > 0 && first_wrong + wrong_rows == expected->height &&
        (are_empty || 2 * wrong_rows <= expected->height)) {
        if (wrong_rows > 1)
            snprintf(several, sizeof several, "%d ", wrong_rows);
        snprintf(text, size, "only the last %sof %d rows%s: a loop that ends too early?", several, expected->height,
                 are_empty ? ", in which nothing is counted" : "");
    } else if (least == 0 && most == 0)
        snprintf(text, size,
                 "each row has the right sum: what is counted goes to wrong places in its row (rounding? an offset?)");
    else if (least == most)
        snprintf(text, size, "each of the %d rows counts %.0f too %s, of %.0f: %s", expected->height, fabs(least),
                 least > 0 ? "few" : "many", of_row,
                 least > 0 ? "not all is looked at, or counts are lost" : "counted twice, or not 0 in the beginning?");
    else if (too_small == wrong)
        snprintf(text, size,
                 "never too large, and %.2g %% of what is to be counted is missing: left out, or counts are lost",
                 100 * lost / of_row / expected->height);
    else if (too_small == 0)
        snprintf(text, size, "never too small, and %.0f too many in all: counted twice, or not 0 in the beginning?",
                 -lost);
    else
        return CERTAINTY_NONE;
    return wrong >= 16 ? CERTAINTY_SURE : CERTAINTY_GOOD;
}

/* ----------------------------------------------------------------------------------------------------- names */

bool diagnose_are_names(const struct evidence *evidence)
{
    const double most = 65535;

    for (int y = 0; y < evidence->expected->height; y++)
        for (int x = 0; x < evidence->expected->width; x++) {
            const double name = image_sample(evidence->actual, x, y, 0);

            if (name < 0 || name > most)
                return false;
        }
    return true;
}

/* Numbers that name something: where one stands for another, and how often, says more than by how much they differ. */
int diagnose_names(const struct evidence *evidence, char *text, size_t size)
{
    const struct image *expected = evidence->expected;
    size_t wrong = 0, higher = 0, same = 0;
    double right = 0, found = 0; /* of the first that is wrong */

    for (int y = 0; y < expected->height; y++)
        for (int x = 0; x < expected->width; x++) {
            const double e = image_sample(expected, x, y, 0), a = image_sample(evidence->actual, x, y, 0);

            if (a == e)
                continue;
            if (wrong++ == 0) {
                right = e;
                found = a;
            }
            higher += a > e;
            same += e == right && a == found;
        }
    snprintf(text, size, "%zu of %zu name another one, %.0f in place of %.0f %zu time%s%s", wrong,
             (size_t)expected->width * (size_t)expected->height, found, right, same, same == 1 ? "" : "s",
             higher == wrong && wrong >= 4 ? "; always a higher one (which of equal ones?)" : "");
    return CERTAINTY_GOOD;
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
