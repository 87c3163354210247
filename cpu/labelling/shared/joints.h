/*
 * joints.h: where bands meet, for rungs whose runs have their labels from their parents: roots are hung there and nothing
 * else changes, so that within a band all paths stay as they are.
 */
#ifndef RUNGS_LABELLING_STEPS_JOINTS_H
#define RUNGS_LABELLING_STEPS_JOINTS_H

#include "cpu/labelling/shared/lists.h"
#include "cpu/labelling/shared/trees.h"

/* Unites the runs of row y, the first of a band, with those they touch in the row above. */
static inline void joints_unite(const struct runs *runs, int connectivity, int y, struct lists *lists)
{
    const int32_t own = runs->first[y] - 1, above = runs->first[y - 1] - 1;

    lists_make(lists, runs, connectivity, y);
    for (const struct list *list = &lists->links; list; list = list == &lists->links ? &lists->rest : NULL)
        for (int i = 0; i < list->count; i++) {
            const int32_t a = find(runs->parent, own + list->own[i]), b = find(runs->parent, above + list->above[i]);
            runs->parent[a > b ? a : b] = a < b ? a : b;
        }
}

/* Behind all joints: the labels of roots that hang under others now, each of which has a run in one of these two rows;
 * their numbers as well where there are any. */
static inline void joints_settle(const struct runs *runs, int y, bool numbers)
{
    for (int row = y - 1; row <= y; row++)
        for (int32_t i = runs->first[row]; i < runs->first[row] + runs->count[row]; i++) {
            const int32_t root = find(runs->parent, i);
            runs->label[i] = runs->label[runs->parent[i]] = runs->label[root];
            if (numbers)
                runs->number[i] = runs->number[runs->parent[i]] = runs->number[root];
        }
}

#endif
