/*
 * Idea:     a stretch from the extremes.
 * Changed:  they are those of all rows but the last one.
 * Expect:   does not have the property
 */
#define MUTANT_ROWS(height) ((height)-1)
#include "tests/mutants/pca/mutant.h"

RUNGS_CPU_VERSION_WITH_STATE(pca)
