/*
 * paths.h: where this build lives. Both are absolute, without a trailing slash.
 */
#ifndef RUNGS_PATHS_H
#define RUNGS_PATHS_H

/* The folder of the running executable (build/). */
const char *paths_build(void);
/* The source tree: the nearest folder above the executable that holds common/contract/registry.h; NULL when there is none. */
const char *paths_root(void);

#endif
