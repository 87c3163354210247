/*
 * circumstances.h: what a case of `rungs check` is tried with beside its input and its parameters, and no result may
 * depend on.
 */
#ifndef RUNGS_CIRCUMSTANCES_H
#define RUNGS_CIRCUMSTANCES_H

#include "common/verify/check_cases.h"

enum { CIRCUMSTANCES_WORDS = 200 }; /* bytes of the words below, with the 0 that ends them */

/* Stands in the words of a case with a page beside the input that can't be read. */
#define CIRCUMSTANCES_PAGE "nothing that can be read "

/* Sets launch parameters, the size of an emulated device, threads of OpenMP (`threads` where the case names none) and
 * the layout of the buffers that the case will be tried in, all by lot of `seed` where the case lets it draw. `words`
 * name them, each behind ", ". */
void circumstances_set(const struct version *version, const struct check_case *item, const struct image in[],
                       const void *params, uint64_t seed, int threads, char words[CIRCUMSTANCES_WORDS]);

#endif
