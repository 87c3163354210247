/*
 * counted.h: what the emulator counts of a version's kernels (common/emulator/counters.h), in words of ncu's metrics.
 */
#ifndef RUNGS_COUNTED_H
#define RUNGS_COUNTED_H

#include "common/profile/ncu.h"

/* Runs `arguments` (NULL-terminated, a program that is built with COUNTED=1 first) and reads what its kernels cost; of
 * what the emulator does not count a value is NaN. STATUS_UNSUPPORTED when the program cannot be run or counts nothing,
 * with the reason in one line. *kernels is to be freed with free(). */
enum status counted_run(const char *const *arguments, struct ncu_kernel **kernels, size_t *count);

/* Runs them again for their table with source lines, on stdout. */
enum status counted_lines(const char *const *arguments);

/* The reading part: `text` is the emulator's CSV. */
enum status counted_parse(const char *text, struct ncu_kernel **kernels, size_t *count);

#endif
