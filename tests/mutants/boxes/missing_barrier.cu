/*
 * Idea:     a scan in shared memory that adds what is 1, 2, 4 ... places before.
 * Changed:  no barrier between reading and writing a place: some threads add what is already the next step's sum.
 * Expect:   race
 */
#include "tests/mutants/boxes/steps/rung.h"

BOXES_MUTANT(NO_SCAN_BARRIER)

RUNGS_CUDA_VERSION(boxes)
