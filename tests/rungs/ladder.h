/*
 * ladder.h: the parameters of the ladder that only tests/test_rungs.sh builds.
 */
#ifndef RUNGS_TEST_LADDER_H
#define RUNGS_TEST_LADDER_H

#include "common/contract/registry.h"

struct ladder_params {
    int unused;
};

#endif
