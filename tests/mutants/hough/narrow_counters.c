/*
 * Idea:     counters of 16 bits, half the memory.
 * Changed:  65536 votes are none.
 * Expect:   too small by multiples of 65536: counted in 16 bits
 * Case:     65535x2
 */
#include "tests/mutants/hough/mutant.h"

static int32_t increment(int32_t votes)
{
    return (uint16_t)(votes + 1);
}

static enum status run(const struct image *in, struct image *out, const struct hough_params *params)
{
    return mutant_run(in, out, params, hough_offset, increment, hough_votes_for, hough_is_line);
}

RUNGS_CPU_VERSION(hough)
