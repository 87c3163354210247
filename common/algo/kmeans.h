/*
 * kmeans.h: k-means clustering, the contract of every version in cpu/kmeans, cuda/kmeans and peers/kmeans.
 *
 * Input    rows: a tensor, u8, u16 or f32, of rows with F features each: height x width rows of `channels` features,
 *          or, of an array of 1 channel, `height` rows of `width` features. F from 1 to 1024, N = 1 to 2^31-1 rows, at
 *          least k. f32 samples are finite.
 * Output   centroids  f32 matrix of k x F
 *          labels     i32 matrix, one for each row, 0 to k-1, arranged as the rows are
 *          inertia    f64 matrix of iterations + 1 rows and 1 column: the sum of squared distances after each
 *                     assignment; behind the last one its value again. It never rises, but where an empty cluster was
 *                     filled.
 *
 * Formula  All of it is in integers, X = x * 2^s, so that every version gives the same bits: s = 6 for u8 and u16; for
 *          f32 the s with 2^21 <= max |X| < 2^22 (0 when all are 0), and X is rounded to the nearest integer, half to
 *          even. With centroids C_1 ... C_k and D(i, j) = SUM (X_i - C_j)^2 over the features:
 *
 *          start    rows: C_j = X of row floor(j N / k), j = 0 ... k-1.
 *                   plusplus: the first is kmeans_first_row(); the next one a row with
 *                   probability proportional to D(i), its squared distance to the nearest that there is: the row with
 *                   the smallest E(i) / D(i), ties to the lower, E(i) being exponentially distributed (kmeans_wait()).
 *                   Rows with D(i) = 0 do not count; when there is no other, it is row floor(j N / k).
 *          assign   label(i) = the j with the smallest D(i, j), ties to the lower.
 *          update   C_j = floor((SUM X_i + floor(n / 2)) / n) over the n rows with label j. A cluster without rows
 *                   takes the row that is farthest from its own centroid; the next such cluster the next farthest row,
 *                   ties to the lower; that row's label stays until the next assignment.
 *          stop     after `iterations` updates, or once no centroid moves farther than `tolerance`; then one more
 *                   assignment.
 *
 *          Mini-batches (batch > 0): an update takes `batch` rows drawn with replacement, place p of update t being
 *          kmeans_drawn_row(), in place of all. n and SUM X_i of a cluster go on over all batches, so that a centroid
 *          is the mean of every row that was ever drawn for it: the same as Sculley's step of 1 / n for each row, in
 *          integers. A cluster for which no row was drawn yet keeps its centroid. The last assignment is of all rows;
 *          the inertia of those before it is that of the batch, in which it may rise.
 *
 *          attempts: so many starts with other numbers; the one with the smallest final inertia, ties to the earlier.
 *          The output is C * 2^-s, exact in f32.
 *
 * Parameters   k           1 to 256, default 16
 *              iterations  1 to 10000, default 10
 *              tolerance   >= 0, in the unit of the features, default 0
 *              start       plusplus (default) or rows
 *              seed        of the start, default 1
 *              attempts    1 to 16, default 1
 *              batch       rows of an update, 0 (default): all; up to 65536. Versions that only take all rows decline
 *                          others with a reason.
 *              type        u16 (default), u8 or f32: the samples of rows that are made up; a file has its own
 *
 * Errors   another type, F above 1024, fewer rows than k, NaN or infinity: STATUS_BAD_INPUT.
 *
 * Source   S. Lloyd, Least squares quantization in PCM, IEEE Transactions on Information Theory 28(2), 1982; D. Arthur,
 *          S. Vassilvitskii, k-means++: the advantages of careful seeding, SODA 2007; the race of exponentials: P.
 *          Efraimidis, P. Spirakis, Weighted random sampling with a reservoir, Information Processing Letters 97(5),
 *          2006; mini-batches: D. Sculley, Web-scale k-means clustering, WWW 2010.
 */
#ifndef RUNGS_KMEANS_H
#define RUNGS_KMEANS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/contract/registry.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { KMEANS_MAX_K = 256, KMEANS_MAX_FEATURES = 1024, KMEANS_SHIFT = 6 };
enum { KMEANS_PLUSPLUS, KMEANS_ROWS };
enum { KMEANS_CENTROIDS, KMEANS_LABELS, KMEANS_INERTIA };

struct kmeans_params {
    int k, iterations, start, seed, attempts, type, batch;
    double tolerance;
};

static HOST_DEVICE inline int kmeans_features(const struct image *in)
{
    return in->channels == 1 ? in->width : in->channels;
}

static HOST_DEVICE inline int64_t kmeans_row_count(const struct image *in)
{
    return in->channels == 1 ? in->height : (int64_t)in->width * in->height;
}

/* The first sample of a row; works for device pointers too. */
static HOST_DEVICE inline const void *kmeans_row(const struct image *in, int64_t row)
{
    const size_t size = in->type == PIXEL_U8 ? 1 : in->type == PIXEL_U16 ? 2 : 4;

    if (in->channels == 1)
        return image_row(in, (int)row);
    return (const char *)image_row(in, (int)(row / in->width)) +
           (size_t)(row % in->width) * (size_t)in->channels * size;
}

/* What the rows' numbers of one cluster are drawn from, and the number of a row: splitmix64, twice. */
static HOST_DEVICE inline uint64_t kmeans_mixed(uint64_t u)
{
    u += 0x9e3779b97f4a7c15u;
    u = (u ^ u >> 30) * 0xbf58476d1ce4e5b9u;
    u = (u ^ u >> 27) * 0x94d049bb133111ebu;
    return u ^ u >> 31;
}

static HOST_DEVICE inline uint64_t kmeans_stream(int seed, int attempt, int cluster)
{
    return kmeans_mixed(((uint64_t)seed << 32) + (uint64_t)attempt * KMEANS_MAX_K + (uint64_t)cluster);
}

static HOST_DEVICE inline uint64_t kmeans_number(uint64_t stream, int64_t row)
{
    return kmeans_mixed(stream + (uint64_t)row * 0xd1342543de82ef95u);
}

/* -log2(u 2^-64), with 20 fractional bits. */
static HOST_DEVICE inline uint32_t kmeans_wait_of(uint64_t u)
{
    uint64_t square;
    uint32_t result, mantissa;
    int whole = 0;

    while (whole < 63 && !(u >> 63)) {
        u <<= 1;
        whole++;
    }
    mantissa = (uint32_t)(u >> 32) | 0x80000000u; /* 1 to 2, with 31 fractional bits; its logarithm bit by bit */
    result = (uint32_t)(whole + 1) << 20;
    for (int bit = 19; bit >= 0; bit--) {
        square = (uint64_t)mantissa * mantissa >> 31;
        if (square >> 32) {
            result -= 1u << bit;
            square >>= 1;
        }
        mantissa = (uint32_t)square;
    }
    return result;
}

/* E(row): a number of 20 fractional bits, at least 1, distributed as the waiting time -log2(u) for a u between 0 and 1
 * that depends on all four arguments. */
static HOST_DEVICE inline uint32_t kmeans_wait(int seed, int attempt, int cluster, int64_t row)
{
    return kmeans_wait_of(kmeans_number(kmeans_stream(seed, attempt, cluster), row));
}

/* The row of the first centroid of k-means++. */
static HOST_DEVICE inline int64_t kmeans_first_row(int seed, int attempt, int64_t rows)
{
    return (int64_t)(((uint64_t)kmeans_wait(seed, attempt, 0, 0) << 12 & 0xffffffff) * (uint64_t)rows >> 32);
}

/* The row at a place of an update's batch. */
static HOST_DEVICE inline int64_t kmeans_drawn_row(int seed, int attempt, int update, int batch, int place,
                                                   int64_t rows)
{
    const uint64_t stream = kmeans_mixed(~kmeans_stream(seed, attempt, 0));

    return (int64_t)((kmeans_number(stream, (int64_t)update * batch + place) >> 32) * (uint64_t)rows >> 32);
}

static inline const char *kmeans_all_rows(const struct image in[], const void *params)
{
    (void)in;
    return ((const struct kmeans_params *)params)->batch > 0 ? "it takes all rows, not mini-batches" : NULL;
}

/* s of f32 samples whose largest magnitude is this. */
static HOST_DEVICE inline int kmeans_shift(float largest)
{
    int exponent = 0;

    if (largest > 0)
        frexpf(largest, &exponent);
    return largest > 0 ? 22 - exponent : 0;
}

/* floor((sum + floor(n / 2)) / n) */
static HOST_DEVICE inline int32_t kmeans_mean(int64_t sum, int64_t n)
{
    const int64_t numerator = sum + n / 2, quotient = numerator / n;

    return (int32_t)(quotient - (numerator % n < 0));
}

/* A sum of squares of X as an f64 in the unit of the samples: the same everywhere, for only the lower word is
 * rounded. */
__extension__ typedef __int128 kmeans_wide;
static HOST_DEVICE inline double kmeans_unscaled(kmeans_wide squares, int shift)
{
    double value = (double)(uint64_t)(squares >> 64) * 18446744073709551616.0 + (double)(uint64_t)squares;

    for (int i = 0; i < 2 * shift; i++)
        value *= 0.5;
    for (int i = 0; i < -2 * shift; i++)
        value *= 2;
    return value;
}

/* ---------------------------------------------------------------------------------------- for host versions */

/* The rows of one call. */
struct kmeans_rows {
    const struct image *in;
    int64_t count;
    int features;
    int shift;      /* s; X = x * 2^shift */
    int32_t *fixed; /* X, count x features */
    /* u8 or u16 with (largest sum of a row) * (largest sample) < 2^18: then samples are at most 511 and C below 2^15,
     * and D(i, j) - |X_i|^2 = |C_j|^2 - 128 x_i C_j is a number of 32 bits, whatever overflows on the way. */
    bool small;
};

/* One assignment, of all rows or of a batch, which is one of its own: first, with fewer rows. labels, sums and counts
 * are those of the assignment before, for versions that change them only where a row moved; with first they hold
 * nothing yet. */
struct kmeans_assignment {
    const struct kmeans_rows *rows;
    const int32_t *centroids; /* k x features, C */
    int k;
    bool first;
    int32_t *labels;
    int64_t *sums, *counts; /* of X, k x features; k */
    const int64_t *drawn;   /* a mini-batch of kmeans_solve_drawn(): the numbers of its rows; else NULL */
    uint64_t *squares;      /* with drawn: |X|^2 of each, to be filled */
    void *state;            /* the version's */
};

/* The number of the row at a place of the assignment. */
static inline int64_t kmeans_row_at(const struct kmeans_assignment *assignment, int64_t place)
{
    return assignment->drawn ? assignment->drawn[place] : place;
}

/* A version's part: fills labels, sums and counts. */
typedef enum status (*kmeans_assign)(void *state, const struct kmeans_assignment *assignment);

/* Everything else, with `fixed` made before the first assignment unless the rows are small and wants_fixed is not
 * set. */
enum status kmeans_solve(const struct image in[], struct image out[], const struct kmeans_params *params,
                         kmeans_assign assign, void *state, bool wants_fixed);
/* The same for a version that reads the rows of mini-batches where they lie: nothing is copied for it. */
enum status kmeans_solve_drawn(const struct image in[], struct image out[], const struct kmeans_params *params,
                               kmeans_assign assign, void *state);

/* Centroids of small rows in 16 bits, `lanes` of them side by side: pieces[group][pair][lane][2 features]; behind an
 * odd last feature there is a 0. norms[group][lane] is |C|^2, INT32_MAX for lanes beyond k. Both are aligned to 64
 * bytes. */
struct kmeans_table {
    int groups, pairs;
    int16_t *pieces;
    int32_t *norms;
};

/* A row of small samples in 16 bits with a 0 behind an odd last one: as it lies, or copied to room[features + 1]. */
const uint16_t *kmeans_narrow_row(const struct kmeans_rows *rows, int64_t row, uint16_t *room);

/* |C|^2 - 128 x C, whose sum wraps where it needs to. */
static HOST_DEVICE inline int32_t kmeans_score(int32_t norm, int32_t product)
{
    return (int32_t)((uint32_t)norm - ((uint32_t)product << (KMEANS_SHIFT + 1)));
}

/* A part of an assignment of small rows: labels of places first to last - 1, at most 2^12, so that their sums of x, in
 * partial[k x features], stay within 32 bits. */
typedef void (*kmeans_chunk)(const struct kmeans_assignment *assignment, const struct kmeans_table *table,
                             int64_t first, int64_t last, int32_t *partial, int64_t *counts);

/* A whole assignment: the threads share out chunks and add up what they give; rows that are not small go by the
 * definition. With differences, what a chunk gives is added to the sums and counts of the assignment before. */
enum status kmeans_assign_chunks(const struct kmeans_assignment *assignment, kmeans_chunk chunk, int lanes,
                                 bool differences);

#ifdef __cplusplus
}
#endif
#endif
