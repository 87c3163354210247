/*
 * races_internal.h: what the watch over accesses (races.cpp) gives to the functions that the compiler calls
 * (races_hooks.cpp).
 */
#ifndef RUNGS_RACES_INTERNAL_H
#define RUNGS_RACES_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

namespace emulated
{

enum class access { read, write, atomic_read, atomic_write };

/* Whether some of the program's code calls these functions: else there is nothing to watch, and no need of cells. */
extern bool can_watch;
/* Whether this launch is watched. */
extern bool watching;

/* A thread of a kernel accesses so many bytes; `caller` is the place in the program. */
void races_access(access kind, const volatile void *at, size_t bytes, const void *caller);
/* Besides, an atomic operation tells what was known before a fence to those that see its result. */
void races_atomic_access(access kind, volatile void *address, size_t bytes, const void *caller);
void races_fence();
/* Whether this is global or shared memory of the device whose accesses are watched. */
bool races_knows(const volatile void *address);

} /* namespace emulated */

#endif
