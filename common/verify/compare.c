#include "common/verify/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int compare_margin(const struct version *version, int slot, const void *params)
{
    const struct algorithm *algorithm = version->algorithm;

    if (!version->compare_interior || !algorithm->radius || algorithm->outputs[slot].kind != SLOT_PICTURE)
        return 0;
    return algorithm->radius(params);
}

/* ---------------------------------------------------------------------------------------------- canonical form */

static int find_column(const struct named_slot *slot, const char *name)
{
    for (int i = 0; name && slot->columns && slot->columns[i]; i++)
        if (strcmp(slot->columns[i], name) == 0)
            return i;
    return -1;
}

/* What qsort() cannot be told otherwise: how the rows are to be compared. */
static _Thread_local const struct image *sorted_table;

static int compare_rows(const void *left, const void *right)
{
    const int a = *(const int *)left, b = *(const int *)right;

    for (int x = 0; x < sorted_table->width; x++) {
        const double p = image_sample(sorted_table, x, a, 0), q = image_sample(sorted_table, x, b, 0);

        if (p != q)
            return p < q ? -1 : 1;
    }
    return a - b;
}

/* Sorts the rows in use by all their columns: those with the same value in column `key`, which stand together, among
 * each other; all of them when key is -1. */
static enum status sort_rows(struct image *table, int key)
{
    const int rows = slot_table_rows(table);
    const size_t row_bytes = image_row_bytes(table);
    int *order = malloc((size_t)(rows + 1) * sizeof *order);
    char *sorted = malloc((size_t)(rows + 1) * row_bytes);

    if (!order || !sorted) {
        free(order);
        free(sorted);
        return status_set(STATUS_NO_MEMORY, "no memory to compare a table of %d rows", rows);
    }
    for (int i = 0; i < rows; i++)
        order[i] = i + 1;
    sorted_table = table;
    for (int begin = 0, end; begin < rows; begin = end) {
        for (end = begin + 1; end < rows; end++)
            if (key >= 0 && image_sample(table, key, order[end], 0) != image_sample(table, key, order[begin], 0))
                break;
        qsort(order + begin, (size_t)(end - begin), sizeof *order, compare_rows);
    }
    for (int i = 0; i < rows; i++)
        memcpy(sorted + (size_t)i * row_bytes, image_row(table, order[i]), row_bytes);
    for (int i = 0; i < rows; i++)
        memcpy(image_row(table, i + 1), sorted + (size_t)i * row_bytes, row_bytes);
    free(order);
    free(sorted);
    return STATUS_OK;
}

/* Turns each column of `actual` so that its product with the expected one is not negative. */
static void turn_columns(const struct image *expected, struct image *actual)
{
    for (int x = 0; x < actual->width; x++) {
        double product = 0;

        for (int y = 0; y < actual->height; y++)
            product += image_sample(expected, x, y, 0) * image_sample(actual, x, y, 0);
        for (int y = 0; y < actual->height && product < 0; y++) {
            if (actual->type == PIXEL_F64)
                ((double *)image_row(actual, y))[x] *= -1;
            else if (actual->type == PIXEL_F32)
                ((float *)image_row(actual, y))[x] *= -1;
        }
    }
}

enum status compare_canonical_expected(const struct algorithm *algorithm, struct image expected[])
{
    enum status status = STATUS_OK;

    for (int slot = 0; slot < algorithm->output_count; slot++) {
        const struct comparison *comparison = &algorithm->outputs[slot].comparison;

        if (expected[slot].data && comparison->up_to_order)
            TRY(sort_rows(&expected[slot], find_column(&algorithm->outputs[slot], comparison->key)));
    }
out:
    return status;
}

void compare_turn_columns(const struct algorithm *algorithm, const struct image expected[], struct image actual[])
{
    for (int slot = 0; slot < algorithm->output_count; slot++)
        if (actual[slot].data && algorithm->outputs[slot].comparison.up_to_sign)
            turn_columns(&expected[slot], &actual[slot]);
}

enum status compare_canonical(const struct version *version, const struct image in[], const void *params,
                              const struct image expected[], struct image actual[])
{
    const struct algorithm *algorithm = version->algorithm;
    enum status status = STATUS_OK;

    if (version->normalise)
        version->normalise(in, actual, params);
    TRY(compare_canonical_expected(algorithm, actual));
    compare_turn_columns(algorithm, expected, actual);
out:
    return status;
}

/* ----------------------------------------------------------------------------------------------------- comparing */

/* A part of a slot. */
struct area {
    int left, top, right, bottom;
};

static double largest_magnitude(const struct image *image, struct area area)
{
    double largest = 0;

    for (int y = area.top; y < area.bottom; y++)
        for (int x = area.left; x < area.right; x++)
            for (int c = 0; c < image->channels; c++)
                largest = fmax(largest, fabs(image_sample(image, x, y, c)));
    return largest;
}

static bool is_float(const struct image *image)
{
    return image->type == PIXEL_F32 || image->type == PIXEL_F64;
}

static void compare_property(const struct comparison *comparison, const struct image in[], const void *params,
                             const struct image expected[], const struct image actual[], size_t unwritten,
                             struct slot_difference *difference)
{
    const struct property_case item = {.in = in, .expected = expected, .actual = actual, .params = params};

    difference->samples = 1;
    difference->worst = comparison->property(&item);
    difference->wrong = unwritten > 0 || !(difference->worst <= difference->tolerance);
}

/* Adds what differs in one area to *difference. */
static void compare_area(const struct image *e, const struct image *a, struct area area, double tolerance,
                         const uint8_t *unwritten, struct slot_difference *difference)
{
    /* NaN in the reference must fail too, so equal bytes of floats prove nothing. */
    const bool bytes_decide = !unwritten && area.left == 0 && area.right == e->width && !is_float(e);

    for (int y = area.top; y < area.bottom; y++) {
        if (bytes_decide && memcmp(image_row(e, y), image_row(a, y), image_row_bytes(e)) == 0)
            continue;
        for (int x = area.left; x < area.right; x++) {
            for (int c = 0; c < e->channels; c++) {
                const size_t i = ((size_t)y * (size_t)e->width + (size_t)x) * (size_t)e->channels + (size_t)c;
                const double distance = fabs(image_sample(e, x, y, c) - image_sample(a, x, y, c));

                if (!(distance <= tolerance) || (unwritten && unwritten[i]))
                    difference->wrong++;
                if (!isnan(difference->worst) && !(distance <= difference->worst)) {
                    difference->worst = distance;
                    difference->x = x;
                    difference->y = y;
                    difference->channel = c;
                }
            }
        }
    }
}

/* The number of rows is never within a tolerance, but of a peer whose results are not compared, and each column has a
 * unit of its own. */
static void compare_table(const struct comparison *comparison, double share, const struct image *e,
                          const struct image *a, const uint8_t *unwritten, struct slot_difference *difference)
{
    double smallest = INFINITY;

    compare_area(e, a, (struct area){0, 0, e->width, 1}, share >= COMPARE_ANY_RESULT ? share : 0, unwritten,
                 difference);
    difference->tolerance = difference->wrong ? 0 : share;
    if (!comparison->relative || share == 0) {
        compare_area(e, a, (struct area){0, 1, e->width, e->height}, share, unwritten, difference);
        return;
    }
    for (int x = 0; x < e->width; x++) {
        const struct area column = {x, 1, x + 1, e->height};
        const double tolerance = share * largest_magnitude(e, column);

        smallest = fmin(smallest, tolerance);
        compare_area(e, a, column, tolerance, unwritten, difference);
    }
    if (difference->tolerance > 0)
        difference->tolerance = smallest;
}

void compare_slot(const struct version *version, int slot, const struct image in[], const void *params,
                  const struct image expected[], const struct image actual[], const uint8_t *unwritten,
                  struct slot_difference *difference)
{
    const struct named_slot *named = &version->algorithm->outputs[slot];
    const struct comparison *comparison = &named->comparison;
    const struct image *e = &expected[slot], *a = &actual[slot];
    const int margin = compare_margin(version, slot, params), channels = e->channels;
    const double share = fmax(comparison->tolerance, version->tolerance);
    const struct area whole = {0, 0, e->width, e->height};

    memset(difference, 0, sizeof *difference);
    if (!e->data)
        return;
    difference->tolerance = share;
    if (comparison->property) {
        size_t lost = 0;

        for (size_t i = 0; unwritten && i < (size_t)e->width * (size_t)e->height * (size_t)channels; i++)
            lost += unwritten[i];
        compare_property(comparison, in, params, expected, actual, lost, difference);
        return;
    }
    difference->samples = (size_t)(e->width - 2 * margin) * (size_t)(e->height - 2 * margin) * (size_t)channels;
    if (named->kind == SLOT_TABLE) {
        compare_table(comparison, share, e, a, unwritten, difference);
        return;
    }
    if (comparison->relative && share > 0)
        difference->tolerance *= largest_magnitude(e, whole);
    compare_area(e, a, (struct area){margin, margin, e->width - margin, e->height - margin}, difference->tolerance,
                 unwritten, difference);
}

bool compare_agrees(const struct version *version, const struct image in[], const void *params, struct image expected[],
                    struct image actual[], double *worst)
{
    bool agree = compare_canonical_expected(version->algorithm, expected) == STATUS_OK &&
                 compare_canonical(version, in, params, expected, actual) == STATUS_OK;

    for (int slot = 0; agree && slot < version->algorithm->output_count; slot++) {
        struct slot_difference difference;

        compare_slot(version, slot, in, params, expected, actual, NULL, &difference);
        agree = difference.wrong == 0;
        if (worst && !(difference.worst <= *worst))
            *worst = difference.worst;
    }
    return agree;
}
