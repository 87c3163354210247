#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/algo/kmeans/rows.h"

struct solver {
    struct kmeans_rows rows;
    const struct kmeans_params *params;
    struct kmeans_assignment assignment;
    int32_t *centroids, *before;
    uint64_t *distances; /* of rows, where they are asked for */
    double *inertia;
    kmeans_wide squares;      /* SUM |X|^2 */
    struct mini_batch *batch; /* NULL: updates take all rows */
};

/* The rows of one update, copied or by their numbers, and what clusters have had of all batches. */
struct mini_batch {
    struct kmeans_rows rows;
    bool copies;
    struct image image; /* copies */
    int32_t *fixed;
    int64_t *drawn; /* or numbers */
    uint64_t *squares;
    int32_t *labels;
    int64_t *sums, *counts;
};

/* At most E of this number: the logarithm of 1 + m lies at most 0.0861 above m. */
static int32_t least_wait(uint64_t number)
{
    const int whole = number ? __builtin_clzll(number) : 63;
    const int32_t fraction = (int32_t)(number << whole >> 32 & 0x7fffffff); /* m, of 31 bits */

    return (whole + 1) * (1 << 20) - (fraction >> 11) - 90256;
}

/* The row with the smallest E / D, -1 when all D are 0. Most rows lose by the least that their E can be; then its
 * logarithm is not computed. */
static int64_t race(const struct solver *solver, int attempt, int cluster)
{
    const uint64_t stream = kmeans_stream(solver->params->seed, attempt, cluster);
    const double safe = 1 + 1e-12; /* above what the product and the quotient round */
    int64_t winner = -1;
    double best = INFINITY;

#pragma omp parallel
    {
        int64_t own_winner = -1;
        double own_best = INFINITY;
#pragma omp for schedule(static)
        for (int64_t i = 0; i < solver->rows.count; i++) {
            const double distance = (double)solver->distances[i];
            const uint64_t number = kmeans_number(stream, i);
            if (distance == 0 || (double)least_wait(number) >= own_best * distance * safe)
                continue;
            const double time = (double)kmeans_wait_of(number) / distance;
            if (time < own_best) {
                own_best = time;
                own_winner = i;
            }
        }
#pragma omp critical
        if (own_best < best || (own_best == best && own_winner < winner)) {
            best = own_best;
            winner = own_winner;
        }
    }
    return winner;
}

/* Distances of all rows to the nearest of centroids 0 to j, of which those before j are known; j is a row. A row keeps
 * its distance d to centroid c where j is at least 2 d from c, for then it is at least d from the row. labels are those
 * centroids meanwhile. */
static void shorten_distances(struct solver *solver, int j, int64_t row)
{
    const struct kmeans_rows *rows = &solver->rows;
    const int32_t *centroid = solver->centroids + j * rows->features;
    uint64_t quarters[KMEANS_MAX_K] = {0};

    for (int c = 0; c < j; c++) {
        uint64_t sum = 0;
        for (int f = 0; f < rows->features; f++) {
            const int64_t difference = solver->centroids[c * rows->features + f] - centroid[f];
            sum += (uint64_t)(difference * difference);
        }
        quarters[c] = sum / 4;
    }
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < rows->count; i++) {
        if (j > 0 && quarters[solver->assignment.labels[i]] >= solver->distances[i])
            continue;
        const uint64_t d = rows->small ? kmeans_rows_distance(rows, i, row) : kmeans_row_distance(rows, i, centroid);
        if (j == 0 || d < solver->distances[i]) {
            solver->distances[i] = d;
            solver->assignment.labels[i] = j;
        }
    }
}

static void start(struct solver *solver, int attempt)
{
    const struct kmeans_rows *rows = &solver->rows;
    const int k = solver->params->k;

    for (int j = 0; j < k; j++) {
        int64_t row = (int64_t)((uint64_t)j * (uint64_t)rows->count / (uint64_t)k);
        if (solver->params->start == KMEANS_PLUSPLUS) {
            const int64_t chosen =
                j == 0 ? kmeans_first_row(solver->params->seed, attempt, rows->count) : race(solver, attempt, j);
            row = chosen >= 0 ? chosen : row;
        }
        kmeans_row_take(rows, row, solver->centroids + j * rows->features);
        if (solver->params->start == KMEANS_PLUSPLUS && j + 1 < k)
            shorten_distances(solver, j, row);
    }
}

/* Clusters without rows take the farthest rows; `before` are the centroids that distances are from. */
static void fill_empty(struct solver *solver)
{
    const struct kmeans_rows *rows = &solver->rows;
    bool known = false;

    for (int j = 0; j < solver->params->k; j++) {
        int64_t farthest = 0;
        if (solver->assignment.counts[j] > 0)
            continue;
        if (!known) {
#pragma omp parallel for schedule(static)
            for (int64_t i = 0; i < rows->count; i++)
                solver->distances[i] =
                    1 + kmeans_row_distance(rows, i, solver->before + solver->assignment.labels[i] * rows->features);
        }
        known = true;
        for (int64_t i = 1; i < rows->count; i++)
            if (solver->distances[i] > solver->distances[farthest])
                farthest = i;
        solver->distances[farthest] = 0; /* taken */
        kmeans_row_take(rows, farthest, solver->centroids + j * rows->features);
    }
}

/* New centroids from the sums; whether one moved farther than the tolerance. */
static bool update(struct solver *solver)
{
    const int features = solver->rows.features;
    const double tolerance = ldexp(solver->params->tolerance, solver->rows.shift);
    bool moved = false;

    memcpy(solver->before, solver->centroids, sizeof *solver->before * (size_t)(solver->params->k * features));
    for (int j = 0; j < solver->params->k; j++) {
        const int64_t count = solver->assignment.counts[j], *sums = solver->assignment.sums + j * features;
        for (int f = 0; f < features && count > 0; f++)
            solver->centroids[j * features + f] = kmeans_mean(sums[f], count);
    }
    if (!solver->batch)
        fill_empty(solver);
    for (int j = 0; j < solver->params->k; j++) {
        uint64_t shift = 0;
        for (int f = 0; f < features; f++) {
            const int64_t d = solver->centroids[j * features + f] - solver->before[j * features + f];
            shift += (uint64_t)(d * d);
        }
        moved = moved || (double)shift > tolerance * tolerance;
    }
    return moved;
}

/* SUM D = SUM |X|^2 - SUM over the clusters of 2 S C - n |C|^2. */
static double inertia(const struct solver *solver)
{
    const int features = solver->rows.features;
    kmeans_wide total = solver->squares;

    for (int j = 0; j < solver->params->k; j++)
        for (int f = 0; f < features; f++) {
            const int64_t c = solver->centroids[j * features + f];
            total -=
                (2 * solver->assignment.sums[j * features + f] - solver->assignment.counts[j] * c) * (kmeans_wide)c;
        }
    return kmeans_unscaled(total, solver->rows.shift);
}

/* The sum of all squares is exact: of a row below 2^54. */
static kmeans_wide add_squares(const struct kmeans_rows *rows)
{
    uint64_t low = 0, high = 0;

#pragma omp parallel for schedule(static) reduction(+ : low, high)
    for (int64_t i = 0; i < rows->count; i++) {
        const uint64_t d = kmeans_row_distance(rows, i, kmeans_zeros);
        low += d & 0xffffffff;
        high += d >> 32;
    }
    return ((kmeans_wide)high << 32) + low;
}

static enum status make_batch(struct solver *solver)
{
    struct mini_batch *batch = solver->batch;
    const struct kmeans_rows *rows = &solver->rows;
    const size_t count = (size_t)solver->params->batch, size = (size_t)solver->params->k * (size_t)rows->features;
    enum status status = STATUS_OK;

    batch->rows = *rows;
    batch->rows.count = solver->params->batch;
    if (batch->copies) {
        TRY(array_create(&batch->image, rows->features, solver->params->batch, 1, rows->in->type));
        batch->rows.in = &batch->image;
        batch->rows.fixed = batch->fixed =
            rows->fixed ? malloc(count * (size_t)rows->features * sizeof *batch->fixed) : NULL;
    } else {
        batch->drawn = malloc(count * sizeof *batch->drawn);
        batch->squares = malloc(count * sizeof *batch->squares);
    }
    batch->labels = malloc(count * sizeof *batch->labels);
    batch->sums = malloc(size * sizeof *batch->sums);
    batch->counts = malloc((size_t)solver->params->k * sizeof *batch->counts);
    if ((rows->fixed && !batch->rows.fixed) || (!batch->copies && (!batch->drawn || !batch->squares)) ||
        !batch->labels || !batch->sums || !batch->counts)
        status = status_set(STATUS_NO_MEMORY, "no memory for batches of %d rows", solver->params->batch);
out:
    return status;
}

static void free_batch(struct mini_batch *batch)
{
    image_free(&batch->image);
    free(batch->fixed);
    free(batch->drawn);
    free(batch->squares);
    free(batch->labels);
    free(batch->sums);
    free(batch->counts);
}

static void draw_batch(struct solver *solver, int attempt, int update)
{
    struct mini_batch *batch = solver->batch;
    const struct kmeans_rows *rows = &solver->rows;
    const size_t features = (size_t)rows->features;

#pragma omp parallel for schedule(static) if (batch->copies)
    for (int place = 0; place < solver->params->batch; place++) {
        const int64_t row =
            kmeans_drawn_row(solver->params->seed, attempt, update, solver->params->batch, place, rows->count);
        if (!batch->copies) {
            batch->drawn[place] = row;
            continue;
        }
        memcpy(image_row(&batch->image, place), kmeans_row(rows->in, row), features * pixel_size(rows->in->type));
        if (rows->fixed)
            memcpy(batch->fixed + (size_t)place * features, rows->fixed + (size_t)row * features,
                   features * sizeof *rows->fixed);
    }
}

/* Draws a batch and assigns its rows; sums and counts are those of all batches of this attempt then. */
static enum status assign_batch(struct solver *solver, int attempt, int update, kmeans_assign assign, void *state)
{
    struct mini_batch *batch = solver->batch;
    struct kmeans_assignment *all = &solver->assignment, assignment = *all;
    const size_t size = (size_t)all->k * (size_t)solver->rows.features;
    enum status status = STATUS_OK;

    draw_batch(solver, attempt, update);
    assignment.rows = &batch->rows;
    assignment.labels = batch->labels;
    assignment.first = true;
    assignment.drawn = batch->drawn;
    assignment.squares = batch->squares;
    TRY(assign(state, &assignment));
    solver->squares = batch->copies ? add_squares(&batch->rows) : 0;
    for (int place = 0; place < solver->params->batch && !batch->copies; place++)
        solver->squares += batch->squares[place];
    solver->inertia[update] = inertia(solver);
    for (size_t i = 0; i < size; i++)
        batch->sums[i] = (update > 0 ? batch->sums[i] : 0) + all->sums[i];
    for (int j = 0; j < all->k; j++)
        batch->counts[j] = (update > 0 ? batch->counts[j] : 0) + all->counts[j];
    memcpy(all->sums, batch->sums, size * sizeof *all->sums);
    memcpy(all->counts, batch->counts, (size_t)all->k * sizeof *all->counts);
out:
    return status;
}

static enum status assign_all(struct solver *solver, int update, kmeans_assign assign, void *state)
{
    enum status status = STATUS_OK;

    solver->assignment.first = update == 0 || solver->batch;
    TRY(assign(state, &solver->assignment));
    if (solver->assignment.first)
        solver->squares = add_squares(&solver->rows);
    solver->inertia[update] = inertia(solver);
out:
    return status;
}

static enum status attempt(struct solver *solver, int number, kmeans_assign assign, void *state)
{
    const int iterations = solver->params->iterations;
    enum status status = STATUS_OK;
    int done = 0;

    start(solver, number);
    for (bool moved = true; moved && done < iterations; done++) {
        if (solver->batch)
            TRY(assign_batch(solver, number, done, assign, state));
        else
            TRY(assign_all(solver, done, assign, state));
        moved = update(solver);
    }
    TRY(assign_all(solver, done, assign, state));
    for (int i = done; i < iterations; i++)
        solver->inertia[i + 1] = solver->inertia[done];
out:
    return status;
}

/* Of a finished attempt, into the outputs. */
static void keep(const struct solver *solver, struct image out[])
{
    const int features = solver->rows.features;
    int64_t row = 0;

    for (int j = 0; j < solver->params->k; j++)
        for (int f = 0; f < features; f++)
            ((float *)image_row(&out[KMEANS_CENTROIDS], j))[f] =
                ldexpf((float)solver->centroids[j * features + f], -solver->rows.shift);
    for (int y = 0; y < out[KMEANS_LABELS].height; y++)
        for (int x = 0; x < out[KMEANS_LABELS].width; x++)
            ((int32_t *)image_row(&out[KMEANS_LABELS], y))[x] = solver->assignment.labels[row++];
    for (int i = 0; i <= solver->params->iterations; i++)
        *(double *)image_row(&out[KMEANS_INERTIA], i) = solver->inertia[i];
}

static enum status solve(const struct image in[], struct image out[], const struct kmeans_params *params,
                         kmeans_assign assign, void *state, bool wants_fixed, bool copies)
{
    enum status status = STATUS_OK;
    struct mini_batch batch = {.copies = copies};
    struct solver solver = {.rows = {.in = in, .count = kmeans_row_count(in), .features = kmeans_features(in)},
                            .params = params,
                            .batch = params->batch > 0 ? &batch : NULL};
    const size_t size = (size_t)params->k * (size_t)solver.rows.features, count = (size_t)solver.rows.count;
    double best = INFINITY;

    solver.assignment = (struct kmeans_assignment){.rows = &solver.rows,
                                                   .centroids = solver.centroids = malloc(size * sizeof(int32_t)),
                                                   .k = params->k,
                                                   .labels = malloc(count * sizeof(int32_t)),
                                                   .sums = malloc(size * sizeof(int64_t)),
                                                   .counts = malloc((size_t)params->k * sizeof(int64_t)),
                                                   .state = state};
    solver.before = malloc(size * sizeof(int32_t));
    solver.distances = malloc(count * sizeof *solver.distances);
    solver.inertia = malloc(((size_t)params->iterations + 1) * sizeof *solver.inertia);
    if (!solver.centroids || !solver.assignment.labels || !solver.assignment.sums || !solver.assignment.counts ||
        !solver.before || !solver.distances || !solver.inertia) {
        status = status_set(STATUS_NO_MEMORY, "no memory for k-means of %zu rows", count);
        goto out;
    }
    kmeans_rows_measure(&solver.rows);
    if (wants_fixed || !solver.rows.small)
        TRY(kmeans_rows_fix(&solver.rows));
    if (solver.batch)
        TRY(make_batch(&solver));
    for (int i = 0; i < params->attempts; i++) {
        TRY(attempt(&solver, i, assign, state));
        if (solver.inertia[params->iterations] < best) {
            best = solver.inertia[params->iterations];
            keep(&solver, out);
        }
    }
out:
    free(solver.centroids);
    free(solver.before);
    free(solver.assignment.labels);
    free(solver.assignment.sums);
    free(solver.assignment.counts);
    free(solver.distances);
    free(solver.inertia);
    free(solver.rows.fixed);
    free_batch(&batch);
    return status;
}

enum status kmeans_solve(const struct image in[], struct image out[], const struct kmeans_params *params,
                         kmeans_assign assign, void *state, bool wants_fixed)
{
    return solve(in, out, params, assign, state, wants_fixed, true);
}

enum status kmeans_solve_drawn(const struct image in[], struct image out[], const struct kmeans_params *params,
                               kmeans_assign assign, void *state)
{
    return solve(in, out, params, assign, state, false, false);
}
