/* scan.h: part of cooperative_groups.h. */
#ifndef EMULATED_COOPERATIVE_GROUPS_SCAN_H
#define EMULATED_COOPERATIVE_GROUPS_SCAN_H
#include <cooperative_groups.h>
#endif
