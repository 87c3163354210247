#include "common/algo/eigen.h"

#include <stdlib.h>
#include <string.h>

#include "common/image/pattern.h"

static double *entry(const struct image *matrix, int x, int y)
{
    return (double *)image_row(matrix, y) + x;
}

double eigen_find_unit(const struct image *in, int index)
{
    const int top = index * in->width;
    double largest = 0;

    for (int y = 0; y < in->width; y++)
        for (int x = y; x < in->width; x++)
            if (!(fabs(*entry(in, x, top + y)) <= largest))
                largest = fabs(*entry(in, x, top + y));
    return eigen_unit(largest);
}

double eigen_begin(const struct image *in, int index, double *matrix, double *vectors, double *unit)
{
    const int n = in->width;
    double norm = 0;

    *unit = eigen_find_unit(in, index);
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            matrix[y * n + x] = (x < y ? *entry(in, y, index * n + x) : *entry(in, x, index * n + y)) / *unit;
            vectors[y * n + x] = x == y;
            norm += matrix[y * n + x] * matrix[y * n + x];
        }
    return norm;
}

enum status eigen_finish(const double *matrix, const double *vectors, int n, double unit, int index, struct image out[])
{
    for (int k = 0; k < n; k++) {
        const double value = matrix[k * n + k], scaled = value * unit;
        double largest = 0;
        int place = 0;

        if (!isfinite(value))
            return status_set(STATUS_FAILED,
                              "the Jacobi rotations of matrix %d do not converge: not all of it is finite", index + 1);
        if (!isfinite(scaled))
            return status_set(STATUS_FAILED, "matrix %d has a value beyond the largest number of f64", index + 1);
        for (int other = 0; other < n; other++)
            place += matrix[other * n + other] > value || (matrix[other * n + other] == value && other < k);
        for (int y = 0; y < n; y++)
            if (fabs(vectors[k * n + y]) > fabs(largest))
                largest = vectors[k * n + y];
        *entry(&out[0], 0, index * n + place) = scaled;
        for (int y = 0; y < n; y++)
            *entry(&out[1], place, index * n + y) = largest < 0 ? -vectors[k * n + y] : vectors[k * n + y];
    }
    return STATUS_OK;
}

/* ------------------------------------------------------------------------------------------------- shapes */

static const struct parameter parameters[] = {{0}};

static enum status shape(const struct image in[], const void *params, struct image out[])
{
    (void)params;
    if (in->type != PIXEL_F64 || in->channels != 1)
        return status_set(STATUS_BAD_INPUT, "eigen takes an f64 matrix, not %s with %d channel%s", pixel_name(in->type),
                          in->channels, in->channels == 1 ? "" : "s");
    if (in->width > EIGEN_MAX_SIDE)
        return status_set(STATUS_BAD_INPUT, "eigen takes at most %d columns, not %d", EIGEN_MAX_SIDE, in->width);
    if (in->height % in->width)
        return status_set(STATUS_BAD_INPUT,
                          "%d columns and %d rows: eigen takes square matrices, several of them one below the other",
                          in->width, in->height);
    out[0].width = 1;
    out[1].width = in->width;
    for (int i = 0; i < 2; i++) {
        out[i].height = in->height;
        out[i].channels = 1;
        out[i].type = PIXEL_F64;
    }
    return STATUS_OK;
}

/* Reads the matrices and writes values and vectors; 9 n^3 operations are what reducing to three diagonals and the QR
 * algorithm take, less than any Jacobi method. */
static void cost(const struct image in[], const struct image out[], const void *params, struct cost *cost)
{
    (void)out, (void)params;
    cost->bytes = 2.0 * (double)image_pixel_bytes(in) + 8.0 * in->height;
    cost->operations[OPERATION_MULTIPLY_ADD_F64] = 4.5 * in->width * in->width * in->height;
}

/* --------------------------------------------------------------------------------------------- comparison */

/* The larger of what the contract limits: residuals as a share of |R|, and products of vectors. */
static double largest_residual(const struct property_case *item)
{
    const struct image *in = item->in, *values = &item->actual[0], *vectors = &item->actual[1];
    const int n = in->width;
    double worst = 0;

    for (int top = 0; top < in->height; top += n) {
        const double unit = eigen_find_unit(in, top / n);
        double norm = 0;

        for (int y = 0; y < n; y++)
            for (int x = y; x < n; x++)
                norm += (x == y ? 1 : 2) * (*entry(in, x, top + y) / unit) * (*entry(in, x, top + y) / unit);
        norm = norm > 0 ? sqrt(norm) : 1;
        for (int k = 0; k < n; k++) {
            double residual = 0;
            for (int y = 0; y < n; y++) {
                double sum = -*entry(values, 0, top + k) / unit * *entry(vectors, k, top + y);
                for (int x = 0; x < n; x++)
                    sum +=
                        *(x < y ? entry(in, y, top + x) : entry(in, x, top + y)) / unit * *entry(vectors, k, top + x);
                residual += sum * sum;
            }
            if (!(sqrt(residual) / norm <= worst))
                worst = sqrt(residual) / norm;
            for (int j = 0; j <= k; j++) {
                double product = j == k ? -1 : 0;
                for (int y = 0; y < n; y++)
                    product += *entry(vectors, j, top + y) * *entry(vectors, k, top + y);
                if (!(fabs(product) <= worst))
                    worst = fabs(product);
            }
            if (isnan(worst))
                return worst;
        }
    }
    return worst;
}

/* ------------------------------------------------------------------------------------------------- inputs */

static double uniform(uint64_t *state)
{
    return (double)(pattern_random(state) >> 11) * 0x1p-52 - 1;
}

/* Matrices: by the request's pattern zeros, ones (one eigenvalue n, all others 0), unit matrices (all the same), a
 * gradient or random entries; by hard case correlations of few spectra (values over many orders of magnitude), pairs of
 * values that differ in sign only, random entries of 1e-200 or 1e200, a diagonal of 1e-300 to 1e300, a NaN, numbers
 * below the diagonal that nobody may read, a diagonal beside which the squares of entries are denormal, and one with a
 * single entry beside it. */
static enum status make_inputs(const struct input_request *request, struct image in[])
{
    const int n = request->width, count = request->height > n ? request->height / n : 1;
    const char *hard = request->hard_case ? request->hard_case : "";
    uint64_t seed = request->seed;
    enum status status = STATUS_OK;

    TRY(array_create(&in[0], n, n * count, 1, PIXEL_F64));
    for (int row = 0; row < n * count; row++)
        for (int x = row % n; x < n; x++) {
            const int y = row % n, top = row - y;
            double value = request->pattern == PATTERN_MAXIMUM        ? 1
                           : request->pattern == PATTERN_CHECKERBOARD ? x == y
                           : request->pattern == PATTERN_GRADIENT     ? x + y
                           : request->pattern == PATTERN_ZERO         ? 0
                                                                      : uniform(&seed);
            if (hard[0] == 'c')
                value = exp(-0.01 * (x - y) * (x - y)) * (1 + 1e-6 * value);
            else if (hard[0] == 'p')
                value = x == n - 1 - y && x != y ? 1 + y : 0;
            else if (hard[0] == 't' || hard[0] == 'h')
                value *= hard[0] == 't' ? 1e-200 : 1e200;
            else if (hard[0] == 'd')
                value = x == y ? pow(10, n > 1 ? 600.0 * x / (n - 1) - 300 : 0) : 0;
            else if (hard[0] == 'n' && x == n / 2 && y == n / 2)
                value = NAN;
            else if (hard[0] == 's')
                value = x == y ? 1 + (double)x / n : 1e-160 * value;
            else if (hard[0] == 'l')
                value = x == y ? 1 + x : y == 0 && x == n - 1 ? 0.5 : 0;
            *entry(in, x, top + y) = value;
            if (x != y)
                *entry(in, y, top + x) = hard[0] == 'g' ? 1e100 * uniform(&seed) : value;
        }
out:
    return status;
}

static const int sides[][3] = {{8, 24, 1}, {33, 33, 1}, {0}};
/* 65,537 blocks in y would be two more than CUDA allows. */
static const int many[][3] = {{1, 65537, 1}, {0}};
/* 161 columns of f64 are more than a block's shared memory holds. */
static const int large[][3] = {{161, 322, 1}, {0}};
static const struct hard_case hard_cases[] = {
    {.name = "correlation of neighbours", .shapes = sides},
    {.name = "pairs of values with both signs", .shapes = sides},
    {.name = "tiny entries, whose squares are 0", .shapes = sides},
    {.name = "huge entries, whose squares are infinite", .shapes = sides},
    {.name = "diagonal of all orders of magnitude", .shapes = sides},
    {.name = "not a number", .shapes = sides, .unanswered = true},
    {.name = "garbage below the diagonal", .shapes = sides, .further = true},
    {.name = "more matrices than a grid has rows", .shapes = many, .further = true, .long_emulated = true},
    {.name = "small beside the diagonal, with denormal squares", .shapes = sides, .further = true},
    {.name = "large, nearly diagonal, two of them", .shapes = large, .further = true},
    {0},
};
static const int check_shapes[][3] = {
    {1, 1, 1},   {2, 2, 1},   {3, 3, 1},  {5, 5, 1},   {3, 30, 1},  {6, 6, 1},   {1, 17, 1},    {7, 35, 1},
    {16, 16, 1}, {17, 17, 1}, {6, 66, 1}, {31, 31, 1}, {33, 33, 1}, {65, 65, 1}, {131, 131, 1}, {0},
};

/* -------------------------------------------------------------------------- answers worked out by hand */

#define MATRIX(...)                                                                                                    \
    (const uint8_t *)(const double[])                                                                                  \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }

static const struct golden goldens[] = {
    {.name = "1x1", .width = 1, .height = 1, .channels = 1, .in = {MATRIX(-3)}, .out = {MATRIX(-3), MATRIX(1)}},
    {
        /* (1, 1) to 3, (1, -1) to 1. */
        .name = "2x2",
        .width = 2,
        .height = 2,
        .channels = 1,
        .in = {MATRIX(2, 1, 1, 2)},
        .out = {MATRIX(3, 1),
                MATRIX(0.70710678118654752, 0.70710678118654752, 0.70710678118654752, -0.70710678118654752)},
    },
    {
        .name = "2x2, squares below the least number",
        .width = 2,
        .height = 2,
        .channels = 1,
        .in = {MATRIX(2e-170, 1e-170, 1e-170, 2e-170)},
        .out = {MATRIX(3e-170, 1e-170),
                MATRIX(0.70710678118654752, 0.70710678118654752, 0.70710678118654752, -0.70710678118654752)},
    },
    {
        .name = "2x2, squares above the largest number",
        .width = 2,
        .height = 2,
        .channels = 1,
        .in = {MATRIX(2e160, 1e160, 1e160, 2e160)},
        .out = {MATRIX(3e160, 1e160),
                MATRIX(0.70710678118654752, 0.70710678118654752, 0.70710678118654752, -0.70710678118654752)},
    },
    {
        /* Two matrices: a diagonal that has to be sorted, and the exchange of two axes. */
        .name = "two of them",
        .width = 2,
        .height = 4,
        .channels = 1,
        .in = {MATRIX(1, 0, 0, 5, /**/ 0, 2, 2, 0)},
        .out = {MATRIX(5, 1, 2, -2), MATRIX(0, 1, 1, 0, /**/ 0.70710678118654752, 0.70710678118654752,
                                            0.70710678118654752, -0.70710678118654752)},
    },
    {0},
};

static struct algorithm eigen = {
    .name = "eigen",
    .summary = "eigenvalues and eigenvectors of symmetric matrices, one or a batch, f64",
    .inputs =
        {{.name = "matrix", .kind = SLOT_MATRIX, .type = PIXEL_F64, .help = "symmetric, or several of them stacked"}},
    .outputs = {{.name = "values",
                 .kind = SLOT_MATRIX,
                 .help = "the largest first",
                 .comparison = {.tolerance = 1e-10, .relative = true}},
                {.name = "vectors",
                 .kind = SLOT_MATRIX,
                 .help = "a column each",
                 .comparison = {.tolerance = 1e-10,
                                .property = largest_residual,
                                .property_name =
                                    "largest residual |R v - lambda v| / |R|, or product of two vectors"}}},
    .params_size = 0,
    .parameters = parameters,
    .shape = shape,
    .cost = cost,
    .make_inputs = make_inputs,
    .hard_cases = hard_cases,
    .check_shapes = check_shapes,
    .goldens = goldens,
    .bench_channels = 1,
    .bench_shape = (const int[]){198, 198, 1},
};

RUNGS_ALGORITHM(eigen)
