/*
 * Idea:     four rows of a factor at a time.
 * Changed:  those that are left over are forgotten.
 * Expect:   does not have the property
 */
#define MUTANT_LAST(side) ((side) / 4 * 4)
#include "tests/mutants/ntf/mutant.h"

RUNGS_CPU_VERSION(ntf)
