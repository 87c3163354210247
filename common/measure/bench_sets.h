/*
 * bench_sets.h: the sets of inputs and outputs that timed calls rotate through, so that a call finds its inputs in main
 * memory and not in cache.
 *
 * What a set holds, so that each one is legal input of the algorithm:
 *
 *     pictures and labels     the bench's own input, cyclically shifted in both directions by another amount in each
 *     set:
 *                             other content with the same statistics. An algorithm that says `inputs_stay_in_place` is
 *                             treated like those of the next line
 *     other kinds, made       sets 0, 2, 4 ... hold the bench's own input, the odd ones what the algorithm's maker
 *     gives
 *                             for the next seed
 *     other kinds, no maker,  the same content in each set, in other memory. Then only the verification, which has
 *     inputs of
 *     or the user's own file  its own, can tell that a version keeps results from call to call
 */
#ifndef RUNGS_BENCH_SETS_H
#define RUNGS_BENCH_SETS_H

#include "common/contract/algorithm.h"

/* Where the content of the sets comes from. */
struct bench_source {
    const struct algorithm *algorithm;
    const void *params;
    struct image in[ALGORITHM_MAX_INPUTS];    /* the caller's */
    struct image other[ALGORITHM_MAX_INPUTS]; /* of the odd sets where they are made; else no data */
    bool shifts;                              /* pictures and labels are shifted */
    struct image out[ALGORITHM_MAX_OUTPUTS];  /* shapes of the outputs, with minimal strides and without data */
    size_t in_bytes, out_bytes;               /* of one set */
};

/* `made`: how in[] were made, NULL when they are the user's own. */
enum status bench_source_open(struct bench_source *source, const struct algorithm *algorithm, const struct image in[],
                              const void *params, const struct input_request *made);
void bench_source_close(struct bench_source *source);

/* Enough sets to exceed the last-level cache, as far as 256 MiB go; two at least. */
int bench_source_sets(const struct bench_source *source);

struct bench_sets {
    const struct bench_source *source;
    int count;
    struct image (*in)[ALGORITHM_MAX_INPUTS];
    struct image (*out)[ALGORITHM_MAX_OUTPUTS];
    int pinned; /* so many of them, from the first, are page-locked */
};

/* Makes `count` sets, the contents as of `of` sets in all; outputs hold poison. For a child: OpenMP threads fill them,
 * so that each part of an image is first touched near the core that will read it. */
enum status bench_sets_create(struct bench_sets *sets, const struct bench_source *source, int count, int of);
void bench_sets_free(struct bench_sets *sets);

/* Makes all memory of the sets page-locked, once. Starts the CUDA runtime. */
enum status bench_sets_pin(struct bench_sets *sets);

/* Gives set number `set` the content that it has from the beginning. */
void bench_sets_fill(struct bench_sets *sets, int set, int of);
/* Poisons the outputs of a set. */
void bench_sets_poison(struct bench_sets *sets, int set);

#endif
