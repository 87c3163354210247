/*
 * slot.h: the named inputs and outputs of an algorithm, and how a result is compared with what it should be.
 *
 * A slot holds one struct image, whatever it means:
 *
 *     PICTURE   width x height pixels of `channels` samples
 *     LABELS    i32 or u32, 1 channel: 0 is background, other values name components; a fault in one place changes
 *               pixels far away
 *     TABLE     `columns` wide, 1 channel; the first sample of row 0 says how many of the rows below are in use, the
 *     rest
 *               of row 0 and all rows that are not in use are 0
 *     MATRIX    height x width, 1 channel: sample (x, y) is row y, column x; a vector is a matrix of one column
 *     TENSOR    height x width x channels, row-major like a .npy array of that shape: spectral cubes (channels =
 *     bands),
 *               histograms (channels = bins), rows of features
 *
 * A PICTURE or LABELS has at most IMAGE_MAX_SIDE pixels a side; the others may be far longer (image.h, array_create()).
 */
#ifndef RUNGS_SLOT_H
#define RUNGS_SLOT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/image/image.h"

#ifdef __cplusplus
extern "C" {
#endif

enum slot_kind { SLOT_PICTURE, SLOT_LABELS, SLOT_TABLE, SLOT_MATRIX, SLOT_TENSOR };

/* What a property is asked about: all slots, the expected ones by the reference. */
struct property_case {
    const struct image *in, *expected, *actual;
    const void *params;
};

/* When a result counts as right. All zero: every sample to the bit (NaN is never right). Versions are compared with the
 * reference; a larger tolerance of a peer (struct version) counts instead of this one. */
struct comparison {
    double tolerance; /* largest legal difference of a sample, or of the property; not of a table's row 0 */
    bool relative;    /* tolerance is a share of the largest magnitude in the expected slot, of a TABLE in the column */
    bool up_to_sign;  /* MATRIX: each column may come with the other sign (eigenvectors) */
    bool up_to_order; /* TABLE: rows with the same value in `key` may come in any order */
    const char *key;  /* TABLE, up_to_order: the column that fixes the order; NULL: any order of all rows is right */
    /* Instead of comparing samples: a number that must be at most `tolerance` (the residual of eigenvectors, the rise
     * of an error from one iteration to the next), computed from the inputs and this version's own outputs. NaN
     * fails. */
    double (*property)(const struct property_case *item);
    const char *property_name; /* "largest residual |R v - lambda v| / |R|" */
    bool
        near_reference; /* what has the property is the reference's but for rounding: a diagnosis may compare samples */
};

struct named_slot {
    const char *name; /* "response", as in -o response=FILE; NULL ends a list */
    enum slot_kind kind;
    enum pixel_type type;         /* of an input: what the harness makes */
    const char *help;             /* one line: meaning and unit; may be NULL */
    const char *const *columns;   /* TABLE: names, NULL-terminated */
    struct comparison comparison; /* of an output */
    /* Of an input: its pixels are a set, so that some may be left out; of an output: one sample for each of them. */
    bool pixels;
    bool names; /* MATRIX: its numbers name something, so that their differences mean nothing */
    /* An output as a picture (-o FILE.png): *picture is new, u8 with 1 or 3 channels. `in` are the inputs, in colour
     * where the algorithm got them turned to gray (draw_canvas() takes both), `out` all outputs. NULL: pictures as they
     * are, labels in colours, other kinds not at all. */
    enum status (*draw)(const struct image in[], const struct image out[], const void *params, struct image *picture);
};

/* "picture", "labels", "table", "matrix", "tensor". */
const char *slot_kind_name(enum slot_kind kind);

/* Rows of a table that are in use: its first sample, but never more than it has; 0 for what is no number. */
int slot_table_rows(const struct image *table);

#ifdef __cplusplus
}
#endif
#endif
