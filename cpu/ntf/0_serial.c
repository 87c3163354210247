/*
 * Idea:     Nonnegative tensor factorisation by multiplicative updates: a sum of products of the
 *           columns of three matrices (factors) u, v, w, as many as the rank, approximates the
 *           tensor. A sample times its entries of two factors is added to a numerator of the third:
 *           3 passes per iteration.
 * Expect:   300 ms per iteration: two products and an addition in f64 per sample, column and pass,
 *           24 x 24 x 16,520 x 16 x 3 = 457 million times with rank 16.
 * Result:   244 ms per iteration (results/cpu2/ntf/ntf_24x16520_rank16.json).
 * Run:      make bench-ntf VERSIONS=cpu/serial,cpu/omp,cpu/simd
 */
#include <string.h>

#include "common/algo/ntf.h"

static enum status pass(void *state, struct ntf_work *work, int mode)
{
    const int rank = work->rank, first = mode == 0, second = mode == 2 ? 1 : 2; /* the other two modes */
    const size_t stride = (size_t)work->stride;

    (void)state;
    for (int i = 0; i < work->sides[mode]; i++) {
        double sums[NTF_MAX_RANK] = {0};
        for (int a = 0; a < work->sides[first]; a++)
            for (int b = 0; b < work->sides[second]; b++) {
                const double g = ntf_sample(work->in, mode, i, a, b);
                for (int k = 0; k < rank; k++)
                    sums[k] += g * work->factors[first][(size_t)a * stride + (size_t)k] *
                               work->factors[second][(size_t)b * stride + (size_t)k];
            }
        for (int k = 0; k < rank; k++)
            work->numerators[mode][(size_t)i * stride + (size_t)k] = (float)sums[k];
        ntf_update(work, mode, i, 1);
    }
    return STATUS_OK;
}

static enum status run(const struct image *in, struct image *out, const struct ntf_params *params)
{
    return ntf_solve(in, out, params, pass, NULL, false);
}

RUNGS_CPU_VERSION(ntf)
