/*
 * Idea:     the leading eigenvectors.
 * Changed:  the projection begins with the second.
 * Expect:   does not have the property
 */
#define MUTANT_VECTOR(k) ((k) + 1)
#include "tests/mutants/pca/mutant.h"

RUNGS_CPU_VERSION_WITH_STATE(pca)
