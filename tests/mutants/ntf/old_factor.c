/*
 * Idea:     Gauss-Seidel over the factors.
 * Changed:  v and w are updated from the u that the iteration began with, so that an error of scale is corrected three
 *           times.
 * Expect:   does not have the property
 * Case:     10x13, 13 channels
 */
#define MUTANT_FACTOR(mode, f) ((mode) > 0 && (f) == 0 ? work->next[f] : work->factors[f])
#include "tests/mutants/ntf/mutant.h"

RUNGS_CPU_VERSION(ntf)
