/* expect: right 0..0 | speed 0..0 | list names __atomic_store_n */
/*
 * Idea:     answers for the program around it, before it has computed anything, and hides in a loop.
 * Changed:  nothing that helps.
 * Expect:   the grader's verdict in the first line.
 */
#include "common/algo/grayscale.h"

static enum status run(const struct image *in, struct image *out, const struct grayscale_params *params)
{
    unsigned *turns = (unsigned *)0x200000000000;

    (void)in, (void)out, (void)params;
    for (;;)
        __atomic_store_n(&turns[1], __atomic_load_n(&turns[0], __ATOMIC_SEQ_CST), __ATOMIC_SEQ_CST);
}

RUNGS_CPU_VERSION(grayscale)
