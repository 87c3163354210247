/*
 * used.cuh: a map with a bit for each entry of the table, set where the entry is in use, in words of 32 bits.
 */
#ifndef RUNGS_BOXES_STEPS_USED_CUH
#define RUNGS_BOXES_STEPS_USED_CUH

#include "cuda/boxes/shared/sums.cuh"

/* How many entries that a word of the map says are used are large enough; `table` is the one of bit 0. */
static inline __device__ int count_large(const struct boxes_sums *table, unsigned word, int min_area)
{
    int count = 0;

    for (; word; word &= word - 1)
        count += table[__ffs((int)word) - 1].area >= min_area;
    return count;
}

/* Each block counts the entries that get a row in its stretch: BOXES_STRETCH words of the map, one a thread. */
enum status boxes_count_used(const struct boxes_sums *table, const unsigned *used, int words, int min_area, int *counts,
                             cudaStream_t stream);
/* Then each writes its rows, and leaves its entries and its words empty; the last one finishes the output (v1.6). */
enum status boxes_write_used(struct boxes_sums *table, unsigned *used, int words, int min_area, int *counts,
                             const struct image *out, cudaStream_t stream);

#endif
