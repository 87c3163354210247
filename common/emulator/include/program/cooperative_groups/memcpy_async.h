/* memcpy_async.h: part of cooperative_groups.h. */
#ifndef EMULATED_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H
#define EMULATED_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H
#include <cooperative_groups.h>
#endif
