#include "common/algo/pca.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/image/pattern.h"

/* ------------------------------------------------------------------------------------------------- the steps */

enum status pca_open(struct pca_steps *steps, const struct pca_params *params, const struct pca_versions *versions)
{
    enum status status = STATUS_OK;

    TRY(step_open(&steps->correlation, "correlation", "correlation", versions->correlation,
                  params->center ? "center=1" : "center=0"));
    TRY(step_open(&steps->eigen, "eigen", "eigen", versions->eigen, ""));
out:
    if (status != STATUS_OK)
        pca_close(steps);
    return status;
}

void pca_close(struct pca_steps *steps)
{
    if (steps->correlation.version)
        step_close(&steps->correlation);
    if (steps->eigen.version)
        step_close(&steps->eigen);
}

enum status pca_solve(struct pca_steps *steps, const struct image *in, struct image out[],
                      const struct pca_params *params, const struct pca_versions *versions)
{
    const int n = in->channels;
    enum status status = STATUS_OK;

    if (!steps->eigen.version) {
        TRY(pca_open(steps, params, versions));
        TRY(array_create(&steps->matrix, n, n, 1, PIXEL_F64));
        TRY(array_create(&steps->values, 1, n, 1, PIXEL_F64));
        TRY(array_create(&steps->vectors, n, n, 1, PIXEL_F64));
    }
    TRY(step_run(&steps->correlation, in, &steps->matrix, NULL));
    struct image results[2] = {steps->values, steps->vectors};
    TRY(step_run(&steps->eigen, &steps->matrix, results, NULL));
    for (int k = 0; k < params->components; k++)
        *(double *)image_row(&out[PCA_VALUES], k) = *(const double *)image_row(&steps->values, k);
    for (int band = 0; band < n; band++)
        memcpy(image_row(&out[PCA_VECTORS], band), image_row(&steps->vectors, band),
               sizeof(double) * (size_t)params->components);
out:
    return status;
}

void pca_free(struct pca_steps *steps)
{
    pca_close(steps);
    image_free(&steps->matrix);
    image_free(&steps->values);
    image_free(&steps->vectors);
}

void pca_colour(struct image out[], const struct pca_range ranges[], const struct pca_params *params, int first,
                int last)
{
    const int components = params->components, width = out[PCA_RGB].width;
    const double pixels = (double)width * out[PCA_RGB].height;
    float low[3], scale[3];
    int from[3];

    for (int c = 0; c < 3; c++) {
        from[c] = c < components ? c : components - 1;
        pca_stretch(&ranges[from[c]], pixels, params->stretch, &low[c], &scale[c]);
    }
    for (int y = first; y < last; y++) {
        const float *values = image_row(&out[PCA_COMPONENTS], y);
        uint8_t *to = image_row(&out[PCA_RGB], y);
        for (int x = 0; x < width; x++)
            for (int c = 0; c < 3; c++)
                to[3 * x + c] = pca_level(values[x * components + from[c]], low[c], scale[c]);
    }
}

/* ------------------------------------------------------------------------------------------------- parameters */

static const char *const stretches[] = {"minmax", "sigma", NULL};
static const char *const types[] = {"f32", "u8", "u16", NULL};

static const struct parameter parameters[] = {
    {.name = "components",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct pca_params, components),
     .minimum = 1,
     .maximum = PCA_MAX_COMPONENTS,
     .preset = 3,
     .help = "eigenvectors that spectra are projected onto"},
    {.name = "center",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct pca_params, center),
     .minimum = 0,
     .maximum = 1,
     .preset = 1,
     .help = "1: of the covariance matrix, 0: of the correlation matrix"},
    {.name = "stretch",
     .kind = PARAMETER_CHOICE,
     .offset = offsetof(struct pca_params, stretch),
     .words = stretches,
     .help = "what becomes 0 and 255: the extremes, or two standard deviations off the mean"},
    {.name = "type",
     .kind = PARAMETER_CHOICE,
     .offset = offsetof(struct pca_params, type),
     .words = types,
     .help = "samples of a cube that is made up"},
    {0},
};

static enum status shape(const struct image in[], const void *params, struct image out[])
{
    const struct pca_params *p = params;

    if (in->type != PIXEL_U8 && in->type != PIXEL_U16 && in->type != PIXEL_F32)
        return status_set(STATUS_BAD_INPUT, "pca takes u8, u16 or f32 samples, not %s", pixel_name(in->type));
    if (in->channels > 1024)
        return status_set(STATUS_BAD_INPUT, "pca takes at most 1024 bands, not %d", in->channels);
    if (in->channels < p->components)
        return status_set(STATUS_BAD_INPUT, "%d band%s cannot give %d components", in->channels,
                          in->channels == 1 ? "" : "s", p->components);
    if (in->width > IMAGE_MAX_SIDE || in->height > IMAGE_MAX_SIDE)
        return status_set(STATUS_BAD_INPUT, "%dx%d pixels: pca takes at most %d a side", in->width, in->height,
                          IMAGE_MAX_SIDE);
    out[PCA_RGB] = out[PCA_COMPONENTS] = *in;
    out[PCA_RGB].channels = 3;
    out[PCA_RGB].type = PIXEL_U8;
    out[PCA_COMPONENTS].channels = p->components;
    out[PCA_COMPONENTS].type = PIXEL_F32;
    for (int slot = PCA_VALUES; slot <= PCA_VECTORS; slot++) {
        out[slot].width = slot == PCA_VALUES ? 1 : p->components;
        out[slot].height = slot == PCA_VALUES ? p->components : in->channels;
        out[slot].channels = 1;
        out[slot].type = PIXEL_F64;
    }
    return STATUS_OK;
}

static enum status check_values(const struct image in[], const void *params)
{
    (void)params;
    for (int y = 0; in->type == PIXEL_F32 && y < in->height; y++)
        for (int i = 0; i < in->width * in->channels; i++)
            if (!(fabsf(((const float *)image_row(in, y))[i]) <= 0x1p50f))
                return status_set(STATUS_BAD_INPUT, "pixel (%d,%d), band %d is %g: pca takes up to 2^50",
                                  i / in->channels, y, i % in->channels, (double)((const float *)image_row(in, y))[i]);
    return STATUS_OK;
}

/* Reads the cube and writes components and colours; products for half of the matrix and for the projection. */
static void cost(const struct image in[], const struct image out[], const void *params, struct cost *cost)
{
    const struct pca_params *p = params;
    const double pixels = (double)in->width * in->height;

    (void)out;
    cost->bytes = (double)image_pixel_bytes(in) + pixels * (3 + 4.0 * p->components);
    cost->operations[OPERATION_MULTIPLY_ADD_F32] = pixels * in->channels * ((in->channels + 1) / 2.0 + p->components);
}

static void describe(const void *params, char *text, size_t size)
{
    const struct pca_params *p = params;

    snprintf(text, size, "components=%d center=%d stretch=%s", p->components, p->center, stretches[p->stretch]);
}

/* ------------------------------------------------------------------------------------------------- comparison */

/* A row of the cube, pixel by pixel, in f64: the comparison looks at a sample up to 200 times. */
static void read_row(const struct image *in, int y, double *samples)
{
    for (int x = 0; x < in->width; x++)
        for (int band = 0; band < in->channels; band++)
            samples[(size_t)x * (size_t)in->channels + (size_t)band] = image_sample(in, x, y, band);
}

static double *new_row(const struct image *in)
{
    return malloc((size_t)in->width * (size_t)in->channels * sizeof(double));
}

static double squares_of(const double *spectrum, int bands)
{
    double squares = 0;

    for (int band = 0; band < bands; band++)
        squares += spectrum[band] * spectrum[band];
    return squares;
}

/* |s|^2 of the longest spectrum. */
static double find_longest(const struct image *in)
{
    double longest = 0;

    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++)
            longest = fmax(longest, (double)pca_squares(in, pca_pixel(in, x, y)));
    return longest;
}

/* Whether vector k is not free to turn: its value is apart from the others. What the values after the last one are is
 * not known, unless there are none. */
static bool is_fixed(const struct property_case *item, int k)
{
    const struct image *values = &item->expected[PCA_VALUES];
    const double value = image_sample(values, 0, k, 0), apart = image_sample(values, 0, 0, 0) / 100;

    return (k == 0 || image_sample(values, 0, k - 1, 0) - value > apart) &&
           (k + 1 < values->height ? value - image_sample(values, 0, k + 1, 0) > apart
                                   : values->height == item->in->channels && value > apart);
}

/* The largest difference in levels from the reference's channel c, which shows component k or its opposite. */
static double largest_from_reference(const struct property_case *item, int c, int k)
{
    const struct image *rgb = &item->actual[PCA_RGB], *expected = &item->expected[PCA_RGB];
    double product = 0, worst = 0;

    for (int band = 0; band < item->in->channels; band++)
        product += image_sample(&item->actual[PCA_VECTORS], k, band, 0) *
                   image_sample(&item->expected[PCA_VECTORS], k, band, 0);
    for (int y = 0; y < rgb->height; y++)
        for (int x = 0; x < rgb->width; x++) {
            const double level = image_sample(expected, x, y, c);

            worst = fmax(worst, fabs(image_sample(rgb, x, y, c) - (product < 0 ? 255 - level : level)));
        }
    return worst;
}

/* Of rgb: the largest difference in levels from the stretch of the version's own components, or a third of that from
 * the reference's. */
static double largest_level(const struct property_case *item)
{
    const double longest = find_longest(item->in);
    const struct image *values = &item->actual[PCA_COMPONENTS], *rgb = &item->actual[PCA_RGB];
    const struct pca_params *params = item->params;
    double worst = 0;

    for (int c = 0; c < 3; c++) {
        const int k = c < params->components ? c : params->components - 1;
        struct pca_range range = {INFINITY, -INFINITY, 0, 0, longest};
        float low = 0, scale = 0;
        for (int pass = 0; pass < 2; pass++)
            for (int y = 0; y < rgb->height; y++)
                for (int x = 0; x < rgb->width; x++) {
                    const double value = image_sample(values, x, y, k);
                    if (pass == 0) {
                        range.smallest = fmin(range.smallest, value);
                        range.largest = fmax(range.largest, value);
                        range.sum += value;
                        range.squares += value * value;
                        pca_stretch(&range, (double)rgb->width * rgb->height, params->stretch, &low, &scale);
                    } else {
                        worst = fmax(worst, fabs(image_sample(rgb, x, y, c) - pca_level((float)value, low, scale)));
                    }
                }
        if (is_fixed(item, k))
            worst = fmax(worst, largest_from_reference(item, c, k) / 3);
    }
    return worst;
}

/* Of components: the largest difference from e's with the version's own e, as a share of the longest |s|. */
static double largest_projection(const struct property_case *item)
{
    const struct image *in = item->in, *values = &item->actual[PCA_COMPONENTS], *e = &item->actual[PCA_VECTORS];
    const int n = in->channels;
    double worst = 0, longest = 0, *samples = new_row(in),
           *vectors = malloc((size_t)n * PCA_MAX_COMPONENTS * sizeof *vectors);

    for (int k = 0; k < values->channels && vectors; k++)
        for (int band = 0; band < n; band++)
            vectors[k * n + band] = image_sample(e, k, band, 0);
    if (!samples || !vectors)
        worst = NAN;
    for (int y = 0; y < in->height && !isnan(worst); y++) {
        read_row(in, y, samples);
        for (int x = 0; x < in->width && !isnan(worst); x++) {
            const double *spectrum = samples + (size_t)x * (size_t)n;
            longest = fmax(longest, squares_of(spectrum, n));
            for (int k = 0; k < values->channels; k++) {
                double sum = -image_sample(values, x, y, k);
                for (int band = 0; band < n; band++)
                    sum += spectrum[band] * vectors[k * n + band];
                if (!(fabs(sum) <= worst))
                    worst = fabs(sum);
            }
        }
    }
    free(samples);
    free(vectors);
    return longest > 0 ? worst / sqrt(longest) : worst;
}

/* Sums of each pixel's products, half of them; the mirrored half at the end. False without memory. */
static bool make_matrix(const struct image *in, bool center, double *matrix)
{
    const int n = in->channels;
    const double pixels = (double)in->width * in->height;
    double *means = calloc((size_t)n, sizeof *means), *samples = new_row(in);
    const bool done = means && samples;

    for (int pass = center ? 0 : 1; pass < 2 && done; pass++)
        for (int y = 0; y < in->height; y++) {
            read_row(in, y, samples);
            for (int x = 0; x < in->width; x++) {
                double *spectrum = samples + (size_t)x * (size_t)n;
                for (int u = 0; u < n; u++) {
                    if (pass == 0) {
                        means[u] += spectrum[u] / pixels;
                        continue;
                    }
                    spectrum[u] -= means[u];
                    for (int v = 0; v <= u; v++)
                        matrix[u * n + v] += spectrum[u] * spectrum[v];
                }
            }
        }
    for (int u = 0; u < n; u++)
        for (int v = 0; v <= u; v++)
            matrix[v * n + u] = matrix[u * n + v] /= pixels;
    free(means);
    free(samples);
    return done;
}

/* Of vectors: the largest residual as a share of |R|, or 1000 times what a product of two is off. */
static double largest_residual(const struct property_case *item)
{
    const struct image *in = item->in, *values = &item->actual[PCA_VALUES], *e = &item->actual[PCA_VECTORS];
    const struct pca_params *params = item->params;
    const int n = in->channels;
    double *matrix = calloc((size_t)n * (size_t)n, sizeof *matrix), *samples = new_row(in), norm = 0, power = 0,
           worst = 0;

    if (!matrix || !samples || !make_matrix(in, params->center, matrix))
        worst = NAN;
    for (int i = 0; i < n * n && matrix; i++)
        norm += matrix[i] * matrix[i];
    for (int y = 0; y < in->height && samples; y++) {
        read_row(in, y, samples);
        power += squares_of(samples, in->width * n) / ((double)in->width * in->height);
    }
    /* A covariance of nothing but the rounding of samples has no vectors. */
    norm = fmax(sqrt(norm), power > 0 ? 1e-9 * power : 1);
    for (int k = 0; k < params->components && !isnan(worst); k++) {
        double squares = 0;
        for (int u = 0; u < n; u++) {
            double sum = -image_sample(values, 0, k, 0) * image_sample(e, k, u, 0);
            for (int v = 0; v < n; v++)
                sum += matrix[u * n + v] * image_sample(e, k, v, 0);
            squares += sum * sum;
        }
        if (!(sqrt(squares) / norm <= worst))
            worst = sqrt(squares) / norm;
        for (int other = 0; other <= k; other++) {
            double product = other == k ? -1 : 0;
            for (int u = 0; u < n; u++)
                product += image_sample(e, k, u, 0) * image_sample(e, other, u, 0);
            if (!(1000 * fabs(product) <= worst))
                worst = 1000 * fabs(product);
        }
    }
    free(matrix);
    free(samples);
    return worst;
}

/* ------------------------------------------------------------------------------------------------- inputs */

static double uniform(uint64_t *state)
{
    return (double)(pattern_random(state) >> 11) * 0x1p-53;
}

/* By hard case: "three spectra" mixed in shares of all sizes with 1 % noise, which is what cubes are like; "alike":
 * every pixel has the same spectrum, so that a covariance is 0; "equal bands": all are the same picture, so that all
 * components but the first are 0; "negative": the mixtures times -1, so that the first component is below 0. */
static enum status make_inputs(const struct input_request *request, struct image in[])
{
    static const enum pixel_type chosen[] = {PIXEL_F32, PIXEL_U8, PIXEL_U16};
    const struct pca_params *params = request->params;
    const char *hard = request->hard_case ? request->hard_case : "";
    uint64_t seed = request->seed;
    enum status status = STATUS_OK;

    TRY(array_create(&in[0], request->width, request->height, request->channels,
                     params ? chosen[params->type] : PIXEL_F32));
    pattern_fill(in, request->pattern, request->seed);
    const double most = in->type == PIXEL_U8 ? 255 : in->type == PIXEL_U16 ? 65535 : 1;
    for (int y = 0; hard[0] && y < in->height; y++)
        for (int x = 0; x < in->width; x++) {
            const double a = uniform(&seed), b = (1 - a) * uniform(&seed), c = 1 - a - b;
            for (int band = 0; band < in->channels; band++) {
                const double at = (band + 0.5) / in->channels, hill = exp(-20 * (at - 0.3) * (at - 0.3));
                const double mixed = 0.98 * (a * hill + b * at + c * (1 - 0.8 * sin(3.1 * at))) + 0.01 * uniform(&seed);
                image_set_sample(in, x, y, band,
                                 most * (hard[0] == 'a'   ? at
                                         : hard[0] == 'e' ? a
                                         : hard[0] == 'n' ? -mixed
                                                          : mixed));
            }
        }
out:
    return status;
}

static const int mixtures[][3] = {{31, 17, 6}, {13, 9, 31}, {0}}, photographs[][3] = {{97, 41, 3}, {0}};
static const int manies[][3] = {{263, 253, 3}, {0}}; /* 66,539 pixels: sums of squares of bytes pass 2^32 */
static const int equals[][3] = {{31, 17, 3}, {13, 9, 31}, {0}};
static const int few[][3] = {{5, 4, 7}, {0}}, singles[][3] = {{1, 1, 5}, {0}};

static const struct hard_case hard_cases[] = {
    {.name = "three spectra", .shapes = mixtures},
    {.name = "three spectra", .shapes = mixtures, .settings = "stretch=sigma center=0 type=u16 components=5"},
    {.name = "three spectra", .shapes = photographs, .settings = "type=u8"},
    {.name = "three spectra", .shapes = manies, .settings = "type=u8"},
    {.name = "equal bands", .shapes = equals},
    {.name = "equal bands", .shapes = equals, .settings = "stretch=sigma type=u8"},
    {.name = "alike", .shapes = few},
    {.name = "alike", .shapes = few, .settings = "stretch=sigma center=0"},
    {.name = "alike", .shapes = singles, .settings = "type=u16"},
    {.name = "negative", .shapes = mixtures, .settings = "center=0", .further = true},
    {0},
};

static const char *const check_settings[] = {"type=u8 stretch=sigma", "type=u16 components=2", "center=0 components=1",
                                             NULL};

static const int check_shapes[][3] = {
    {1, 7, 3}, {13, 9, 16}, {61, 1, 4}, {33, 31, 3}, {2, 3, 33}, {300, 3, 3}, {0},
};

/* -------------------------------------------------------------------------- answers worked out by hand */

static const enum pixel_type whole8[] = {PIXEL_U8};

static const struct golden goldens[] = {
    {
        /* Means 2 and 3, covariance 1 everywhere: its value 2 belongs to (1, 1) / sqrt 2, on which the pixels lie at
         * 3 / sqrt 2 and 7 / sqrt 2. */
        .name = "two pixels",
        .settings = "components=1",
        .width = 1,
        .height = 2,
        .channels = 2,
        .in = {GOLDEN_SAMPLES(float, 1, 2, 3, 4)},
        .out = {GOLDEN_SAMPLES(uint8_t, 0, 0, 0, 255, 255, 255), GOLDEN_SAMPLES(float, 2.1213203f, 4.9497475f),
                GOLDEN_SAMPLES(double, 2), GOLDEN_SAMPLES(double, 0.70710678118654752, 0.70710678118654752)},
    },
    {
        /* R is diagonal, 8 and 2: its vectors are the axes, and the components the samples. */
        .name = "axes",
        .settings = "components=2 center=0 type=u8",
        .width = 4,
        .height = 1,
        .channels = 2,
        .types = whole8,
        .in = {GOLDEN_SAMPLES(uint8_t, 4, 0, 0, 2, 0, 2, 4, 0)},
        .out = {GOLDEN_SAMPLES(uint8_t, 255, 0, 0, 0, 255, 255, 0, 255, 255, 255, 0, 0),
                GOLDEN_SAMPLES(float, 4, 0, 0, 2, 0, 2, 4, 0), GOLDEN_SAMPLES(double, 8, 2),
                GOLDEN_SAMPLES(double, 1, 0, 0, 1)},
    },
    {0},
};

static struct algorithm pca = {
    .name = "pca",
    .summary = "principal components of a spectral image and their view in colour, u8, u16 or f32",
    .inputs =
        {{.name = "cube", .kind = SLOT_TENSOR, .type = PIXEL_F32, .help = "height x width x bands", .pixels = true}},
    .outputs = {{.name = "rgb",
                 .kind = SLOT_PICTURE,
                 .pixels = true,
                 .help = "the first three components",
                 .comparison = {.tolerance = 1,
                                .property = largest_level,
                                .property_name =
                                    "largest difference from its own components' stretch, or a third of that from the "
                                    "reference's, in levels"}},
                {.name = "components",
                 .kind = SLOT_TENSOR,
                 .pixels = true,
                 .help = "height x width x components",
                 .comparison = {.tolerance = 1e-4,
                                .property = largest_projection,
                                .property_name =
                                    "largest difference from its own vectors' products, as a share of |s|"}},
                {.name = "values",
                 .kind = SLOT_MATRIX,
                 .help = "the largest first",
                 .comparison = {.tolerance = 1e-3, .relative = true}},
                {.name = "vectors",
                 .kind = SLOT_MATRIX,
                 .help = "a column each",
                 .comparison = {.tolerance = 1e-3,
                                .property = largest_residual,
                                .property_name = "largest residual |R v - lambda v| / |R|, or 1000 times a product"}}},
    .params_size = sizeof(struct pca_params),
    .parameters = parameters,
    .shape = shape,
    .check_values = check_values,
    .cost = cost,
    .describe = describe,
    .make_inputs = make_inputs,
    .hard_cases = hard_cases,
    .check_settings = check_settings,
    .check_shapes = check_shapes,
    .goldens = goldens,
    .bench_channels = 31,
    .bench_shape = (const int[]){1024, 1024, 31},
};

RUNGS_ALGORITHM(pca)
