/*
 * Idea:     the sums are cleared with everything else that a call prepares.
 * Changed:  setup() clears them, so that a second launch() after one setup() adds to the sums of the first.
 * Expect:   a second launch() after one setup() differs
 */
#include "tests/mutants/boxes/steps/rung.h"

BOXES_MUTANT(CLEARED_IN_SETUP)

RUNGS_CUDA_VERSION(boxes)
