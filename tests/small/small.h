/*
 * small.h: small algorithms for tests of the command line, with inputs and outputs of every kind, a model and a
 * training. They are in no ladder: build/rungs-small alone has them (algorithms.c).
 */
#ifndef RUNGS_SMALL_H
#define RUNGS_SMALL_H

#include "common/contract/registry.h"

/* spots: u8 picture -> table of the pixels above `level` (x, y, value; at most 8), f32 map of in / 4 (map=yes),
 * labels. */
enum { SPOTS_ROWS = 8 };
struct spots_params {
    int level, map;
};

/* gram: f64 matrix A -> A^T A. */
struct gram_params {
    int unused;
};

/* cube: tensor of any type and f32 matrix of one weight a band -> tensor of the same values in f64, weighted sum of
 * each pixel (matrix). */
struct cube_params {
    int unused;
};

/* lut: u8 picture -> each sample looked up in the model, a file of LUT_HEAD and 256 bytes. */
#define LUT_HEAD "LUT1"
struct lut_params {
    struct model table;
};

/* count: table -> matrix of one number, its rows in use. */
struct count_params {
    int unused;
};

#endif
