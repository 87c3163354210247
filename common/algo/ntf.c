#include "common/algo/ntf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/algo/ntf/cases.h"

/* ------------------------------------------------------------------------------------------ for host versions */

float *ntf_floats(size_t count)
{
    const size_t bytes = (count * sizeof(float) + 63) / 64 * 64;
    float *floats = aligned_alloc(64, bytes ? bytes : 64);

    if (floats)
        memset(floats, 0, bytes);
    return floats;
}

enum { WORTH_THREADS = 1 << 16 /* multiply-adds of a loop */ };

enum status ntf_take_floats(const struct image *in, const float **samples, size_t *step, float **copy)
{
    const size_t length = (size_t)in->width * (size_t)in->channels;

    *copy = NULL;
    *step = in->type == PIXEL_F32 ? in->stride / sizeof(float) : length;
    *samples = in->data;
    if (in->type == PIXEL_F32)
        return STATUS_OK;
    *samples = *copy = ntf_floats((size_t)in->height * length);
    if (!*copy)
        return status_set(STATUS_NO_MEMORY, "no memory for a copy of the tensor");
#pragma omp parallel for schedule(static)
    for (int r = 0; r < in->height; r++)
        for (size_t i = 0; i < length; i++)
            (*copy)[(size_t)r * length + i] = ((const uint8_t *)image_row(in, r))[i];
    return STATUS_OK;
}

void ntf_update(struct ntf_work *work, int mode, int first, int count)
{
    const int stride = work->stride;

    for (int i = first; i < first + count; i++) {
        const float *row = work->factors[mode] + (size_t)i * (size_t)stride;
        const float *numerators = work->numerators[mode] + (size_t)i * (size_t)stride;
        float denominators[NTF_MAX_RANK] = {0};
        for (int m = 0; m < work->rank; m++)
            for (int k = 0; k < stride; k++)
                denominators[k] += row[m] * work->weights[m * stride + k];
        for (int k = 0; k < work->rank; k++)
            work->next[mode][(size_t)i * (size_t)stride + (size_t)k] =
                ntf_updated(row[k], numerators[k], denominators[k], work->params->update);
    }
}

void ntf_products(const struct ntf_work *work, float *products)
{
    const size_t stride = (size_t)work->stride, t_side = (size_t)work->sides[2];

#pragma omp parallel for schedule(static) if (work->parallel &&                                                        \
                                              (size_t)work->sides[1] * t_side * stride >= WORTH_THREADS)
    for (int s = 0; s < work->sides[1]; s++)
        for (size_t t = 0; t < t_side; t++)
            for (size_t k = 0; k < stride; k++)
                products[((size_t)s * t_side + t) * stride + k] =
                    work->factors[1][(size_t)s * stride + k] * work->factors[2][t * stride + k];
}

void ntf_contract(struct ntf_work *work, int mode, const float *sums)
{
    const int stride = work->stride, t_side = work->sides[2];

#pragma omp parallel for schedule(static) if (work->parallel &&                                                        \
                                              (int64_t)work->sides[1] * t_side * stride >= WORTH_THREADS)
    for (int i = 0; i < work->sides[mode]; i++) {
        float *numerators = work->numerators[mode] + (size_t)i * (size_t)stride;
        double totals[NTF_MAX_RANK] = {0};
        for (int other = 0; other < work->sides[3 - mode]; other++) {
            const size_t at =
                mode == 1 ? (size_t)i * (size_t)t_side + (size_t)other : (size_t)other * (size_t)t_side + (size_t)i;
            const float *row = sums + at * (size_t)stride;
            const float *factor = work->factors[3 - mode] + (size_t)other * (size_t)stride;
            for (int k = 0; k < stride; k++)
                totals[k] += row[k] * factor[k];
        }
        for (int k = 0; k < stride; k++)
            numerators[k] = (float)totals[k];
        ntf_update(work, mode, i, 1);
    }
}

/* F'F of a factor, in f32 runs that are added in f64. */
static enum status multiply_by_itself(const struct ntf_work *work, int mode, double *gram)
{
    enum { RUN = 256 };
    const int stride = work->stride, side = work->sides[mode];
    const size_t entries = (size_t)work->rank * (size_t)stride;
    enum status status = STATUS_OK;

    memset(gram, 0, entries * sizeof *gram);
#pragma omp parallel if (work->parallel && side * (int64_t)entries >= WORTH_THREADS)
    {
        float *run = ntf_floats(entries);
        if (!run) {
#pragma omp critical
            status = STATUS_NO_MEMORY;
        }
#pragma omp for schedule(static)
        for (int first = 0; first < side; first += RUN) {
            if (!run)
                continue;
            memset(run, 0, entries * sizeof *run);
            for (int i = first; i < side && i < first + RUN; i++) {
                const float *row = work->factors[mode] + (size_t)i * (size_t)stride;
                for (int m = 0; m < work->rank; m++)
                    for (int k = 0; k < stride; k++)
                        run[m * stride + k] += row[m] * row[k];
            }
#pragma omp critical
            for (size_t i = 0; i < entries; i++)
                gram[i] += run[i];
        }
        free(run);
    }
    return status == STATUS_OK ? status : status_set(status, "no memory for a matrix of %d columns", work->rank);
}

/* SUM w N_w. */
static double product_of(const struct ntf_work *work, const float *factor)
{
    double sum = 0;

    for (int i = 0; i < work->sides[2]; i++) {
        double row = 0;
        for (int k = 0; k < work->rank; k++)
            row += (double)factor[(size_t)i * (size_t)work->stride + (size_t)k] *
                   work->numerators[2][(size_t)i * (size_t)work->stride + (size_t)k];
        sum += row;
    }
    return sum;
}

static double norm_of(const struct image *in, bool parallel)
{
    double norm = 0;

#pragma omp parallel for schedule(static) reduction(+ : norm) if (parallel)
    for (int r = 0; r < in->height; r++) {
        double row = 0;
        for (int s = 0; s < in->width; s++)
            for (int t = 0; t < in->channels; t++) {
                const double g = ntf_sample(in, 0, r, s, t);
                row += g * g;
            }
        norm += row;
    }
    return norm;
}

/* The factors into the outputs, and their products. */
static void finish(const struct ntf_work *work, struct image out[])
{
    const size_t stride = (size_t)work->stride;

    for (int mode = 0; mode < 3; mode++)
        for (int i = 0; i < work->sides[mode]; i++)
            memcpy(image_row(&out[NTF_U + mode], i), work->factors[mode] + (size_t)i * stride,
                   sizeof(float) * (size_t)work->rank);
    if (!out[NTF_APPROX].data)
        return;
#pragma omp parallel for schedule(static) if (work->parallel)
    for (int r = 0; r < work->sides[0]; r++)
        for (int s = 0; s < work->sides[1]; s++) {
            float *to = (float *)image_row(&out[NTF_APPROX], r) + (size_t)s * (size_t)work->sides[2];
            float products[NTF_MAX_RANK];
            for (int k = 0; k < work->stride; k++)
                products[k] =
                    work->factors[0][(size_t)r * stride + (size_t)k] * work->factors[1][(size_t)s * stride + (size_t)k];
            for (int t = 0; t < work->sides[2]; t++) {
                const float *w = work->factors[2] + (size_t)t * stride;
                float sum = 0;
                for (int k = 0; k < work->rank; k++)
                    sum += products[k] * w[k];
                to[t] = sum;
            }
        }
}

static enum status work_create(struct ntf_work *work, const struct image *in, const struct ntf_params *params,
                               bool parallel)
{
    *work = (struct ntf_work){.in = in, .params = params, .rank = params->rank};
    work->parallel = parallel && (double)in->width * in->height * in->channels * params->rank >= WORTH_THREADS;
    work->stride = (int)ntf_stride(params);
    work->weights = ntf_floats((size_t)work->rank * (size_t)work->stride);
    bool ready = work->weights != NULL;
    for (int mode = 0; mode < 3; mode++) {
        const size_t size = (size_t)ntf_side(in, mode) * (size_t)work->stride;
        work->sides[mode] = ntf_side(in, mode);
        work->factors[mode] = ntf_floats(size);
        work->next[mode] = ntf_floats(size);
        work->numerators[mode] = ntf_floats(size);
        ready = ready && work->factors[mode] && work->next[mode] && work->numerators[mode];
        for (int i = 0; ready && i < work->sides[mode]; i++)
            for (int k = 0; k < params->rank; k++)
                work->factors[mode][(size_t)i * (size_t)work->stride + (size_t)k] = ntf_start(params, mode, i, k);
    }
    return ready ? STATUS_OK : status_set(STATUS_NO_MEMORY, "no memory for factors of rank %d", params->rank);
}

static void work_free(struct ntf_work *work)
{
    for (int mode = 0; mode < 3; mode++) {
        free(work->factors[mode]);
        free(work->next[mode]);
        free(work->numerators[mode]);
    }
    free(work->weights);
}

static enum status take_next(struct ntf_work *work, int mode, double *gram)
{
    float *const old = work->factors[mode];

    work->factors[mode] = work->next[mode];
    work->next[mode] = old;
    return multiply_by_itself(work, mode, gram);
}

enum status ntf_solve(const struct image in[], struct image out[], const struct ntf_params *params, ntf_pass pass,
                      void *state, bool parallel)
{
    const bool damped = params->update == NTF_DAMPED;
    struct ntf_work work = {0};
    double *grams[3] = {NULL}, error = INFINITY;
    enum status status = STATUS_OK;
    int done = 0;

    TRY(work_create(&work, in, params, parallel));
    const size_t entries = (size_t)work.rank * (size_t)work.stride;
    for (int mode = 0; mode < 3; mode++) {
        grams[mode] = calloc(entries, sizeof *grams[mode]);
        if (!grams[mode]) {
            status = status_set(STATUS_NO_MEMORY, "no memory for factors of rank %d", work.rank);
            goto out;
        }
        TRY(multiply_by_itself(&work, mode, grams[mode]));
    }
    const double norm = norm_of(in, work.parallel);
    for (bool settled = false; done < params->iterations && !settled; done++) {
        double model = 0;
        for (int mode = 0; mode < 3; mode++) {
            for (size_t i = 0; i < entries; i++)
                work.weights[i] = (float)(grams[mode == 0][i] * grams[mode == 2 ? 1 : 2][i]);
            TRY(pass(state, &work, mode));
            if (!damped)
                TRY(take_next(&work, mode, grams[mode]));
        }
        for (size_t i = 0; i < entries; i++)
            model += grams[0][i] * grams[1][i] * grams[2][i];
        const double now = ntf_error(norm, product_of(&work, work.factors[2]), model);
        for (int mode = 0; damped && mode < 3; mode++)
            TRY(take_next(&work, mode, grams[mode]));
        *(double *)image_row(&out[NTF_ERRORS], done) = now;
        settled = ntf_settled(error, now, params);
        error = now;
    }
    for (; done < params->iterations; done++)
        *(double *)image_row(&out[NTF_ERRORS], done) = error;
    finish(&work, out);
out:
    for (int mode = 0; mode < 3; mode++)
        free(grams[mode]);
    work_free(&work);
    return status;
}

/* ------------------------------------------------------------------------------------------------- parameters */

static const char *const updates[] = {"gauss-seidel", "damped", NULL};
static const char *const types[] = {"f32", "u8", NULL};

static const struct parameter parameters[] = {
    {.name = "rank",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct ntf_params, rank),
     .minimum = 1,
     .maximum = NTF_MAX_RANK,
     .preset = 4,
     .help = "columns of each factor"},
    {.name = "iterations",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct ntf_params, iterations),
     .minimum = 1,
     .maximum = 100000,
     .preset = 20,
     .check_maximum = 5,
     .help = "each updates u, v and w"},
    {.name = "tolerance",
     .kind = PARAMETER_REAL,
     .offset = offsetof(struct ntf_params, tolerance),
     .minimum = 0,
     .maximum = 1,
     .preset = 0,
     .help = "ends once the error changes by this share of it or less; 0: never"},
    {.name = "target",
     .kind = PARAMETER_REAL,
     .offset = offsetof(struct ntf_params, target),
     .minimum = 0,
     .maximum = 1,
     .preset = 0,
     .help = "ends once the error is this or less; 0: never"},
    {.name = "seed",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct ntf_params, seed),
     .minimum = 0,
     .maximum = 1000000,
     .preset = 1,
     .help = "of the start; 0: all ones"},
    {.name = "update",
     .kind = PARAMETER_CHOICE,
     .offset = offsetof(struct ntf_params, update),
     .words = updates,
     .help = "each factor from the newest of the others, or all from the old ones"},
    {.name = "approx",
     .kind = PARAMETER_INT,
     .offset = offsetof(struct ntf_params, approx),
     .minimum = 0,
     .maximum = 1,
     .preset = 1,
     .help = "0: no approx"},
    {.name = "type",
     .kind = PARAMETER_CHOICE,
     .offset = offsetof(struct ntf_params, type),
     .words = types,
     .help = "samples of a tensor that is made up"},
    {0},
};

static enum status shape(const struct image in[], const void *params, struct image out[])
{
    const struct ntf_params *p = params;
    const int64_t r = in->height, s = in->width, t = in->channels;
    const int64_t rs = r * s, rt = r * t, st = s * t, most = rs < rt ? (rs < st ? rs : st) : (rt < st ? rt : st);

    if (in->type != PIXEL_F32 && in->type != PIXEL_U8)
        return status_set(STATUS_BAD_INPUT, "ntf takes u8 or f32 samples, not %s", pixel_name(in->type));
    if (p->rank > most)
        return status_set(STATUS_BAD_INPUT, "a tensor of %dx%dx%d has rank %lld at most, not %d", in->height, in->width,
                          in->channels, (long long)most, p->rank);
    if (p->approx) {
        out[NTF_APPROX] = *in;
        out[NTF_APPROX].type = PIXEL_F32;
    }
    for (int slot = NTF_U; slot <= NTF_ERRORS; slot++) {
        out[slot].width = slot == NTF_ERRORS ? 1 : p->rank;
        out[slot].height = slot == NTF_ERRORS ? p->iterations : ntf_side(in, slot - NTF_U);
        out[slot].channels = 1;
        out[slot].type = slot == NTF_ERRORS ? PIXEL_F64 : PIXEL_F32;
    }
    return STATUS_OK;
}

static enum status check_values(const struct image in[], const void *params)
{
    (void)params;
    for (int y = 0; in->type == PIXEL_F32 && y < in->height; y++)
        for (int x = 0; x < in->width; x++)
            for (int c = 0; c < in->channels; c++) {
                const float g = ((const float *)image_row(in, y))[(size_t)x * (size_t)in->channels + (size_t)c];
                if (!(g >= 0 && g <= 0x1p40f))
                    return status_set(STATUS_BAD_INPUT, "sample (%d,%d,%d) is %g: ntf takes numbers from 0 to 2^40", y,
                                      x, c, (double)g);
            }
    return STATUS_OK;
}

/* The tensor is read once for each iteration, for a slice's numerators and its share of the other two modes' can be had
 * from one read; a product with u v or w for each sample, twice, counts in K. */
static void cost(const struct image in[], const struct image out[], const void *params, struct cost *cost)
{
    const struct ntf_params *p = params;
    const double samples = (double)in->width * in->height * in->channels;

    (void)out;
    cost->bytes = (double)image_pixel_bytes(in) * p->iterations + (p->approx ? 4 * samples : 0);
    cost->operations[OPERATION_MULTIPLY_ADD_F32] = samples * p->rank * (2.0 * p->iterations + p->approx);
}

static void describe(const void *params, char *text, size_t size)
{
    const struct ntf_params *p = params;

    snprintf(text, size, "rank=%d iterations=%d tolerance=%g target=%g seed=%d update=%s approx=%d", p->rank,
             p->iterations, p->tolerance, p->target, p->seed, updates[p->update], p->approx);
}

const char *ntf_tensorly_declines(const struct image in[], const void *params)
{
    const struct ntf_params *p = params;

    if (p->update != NTF_GAUSS_SEIDEL)
        return "tensorly has no damped updates";
    if (p->tolerance > 0 || p->target > 0)
        return "tensorly ends by a rule of its own";
    for (int r = 0; r < in->height; r++)
        for (int s = 0; s < in->width; s++)
            for (int t = 0; t < in->channels; t++)
                if (image_sample(in, s, r, t) >= 0.1)
                    return NULL;
    return "tensorly lifts sums to 1.2e-7, which small samples feel: all are below 0.1 here";
}

/* ------------------------------------------------------------------------------------------------- comparison */

/* Of squared errors: the larger one of what two versions may differ by, and of a rise, as a share of what is legal. */
static double share_of_bound(const struct property_case *item)
{
    const struct image *e = &item->expected[NTF_ERRORS], *a = &item->actual[NTF_ERRORS];
    const struct ntf_params *params = item->params;
    double worst = 0, before = INFINITY;

    for (int i = 0; i < a->height; i++) {
        const double now = *(const double *)image_row(a, i), other = *(const double *)image_row(e, i);
        double share = fabs(now * now - other * other) / (1e-5 + 1e-3 * other * other);
        if (!(params->update == NTF_DAMPED || (now * now - before * before) / 1e-5 <= share))
            share = (now * now - before * before) / 1e-5;
        if (!(share <= worst))
            worst = share;
        if (isnan(worst))
            return worst;
        before = now;
    }
    return worst;
}

/* The largest difference of a slot's samples, as a share of its largest expected one. */
static double largest_share(const struct property_case *item, int slot)
{
    const struct image *e = &item->expected[slot], *a = &item->actual[slot];
    double largest = 0, worst = 0;

    for (int y = 0; y < e->height; y++)
        for (int x = 0; x < e->width; x++)
            for (int c = 0; c < e->channels; c++) {
                const double difference = fabs(image_sample(e, x, y, c) - image_sample(a, x, y, c));
                largest = fmax(largest, image_sample(e, x, y, c));
                worst = difference <= worst ? worst : difference;
                if (isnan(worst))
                    return worst;
            }
    return largest > 0 ? worst / largest : worst;
}

static double share_of_approx(const struct property_case *item)
{
    return largest_share(item, NTF_APPROX);
}

static double share_of_u(const struct property_case *item)
{
    return largest_share(item, NTF_U);
}

static double share_of_v(const struct property_case *item)
{
    return largest_share(item, NTF_V);
}

static double share_of_w(const struct property_case *item)
{
    return largest_share(item, NTF_W);
}

#define SHARE "largest difference as a share of the largest sample"

/* The base pictures v_k w_k' one beside the other, each from 0 to its own largest sample. */
static enum status draw(const struct image in[], const struct image out[], const void *params, struct image *picture)
{
    const int k = ((const struct ntf_params *)params)->rank, columns = (int)ceil(sqrt(k)), gap = 1;
    const int width = in->channels + gap, height = in->width + gap, rows = (k + columns - 1) / columns;
    enum status status = STATUS_OK;

    TRY(image_create(picture, columns * width - gap, rows * height - gap, 1, PIXEL_U8));
    image_fill(picture, 0);
    for (int i = 0; i < k; i++) {
        double most_v = 0, most_w = 0;
        for (int y = 0; y < in->width; y++)
            most_v = fmax(most_v, image_sample(&out[NTF_V], i, y, 0));
        for (int x = 0; x < in->channels; x++)
            most_w = fmax(most_w, image_sample(&out[NTF_W], i, x, 0));
        for (int y = 0; y < in->width; y++)
            for (int x = 0; x < in->channels; x++)
                image_set_sample(picture, i % columns * width + x, i / columns * height + y, 0,
                                 255 * image_sample(&out[NTF_V], i, y, 0) / most_v *
                                     (image_sample(&out[NTF_W], i, x, 0) / most_w));
    }
out:
    return status;
}

static struct algorithm ntf = {
    .name = "ntf",
    .summary = "nonnegative factorisation of a tensor into three factors by multiplicative updates, u8 or f32",
    .inputs = {{.name = "tensor", .kind = SLOT_TENSOR, .type = PIXEL_F32, .help = "R x S x T, none negative"}},
    .outputs = {{.name = "approx",
                 .kind = SLOT_TENSOR,
                 .help = "R x S x T; as a picture: the K base pictures v w'",
                 .comparison = {.tolerance = 1e-2, .property = share_of_approx, .property_name = SHARE},
                 .draw = draw},
                {.name = "u",
                 .kind = SLOT_MATRIX,
                 .help = "R x K",
                 .comparison = {.tolerance = 1e-2, .property = share_of_u, .property_name = SHARE}},
                {.name = "v",
                 .kind = SLOT_MATRIX,
                 .help = "S x K",
                 .comparison = {.tolerance = 1e-2, .property = share_of_v, .property_name = SHARE}},
                {.name = "w",
                 .kind = SLOT_MATRIX,
                 .help = "T x K",
                 .comparison = {.tolerance = 1e-2, .property = share_of_w, .property_name = SHARE}},
                {.name = "errors",
                 .kind = SLOT_MATRIX,
                 .help = "|G - approx| / |G| of each iteration",
                 .comparison = {.tolerance = 1,
                                .property = share_of_bound,
                                .property_name =
                                    "largest difference or rise of errors^2 as a share of the legal one"}}},
    .params_size = sizeof(struct ntf_params),
    .parameters = parameters,
    .shape = shape,
    .check_values = check_values,
    .cost = cost,
    .describe = describe,
    .make_inputs = ntf_make_inputs,
    .hard_cases = ntf_hard_cases,
    .check_settings = ntf_check_settings,
    .check_shapes = ntf_check_shapes,
    .goldens = ntf_goldens,
    .bench_channels = 24,
    .bench_shape = (const int[]){24, 16520, 24},
};

RUNGS_ALGORITHM(ntf)
