/*
 * mutant.h: what the mutants of ntf share: the definition's pass, whose parts each of them spoils by a macro.
 *
 *     MUTANT_LAST(side)        where the sum over the third factor's rows ends
 *     MUTANT_FACTOR(mode, f)   which factor f = 0, 1, 2 the numerators of `mode` are made of
 */
#ifndef RUNGS_NTF_MUTANT_H
#define RUNGS_NTF_MUTANT_H

#include "common/algo/ntf.h"

#ifndef MUTANT_LAST
#define MUTANT_LAST(side) (side)
#endif
#ifndef MUTANT_FACTOR
#define MUTANT_FACTOR(mode, f) work->factors[f]
#endif

static enum status pass(void *state, struct ntf_work *work, int mode)
{
    const int first = mode == 0, second = mode == 2 ? 1 : 2;
    const size_t stride = (size_t)work->stride;

    (void)state;
    for (int i = 0; i < work->sides[mode]; i++) {
        double sums[NTF_MAX_RANK] = {0};
        for (int a = 0; a < work->sides[first]; a++)
            for (int b = 0; b < MUTANT_LAST(work->sides[second]); b++)
                for (int k = 0; k < work->rank; k++)
                    sums[k] += (double)ntf_sample(work->in, mode, i, a, b) *
                               MUTANT_FACTOR(mode, first)[(size_t)a * stride + (size_t)k] *
                               MUTANT_FACTOR(mode, second)[(size_t)b * stride + (size_t)k];
        for (int k = 0; k < work->rank; k++)
            work->numerators[mode][(size_t)i * stride + (size_t)k] = (float)sums[k];
        ntf_update(work, mode, i, 1);
    }
    return STATUS_OK;
}

static enum status run(const struct image *in, struct image *out, const struct ntf_params *params)
{
    return ntf_solve(in, out, params, pass, NULL, false);
}

#endif
