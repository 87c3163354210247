/* expect: right 0..0 | speed 0..0 | says wrote this?[2J?[H line */
/*
 * Idea:     says something that would draw on a terminal or forge a line of the report.
 * Changed:  nothing that helps.
 * Expect:   the grader's verdict in the first line.
 */
#include "common/algo/grayscale.h"

static enum status run(const struct image *in, struct image *out, const struct grayscale_params *params)
{
    (void)in, (void)out, (void)params;
    return status_set(STATUS_FAILED, "wrote this\033[2J\033[H\nline");
}

RUNGS_CPU_VERSION(grayscale)
