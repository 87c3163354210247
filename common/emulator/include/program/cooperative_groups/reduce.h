/* reduce.h: part of cooperative_groups.h. */
#ifndef EMULATED_COOPERATIVE_GROUPS_REDUCE_H
#define EMULATED_COOPERATIVE_GROUPS_REDUCE_H
#include <cooperative_groups.h>
#endif
