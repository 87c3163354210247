/* expect: right 0..0 | says the rows are small */
/*
 * Idea:     a chunk that does nothing: rows that are said not to be small go by the contract's own definition.
 * Changed:  nothing that helps.
 * Expect:   the grader's verdict in the first line.
 */
#include "common/algo/kmeans.h"

static void nothing(const struct kmeans_assignment *assignment, const struct kmeans_table *table, int64_t first,
                    int64_t last, int32_t *partial, int64_t *counts)
{
    (void)assignment, (void)table, (void)first, (void)last, (void)partial, (void)counts;
}

static enum status assign(void *state, const struct kmeans_assignment *assignment)
{
    struct kmeans_rows rows = *assignment->rows;
    struct kmeans_assignment same = *assignment;

    (void)state;
    rows.small = false;
    same.rows = &rows;
    return kmeans_assign_chunks(&same, nothing, 1, false);
}

static enum status run(const struct image *in, struct image *out, const struct kmeans_params *params)
{
    return kmeans_solve(in, out, params, assign, NULL, true);
}

RUNGS_CPU_VERSION(kmeans)
