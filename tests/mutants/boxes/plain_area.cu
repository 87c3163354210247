/*
 * Idea:     a component's sums by atomics, its area by the += that everybody writes first.
 * Changed:  two threads of a component read the same area, and one of the two is lost.
 * Expect:   race
 */
#include "tests/mutants/boxes/steps/rung.h"

BOXES_MUTANT(PLAIN_AREA)

RUNGS_CUDA_VERSION(boxes)
