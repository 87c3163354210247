/*
 * allocations.h: who allocates memory of the heap and keeps it.
 */
#ifndef RUNGS_ALLOCATIONS_H
#define RUNGS_ALLOCATIONS_H

#include <stdbool.h>
#include <stddef.h>

/* Notes what the program allocates from now on, but for a build with a sanitizer, which has an allocator of its own. */
void allocations_begin(void);
/* Whether something is left of what was noted. `text` says where the largest part of it was allocated: " at FILE:LINE",
 * " by setup()" where the program has no lines, "" when that is not known. */
bool allocations_end(char *text, size_t size);

#endif
