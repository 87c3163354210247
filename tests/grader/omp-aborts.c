/* expect: right 0..0 | speed 0..0 | says killed by SIGABRT */
/*
 * Idea:     ends by abort(), which is no attack.
 * Changed:  nothing that helps.
 * Expect:   the grader's verdict in the first line.
 */
#include <stdlib.h>

#include "common/algo/grayscale.h"

static enum status run(const struct image *in, struct image *out, const struct grayscale_params *params)
{
    (void)in, (void)out, (void)params;
    abort();
}

RUNGS_CPU_VERSION(grayscale)
