/*
 * ceiling.h: what this machine can do at most, measured with the threads that the versions get: the two rates that turn
 * an algorithm's cost into a time that no version can go far below.
 */
#ifndef RUNGS_CEILING_H
#define RUNGS_CEILING_H

#include <stddef.h>

#include "common/core/status.h"

struct ceilings {
    double copy_bytes_per_second;           /* read + write counted; 0 = not measured */
    double multiply_accumulates_per_second; /* unsigned by signed 8-bit products into 32-bit sums; 0 = not measured */
    const char *multiply_accumulate_by;     /* the instruction it was measured with: "AVX-512 vpdpbusd" */
};

/* Measures both, in the calling process (from a child: it starts an OpenMP team). `from` and `to` are the bytes that
 * one call of the algorithm reads and writes, `sets` how many such pairs the bench rotates through: the copies go
 * through as many pairs of buffers of (from + to) / 2 bytes, so they meet the same caches as the versions do. Copies
 * with memcpy and, on x86, with streaming stores, by all threads and by one, and keeps the best; of repeated
 * samples the fastest tenth counts, for a ceiling must hold when no neighbour takes the cores. Takes about `seconds`,
 * and more where buffers are large. */
enum status ceilings_measure(size_t from, size_t to, int sets, int threads, double seconds, struct ceilings *ceilings);

#endif
