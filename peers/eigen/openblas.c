/*
 * Idea:     the yardstick on the CPU: LAPACK's dsyevd (three diagonals, then divide and conquer), as OpenBLAS brings
 *           it.
 * Changed:  the values come in rising order, the vectors as rows; both are turned round.
 * Expect:   a third of the operations of one Jacobi sweep, most of them in matrix products: 10 times faster than the
 *           ladder from 100 columns on, less for small matrices, where the calls count.
 */
#include <cblas.h>
#include <omp.h>
#include <stdlib.h>

#include "common/algo/eigen.h"

extern void dsyevd_(const char *jobz, const char *uplo, const int *n, double *a, const int *lda, double *w,
                    double *work, const int *lwork, int *iwork, const int *liwork, int *info);

static enum status run(const struct image *in, struct image *out, const struct eigen_params *params)
{
    const int n = in->width, room = 1 + 6 * n + 2 * n * n, whole_room = 3 + 5 * n;
    double *matrix = malloc(sizeof *matrix * ((size_t)n * (size_t)n + (size_t)n + (size_t)room));
    int *whole = malloc(sizeof *whole * (size_t)whole_room), info = 0;
    enum status status = STATUS_OK;

    (void)params;
    openblas_set_num_threads(omp_get_max_threads());
    if (!matrix || !whole)
        status = status_set(STATUS_NO_MEMORY, "no memory for a matrix of %d columns", n);
    for (int top = 0; status == STATUS_OK && top < in->height; top += n) {
        double *values = matrix + n * n;
        /* A row of the upper triangle is a column of the lower one to Fortran. */
        for (int y = 0; y < n; y++)
            for (int x = y; x < n; x++)
                matrix[y * n + x] = ((const double *)image_row(in, top + y))[x];
        dsyevd_("V", "L", &n, matrix, &n, values, values + n, &room, whole, &whole_room, &info);
        if (info != 0)
            status = status_set(STATUS_FAILED, "dsyevd: info %d", info);
        for (int k = 0; k < n; k++) {
            *(double *)image_row(&out[0], top + k) = values[n - 1 - k];
            for (int y = 0; y < n; y++)
                ((double *)image_row(&out[1], top + y))[k] = matrix[(n - 1 - k) * n + y];
        }
    }
    free(matrix);
    free(whole);
    return status;
}

RUNGS_CPU_VERSION(eigen)
