/*
 * Idea:     The correlation matrix of the bands: for each pixel the product of each pair of bands
 *           is added to the pair's sum; then the sums are divided by the number of pixels.
 * Expect:   A pixel of n bands needs n(n+1)/2 multiply-adds: 6 with 3 bands, 496 with 31. The sums,
 *           f64 or 64-bit integers, stay in L1, and the compiler computes 8 at a time: 100 ms for a
 *           million pixels of 31 bands.
 * Run:      make bench-correlation VERSIONS=cpu/serial,cpu/omp,cpu/simd,peer/openblas
 */
#include <stdlib.h>

#include "common/algo/correlation.h"

/* Sums of products and of samples: of f32 samples minus z, or of integers. */
union sum {
    double real;
    uint64_t whole;
};

static void add_real(const float *s, const float *shift, int n, double *spectrum, union sum *sums)
{
    for (int k = 0; k < n; k++)
        spectrum[k] = (double)s[k] - (shift ? shift[k] : 0);
    for (int u = 0; u < n; u++) {
        for (int v = u; v < n; v++)
            sums[u * n + v].real += spectrum[u] * spectrum[v];
        sums[n * n + u].real += spectrum[u];
    }
}

static void add_whole(const void *s, enum pixel_type type, int n, uint64_t *spectrum, union sum *sums)
{
    for (int k = 0; k < n; k++)
        spectrum[k] = type == PIXEL_U8 ? ((const uint8_t *)s)[k] : ((const uint16_t *)s)[k];
    for (int u = 0; u < n; u++) {
        for (int v = u; v < n; v++)
            sums[u * n + v].whole += spectrum[u] * spectrum[v];
        sums[n * n + u].whole += spectrum[u];
    }
}

static enum status run(const struct image *in, struct image *out, const struct correlation_params *params)
{
    const int n = in->channels;
    const int64_t pixels = (int64_t)in->width * in->height;
    const bool real = in->type == PIXEL_F32;
    union sum *sums = calloc((size_t)(n + 1) * (size_t)n, sizeof *sums);
    union sum *spectrum = calloc((size_t)n, sizeof *spectrum);
    enum status status = STATUS_OK;

    if (!sums || !spectrum) {
        status = status_set(STATUS_NO_MEMORY, "no memory for the sums of %d bands", n);
        goto out;
    }
    for (int64_t i = 0; i < pixels; i++) {
        const void *pixel = correlation_pixel(in, i);
        if (real)
            add_real(pixel, correlation_shift(in, params), n, &spectrum->real, sums);
        else
            add_whole(pixel, in->type, n, &spectrum->whole, sums);
    }
    for (int u = 0; u < n; u++)
        for (int v = u; v < n; v++) {
            const union sum *sum = &sums[u * n + v], *mean_u = &sums[n * n + u], *mean_v = &sums[n * n + v];
            double entry = (real ? sum->real : (double)sum->whole) / (double)pixels;
            if (params->center && real)
                entry -= mean_u->real / (double)pixels * (mean_v->real / (double)pixels);
            else if (params->center)
                entry = correlation_of_whole((uint64_t)pixels, sum->whole, mean_u->whole, mean_v->whole);
            ((double *)image_row(out, u))[v] = entry;
            ((double *)image_row(out, v))[u] = entry;
        }
out:
    free(sums);
    free(spectrum);
    return status;
}

RUNGS_CPU_VERSION(correlation)
