/*
 * Idea:     the yardstick on the CPU: R as one matrix product of OpenBLAS, the transposed cube times the cube
 *           (cblas_sgemm; its cblas_ssyrk, which leaves out one triangle, takes longer at every number of bands up to
 *           81).
 * Changed:  the samples are the matrix as they lie, where rows have no padding; else a product for each row of the
 *           picture.
 * Expect:   a matrix of few columns and a million rows is not what a BLAS is made for: it blocks and copies for tiles
 *           of hundreds of columns, so that it is far from the time to read the cube up to 81 bands.
 */
#include <cblas.h>
#include <omp.h>
#include <stdlib.h>

#include "common/algo/correlation.h"

static const char *declines(const struct image in[], const void *params)
{
    if (in->type != PIXEL_F32)
        return "BLAS multiplies floats only";
    if (((const struct correlation_params *)params)->center)
        return "BLAS takes no mean off";
    return NULL;
}

static enum status run(const struct image *in, struct image *out, const struct correlation_params *params)
{
    const int n = in->channels, whole = in->stride == image_row_bytes(in);
    const int rows = whole ? in->width * in->height : in->width;
    float *matrix = malloc(sizeof *matrix * (size_t)n * (size_t)n);

    (void)params;
    if (!matrix)
        return status_set(STATUS_NO_MEMORY, "no memory for a matrix of %d bands", n);
    openblas_set_num_threads(omp_get_max_threads());
    for (int y = 0; y < (whole ? 1 : in->height); y++)
        cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, n, n, rows, 1, image_row(in, y), n, image_row(in, y), n,
                    y > 0, matrix, n);
    for (int u = 0; u < n; u++)
        for (int v = 0; v < n; v++)
            ((double *)image_row(out, u))[v] = matrix[u * n + v] / ((double)in->width * in->height);
    free(matrix);
    return STATUS_OK;
}

/* A row's f32 sums are added in f32, and so are a picture's. */
RUNGS_CPU_VERSION(correlation, .declines = declines, .tolerance = 16)
