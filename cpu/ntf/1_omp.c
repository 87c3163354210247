/*
 * Problem:  cpu/serial uses one core, though the rows of a factor do not depend on each other.
 * Idea:     Threads share the rows of the factor that is updated: each reads the slices of the
 *           tensor (samples with one index fixed) of its rows, and no other thread writes there.
 * Expect:   As many times as fast as there are cores, though for w every thread reads all cache
 *           lines of the tensor, as its slices have one sample in each.
 * Result:   1.8 times as fast as cpu/serial with 2 threads, rank 4
 *           (results/cpu2/ntf/ntf_24x16520.json).
 * Run:      make diff-ntf A=cpu/serial B=cpu/omp
 */
#include <string.h>

#include "common/algo/ntf.h"

static enum status pass(void *state, struct ntf_work *work, int mode)
{
    const int rank = work->rank, first = mode == 0, second = mode == 2 ? 1 : 2; /* the other two modes */
    const size_t stride = (size_t)work->stride;

    (void)state;
#pragma omp parallel for schedule(static) if (work->parallel)
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
    return ntf_solve(in, out, params, pass, NULL, true);
}

RUNGS_CPU_VERSION(ntf)
