/*
 * Idea:     the table is cleared where it is allocated, once.
 * Changed:  later calls add to the sums of those before.
 * Expect:   kept and not renewed
 */
#include "tests/mutants/boxes/steps/rung.h"

BOXES_MUTANT(CLEARED_ONCE)

RUNGS_CUDA_VERSION(boxes)
