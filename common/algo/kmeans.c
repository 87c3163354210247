#include "common/algo/kmeans.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/algo/kmeans/cases.h"

/* ------------------------------------------------------------------------------------------------ the rows */

enum { SMALL = 1 << 18 /* largest sum of a row times largest sample */ };

/* f32: no faster than `fixed` needs it. u8, u16: the sums decide whether the rows are small. */
static void measure(struct kmeans_rows *rows)
{
    const enum pixel_type type = rows->in->type;
    unsigned largest = 0, largest_sum = 0;
    float magnitude = 0;

#pragma omp parallel for schedule(static) reduction(max : largest, largest_sum, magnitude)
    for (int64_t i = 0; i < rows->count; i++) {
        const void *row = kmeans_row(rows->in, i);
        unsigned sum = 0;
        if (type == PIXEL_F32)
            for (int f = 0; f < rows->features; f++)
                magnitude = fmaxf(magnitude, fabsf(((const float *)row)[f]));
        else
            for (int f = 0; f < rows->features; f++) {
                const unsigned x = type == PIXEL_U8 ? ((const uint8_t *)row)[f] : ((const uint16_t *)row)[f];
                largest = x > largest ? x : largest;
                sum += x;
            }
        largest_sum = sum > largest_sum ? sum : largest_sum;
    }
    rows->shift = type == PIXEL_F32 ? kmeans_shift(magnitude) : KMEANS_SHIFT;
    rows->small = type != PIXEL_F32 && (uint64_t)largest * largest_sum < SMALL;
}

static enum status make_fixed(struct kmeans_rows *rows)
{
    const double scale = ldexp(1, rows->shift); /* up to 2^171: more than a float holds */

    rows->fixed = malloc(sizeof *rows->fixed * (size_t)rows->count * (size_t)rows->features);
    if (!rows->fixed)
        return status_set(STATUS_NO_MEMORY, "no memory for %lld rows", (long long)rows->count);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < rows->count; i++) {
        const void *row = kmeans_row(rows->in, i);
        int32_t *fixed = rows->fixed + i * rows->features;
        for (int f = 0; f < rows->features; f++)
            fixed[f] = rows->in->type == PIXEL_U8    ? ((const uint8_t *)row)[f] << KMEANS_SHIFT
                       : rows->in->type == PIXEL_U16 ? ((const uint16_t *)row)[f] << KMEANS_SHIFT
                                                     : (int32_t)lrint((double)((const float *)row)[f] * scale);
    }
    return STATUS_OK;
}

/* D of a row and a centroid. */
static uint64_t distance(const struct kmeans_rows *rows, int64_t row, const int32_t *restrict centroid)
{
    uint64_t sum = 0;

    if (rows->fixed) {
        const int32_t *restrict x = rows->fixed + row * rows->features;
        for (int f = 0; f < rows->features; f++) {
            const int64_t difference = x[f] - centroid[f];
            sum += (uint64_t)(difference * difference);
        }
    } else if (rows->in->type == PIXEL_U8) {
        const uint8_t *restrict x = kmeans_row(rows->in, row);
        for (int f = 0; f < rows->features; f++) {
            const int32_t difference = (x[f] << KMEANS_SHIFT) - centroid[f];
            sum += (uint32_t)(difference * difference);
        }
    } else {
        const uint16_t *restrict x = kmeans_row(rows->in, row);
        for (int f = 0; f < rows->features; f++) {
            const int32_t difference = (x[f] << KMEANS_SHIFT) - centroid[f];
            sum += (uint32_t)(difference * difference);
        }
    }
    return sum;
}

/* D of two small rows: their samples differ by at most 511. */
static uint64_t distance_of_rows(const struct kmeans_rows *rows, int64_t row, int64_t other)
{
    int32_t sum = 0;

    if (rows->in->type == PIXEL_U8) {
        const uint8_t *restrict x = kmeans_row(rows->in, row), *restrict y = kmeans_row(rows->in, other);
        for (int f = 0; f < rows->features; f++) {
            const int16_t difference = (int16_t)(x[f] - y[f]);
            sum += difference * difference;
        }
    } else {
        const uint16_t *restrict x = kmeans_row(rows->in, row), *restrict y = kmeans_row(rows->in, other);
        for (int f = 0; f < rows->features; f++) {
            const int16_t difference = (int16_t)(x[f] - y[f]);
            sum += difference * difference;
        }
    }
    return (uint64_t)sum << 2 * KMEANS_SHIFT;
}

static const int32_t zeros[KMEANS_MAX_FEATURES];

static void take_row(const struct kmeans_rows *rows, int64_t row, int32_t *centroid)
{
    const void *x = kmeans_row(rows->in, row);

    if (rows->fixed)
        memcpy(centroid, rows->fixed + row * rows->features, sizeof *centroid * (size_t)rows->features);
    else
        for (int f = 0; f < rows->features; f++)
            centroid[f] = (rows->in->type == PIXEL_U8 ? ((const uint8_t *)x)[f] : ((const uint16_t *)x)[f])
                          << KMEANS_SHIFT;
}

static void assign_plain(const struct kmeans_assignment *assignment, int64_t first, int64_t last, int64_t *sums,
                         int64_t *counts)
{
    const struct kmeans_rows *rows = assignment->rows;
    const int features = rows->features;

    for (int64_t i = first; i < last; i++) {
        const int64_t number = kmeans_row_at(assignment, i);
        const int32_t *row = rows->fixed + number * features;
        uint64_t nearest = UINT64_MAX;
        if (assignment->squares)
            assignment->squares[i] = distance(rows, number, zeros);
        for (int j = 0; j < assignment->k; j++) {
            const uint64_t d = distance(rows, number, assignment->centroids + j * features);
            if (d < nearest) {
                nearest = d;
                assignment->labels[i] = j;
            }
        }
        counts[assignment->labels[i]]++;
        for (int f = 0; f < features; f++)
            sums[assignment->labels[i] * features + f] += row[f];
    }
}

const uint16_t *kmeans_narrow_row(const struct kmeans_rows *rows, int64_t row, uint16_t *room)
{
    const void *from = kmeans_row(rows->in, row);

    if (rows->in->type == PIXEL_U16 && rows->features % 2 == 0)
        return from;
    for (int f = 0; f < rows->features; f++)
        room[f] = rows->in->type == PIXEL_U16 ? ((const uint16_t *)from)[f] : ((const uint8_t *)from)[f];
    room[rows->features] = 0;
    return room;
}

static enum status make_table(struct kmeans_table *table, const struct kmeans_assignment *assignment, int lanes)
{
    enum { ALIGNMENT = 64 };
    const int features = assignment->rows->features, k = assignment->k;

    table->groups = (k + lanes - 1) / lanes;
    table->pairs = (features + 1) / 2;
    const size_t count = (size_t)(table->groups * lanes), pieces = count * (size_t)table->pairs * 2;
    table->pieces = aligned_alloc(ALIGNMENT, (pieces * sizeof *table->pieces + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    table->norms = aligned_alloc(ALIGNMENT, (count * sizeof *table->norms + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    if (!table->pieces || !table->norms)
        return status_set(STATUS_NO_MEMORY, "no memory for %d centroids", k);
    for (int j = 0; j < table->groups * lanes; j++) {
        int32_t norm = 0;
        for (int f = 0; f < 2 * table->pairs; f++) {
            const int32_t c = j < k && f < features ? assignment->centroids[j * features + f] : 0;
            table->pieces[((j / lanes * table->pairs + f / 2) * lanes + j % lanes) * 2 + f % 2] = (int16_t)c;
            norm += c * c;
        }
        table->norms[j] = j < k ? norm : INT32_MAX;
    }
    return STATUS_OK;
}

enum status kmeans_assign_chunks(const struct kmeans_assignment *assignment, kmeans_chunk chunk, int lanes,
                                 bool differences)
{
    /* Rows of a chunk. Threads take chunks as they come free, so that none waits long for one whose core is slower. */
    enum { CHUNK = 1 << 10 };
    const struct kmeans_rows *rows = assignment->rows;
    const int64_t chunks = (rows->count + CHUNK - 1) / CHUNK;
    const int size = assignment->k * rows->features;
    int64_t *sums = assignment->sums, *counts = assignment->counts;
    struct kmeans_table table = {0};
    enum status status = STATUS_OK;

    if (rows->small)
        TRY(make_table(&table, assignment, lanes));
    if (assignment->first || !differences || !rows->small) {
        memset(sums, 0, (size_t)size * sizeof *sums);
        memset(counts, 0, (size_t)assignment->k * sizeof *counts);
    }
#pragma omp parallel reduction(+ : sums[:size], counts[:assignment->k])
    {
        int32_t *partial = calloc((size_t)size, sizeof *partial);
        if (!partial) {
#pragma omp critical
            status = STATUS_NO_MEMORY;
        }
#pragma omp for schedule(dynamic)
        for (int64_t i = 0; i < chunks; i++) {
            const int64_t first = i * CHUNK, last = first + CHUNK < rows->count ? first + CHUNK : rows->count;
            if (!rows->small)
                assign_plain(assignment, first, last, sums, counts);
            if (!rows->small || !partial)
                continue;
            chunk(assignment, &table, first, last, partial, counts);
            for (int at = 0; at < size; at++) {
                sums[at] += (int64_t)partial[at] * (1 << KMEANS_SHIFT);
                partial[at] = 0;
            }
        }
        free(partial);
    }
    if (status != STATUS_OK)
        status = status_set(status, "no memory for sums of %d clusters", assignment->k);
out:
    free(table.pieces);
    free(table.norms);
    return status;
}

/* --------------------------------------------------------------------------------------------- the iterations */

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

/* The row with the smallest E / D, -1 when all D are 0. Most rows lose by the least that their E can be; then its logarithm
 * is not computed. */
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

/* Distances of all rows to the nearest of centroids 0 to j, of which those before j are known; j is a row. A row keeps its distance d to
 * centroid c where j is at least 2 d from c, for then it is at least d from the row. labels are those centroids meanwhile. */
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
        const uint64_t d = rows->small ? distance_of_rows(rows, i, row) : distance(rows, i, centroid);
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
        take_row(rows, row, solver->centroids + j * rows->features);
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
                    1 + distance(rows, i, solver->before + solver->assignment.labels[i] * rows->features);
        }
        known = true;
        for (int64_t i = 1; i < rows->count; i++)
            if (solver->distances[i] > solver->distances[farthest])
                farthest = i;
        solver->distances[farthest] = 0; /* taken */
        take_row(rows, farthest, solver->centroids + j * rows->features);
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
        const uint64_t d = distance(rows, i, zeros);
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
    measure(&solver.rows);
    if (wants_fixed || !solver.rows.small)
        TRY(make_fixed(&solver.rows));
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

/* ---------------------------------------------------------------------------------------------- parameters */

static const char *const starts[] = {"plusplus", "rows", NULL};
static const char *const types[] = {"u16", "u8", "f32", NULL};

/* check draws values up to `most`, 0: of the whole range. */
#define INT_CHECKED(field, low, high, normal, most, text)                                                              \
    {                                                                                                                  \
        .name = #field, .kind = PARAMETER_INT, .offset = offsetof(struct kmeans_params, field), .minimum = low,        \
        .maximum = high, .preset = normal, .check_maximum = most, .help = text                                         \
    }
#define INT(field, low, high, normal, text) INT_CHECKED(field, low, high, normal, 0, text)

static const struct parameter parameters[] = {
    INT(k, 1, KMEANS_MAX_K, 16, "clusters"),
    INT_CHECKED(iterations, 1, 10000, 10, 4, "updates of the centroids, at most"),
    {.name = "tolerance",
     .kind = PARAMETER_REAL,
     .offset = offsetof(struct kmeans_params, tolerance),
     .maximum = 1e9,
     .help = "ends once no centroid moves farther than this"},
    {.name = "start",
     .kind = PARAMETER_CHOICE,
     .offset = offsetof(struct kmeans_params, start),
     .words = starts,
     .help = "first centroids: k-means++, or rows at equal distances"},
    INT(seed, 0, 1e9, 1, "of k-means++"),
    INT_CHECKED(attempts, 1, 16, 1, 3, "starts, of which the best result counts"),
    {.name = "type",
     .kind = PARAMETER_CHOICE,
     .offset = offsetof(struct kmeans_params, type),
     .words = types,
     .help = "samples of rows that are made up; a file has its own"},
    INT_CHECKED(batch, 0, 65536, 0, 0, "rows drawn for an update; 0: all"),
    {0},
};

static void describe(const void *params_erased, char *text, size_t size)
{
    const struct kmeans_params *params = params_erased;

    snprintf(text, size, "k=%d iterations=%d tolerance=%g start=%s seed=%d attempts=%d type=%s batch=%d", params->k,
             params->iterations, params->tolerance, starts[params->start], params->seed, params->attempts,
             types[params->type], params->batch);
}

/* ------------------------------------------------------------------------------------------------- shapes */

static enum status shape(const struct image in[], const void *params_erased, struct image *out)
{
    const struct kmeans_params *params = params_erased;
    const int features = kmeans_features(in);

    if (in->type != PIXEL_U8 && in->type != PIXEL_U16 && in->type != PIXEL_F32)
        return status_set(STATUS_BAD_INPUT, "kmeans takes u8, u16 or f32 samples, not %s", pixel_name(in->type));
    if (features > KMEANS_MAX_FEATURES)
        return status_set(STATUS_BAD_INPUT, "kmeans takes at most %d features, not %d", KMEANS_MAX_FEATURES, features);
    if (kmeans_row_count(in) > INT32_MAX)
        return status_set(STATUS_BAD_INPUT, "kmeans takes at most 2^31-1 rows, not %dx%d", in->width, in->height);
    if (kmeans_row_count(in) < params->k)
        return status_set(STATUS_BAD_INPUT, "k=%d clusters need as many rows; there are %d", params->k,
                          (int)kmeans_row_count(in));
    out[KMEANS_CENTROIDS] = (struct image){.width = features, .height = params->k, .channels = 1, .type = PIXEL_F32};
    out[KMEANS_LABELS] = (struct image){
        .width = in->channels == 1 ? 1 : in->width, .height = in->height, .channels = 1, .type = PIXEL_I32};
    out[KMEANS_INERTIA] =
        (struct image){.width = 1, .height = params->iterations + 1, .channels = 1, .type = PIXEL_F64};
    return STATUS_OK;
}

static enum status check_values(const struct image in[], const void *params)
{
    const int features = kmeans_features(in);

    (void)params;
    for (int64_t i = 0; in->type == PIXEL_F32 && i < kmeans_row_count(in); i++) {
        const float *row = kmeans_row(in, i);
        for (int f = 0; f < features; f++)
            if (!isfinite(row[f]))
                return status_set(STATUS_BAD_INPUT, "row %lld, feature %d is %s; kmeans takes finite numbers",
                                  (long long)i, f, isnan(row[f]) ? "NaN" : "infinite");
    }
    return STATUS_OK;
}

/* Reads the rows in each assignment; a product for each row, centroid and feature. */
static void cost(const struct image in[], const struct image out[], const void *params_erased, struct cost *cost)
{
    const struct kmeans_params *params = params_erased;
    const double share = (double)params->batch / (double)kmeans_row_count(in);
    const double assignments = (params->batch > 0 ? params->iterations * share : params->iterations) + 1;
    const enum operation operation = in->type == PIXEL_F32 ? OPERATION_MULTIPLY_ADD_F32 : OPERATION_MULTIPLY_ADD_16;

    (void)out;
    cost->bytes = (double)image_pixel_bytes(in) * assignments + 4.0 * (double)kmeans_row_count(in);
    cost->operations[operation] = assignments * params->k * (double)kmeans_row_count(in) * kmeans_features(in);
}

static struct algorithm kmeans = {
    .name = "kmeans",
    .summary = "k-means clustering of rows of features, with centroids, labels and inertia",
    .inputs =
        {{.name = "rows", .kind = SLOT_TENSOR, .type = PIXEL_U16, .help = "one feature vector a pixel, or a row"}},
    .outputs = {{.name = "centroids", .kind = SLOT_MATRIX, .help = "k x features"},
                {.name = "labels", .kind = SLOT_MATRIX, .help = "cluster of each row, from 0", .names = true},
                {.name = "inertia", .kind = SLOT_MATRIX, .help = "sum of squared distances after each assignment"}},
    .params_size = sizeof(struct kmeans_params),
    .parameters = parameters,
    .shape = shape,
    .check_values = check_values,
    .cost = cost,
    .describe = describe,
    .make_inputs = kmeans_make_inputs,
    .hard_cases = kmeans_hard_cases,
    .check_settings = kmeans_check_settings,
    .check_shapes = kmeans_check_shapes,
    .goldens = kmeans_goldens,
    .bench_channels = 256,
    .bench_shape = (const int[]){252, 189, 256},
};

RUNGS_ALGORITHM(kmeans)
