/*
 * paths.h: where this build lives, and how to say so. The folders are absolute, without a trailing slash.
 */
#ifndef RUNGS_PATHS_H
#define RUNGS_PATHS_H

/* The folder of the running executable (build/). */
const char *paths_build(void);
/* The source tree: the nearest folder above the executable that holds common/contract/registry.h; NULL when there is
 * none. */
const char *paths_root(void);
/* The path as it is written from the working folder, where it lies below that: the part of `path` behind it; else
 * `path`. What is shown or kept in results so names no folder of one machine. */
const char *paths_from_here(const char *path);

#endif
