/*
 * planes.h: centroids and histograms as bytes, so that their products are those of the tensor cores; of nearest v2.0 and those
 * above it.
 *
 * A component C is below 2^15: two bytes, in two planes. A count is a byte too, but for 256, and a histogram with such a bin has
 * no other: its byte is 0, and its product 256 C is added apart. All sums are integers below 2^23, so what comes out is exact.
 */
#ifndef RUNGS_NEAREST_PLANES_H
#define RUNGS_NEAREST_PLANES_H

#include "common/algo/nearest.h"
#include "common/cuda/device.h"
#include "common/cuda/mma.cuh"

enum {
    NEAREST_GROUP = 16 /* centroids at a time */,
    NEAREST_STRIDE = LBP_BINS + 64 /* so that lanes meet in no bank */
};

struct nearest_planes {
    uint4 bytes[2][NEAREST_GROUP][NEAREST_STRIDE / 16]; /* lower, upper */
    int norms[NEAREST_GROUP];                           /* |C|^2 */
};

/* Bins 64 at + 16 member + 0 ... 15 of a histogram in word[at], a byte each, and the bin that holds 256, or -1. */
struct nearest_bins {
    uint4 word[LBP_BINS / 64];
    int wide;
};

/* A block of 16 threads a centroid: those from `first` on. Readers wait for the block before and after. */
static __device__ inline void nearest_load_planes(const struct image &centroids, int first,
                                                  struct nearest_planes *planes)
{
    const int j = threadIdx.x / 16, lane = threadIdx.x % 16;
    const bool exists = first + j < centroids.height;
    const float4 *from = (const float4 *)nearest_centroid(&centroids, exists ? first + j : 0);
    int norm = 0;

    for (int at = lane; at < LBP_BINS / 4; at += 16) {
        const float4 c = from[at];
        const int fixed[4] = {nearest_fixed(c.x), nearest_fixed(c.y), nearest_fixed(c.z), nearest_fixed(c.w)};
        unsigned lower = 0, upper = 0;
        for (int b = 0; b < 4; b++) {
            lower |= (unsigned)(fixed[b] & 255) << 8 * b;
            upper |= (unsigned)(fixed[b] >> 8) << 8 * b;
            norm += fixed[b] * fixed[b];
        }
        ((unsigned *)planes->bytes[0][j])[at] = lower;
        ((unsigned *)planes->bytes[1][j])[at] = upper;
    }
    for (int step = 8; step > 0; step /= 2)
        norm += __shfl_xor_sync(0xffffffff, norm, step);
    if (lane == 0)
        planes->norms[j] = norm;
}

/* Two words of two counts to one of four bytes. */
static __device__ inline unsigned nearest_pack(unsigned low, unsigned high)
{
    return __byte_perm(low, high, 0x6420);
}

/* Four lanes of a warp, `member` each: a histogram of theirs. */
static __device__ inline struct nearest_bins nearest_load_bins(const uint16_t *counts, int member)
{
    struct nearest_bins bins;

    bins.wide = -1;
    for (int at = 0; at < LBP_BINS / 64; at++) {
        const uint4 *from = (const uint4 *)(counts + 64 * at + 16 * member), low = from[0], high = from[1];
        bins.word[at] = {nearest_pack(low.x, low.y), nearest_pack(low.z, low.w), nearest_pack(high.x, high.y),
                         nearest_pack(high.z, high.w)};
        if ((low.x | low.y | low.z | low.w | high.x | high.y | high.z | high.w) & 0x01000100)
            for (int i = 0; i < 16; i++)
                if (counts[64 * at + 16 * member + i] == 256)
                    bins.wide = 64 * at + 16 * member + i;
    }
    bins.wide = max(bins.wide, __shfl_xor_sync(0xffffffff, bins.wide, 1));
    bins.wide = max(bins.wide, __shfl_xor_sync(0xffffffff, bins.wide, 2));
    return bins;
}

/* Adds the products of 64 bins: of the centroids `group` and `group` + 8 of a plane, and of 8 histograms (mma.cuh). */
static __device__ inline void nearest_multiply(int sums[4], const uint4 plane[][NEAREST_STRIDE / 16], int group,
                                               int word, const uint4 &bins)
{
    const uint4 c0 = plane[group][word], c8 = plane[group + 8][word];
    const unsigned left[4] = {c0.x, c8.x, c0.y, c8.y}, right[4] = {c0.z, c8.z, c0.w, c8.w};
    const unsigned first[2] = {bins.x, bins.y}, second[2] = {bins.z, bins.w};

    mma_m16n8k32_u8(sums, left, first, sums);
    mma_m16n8k32_u8(sums, right, second, sums);
}

/* C of a bin, 0 of none (bin < 0). */
static __device__ inline int nearest_component(const struct nearest_planes &planes, int j, int bin)
{
    const uint8_t *lower = (const uint8_t *)planes.bytes[0][j], *upper = (const uint8_t *)planes.bytes[1][j];

    return bin < 0 ? 0 : lower[bin] + 256 * upper[bin];
}

/* A warp, whose lanes have the smallest scores of their centroids for patches 2 member and 2 member + 1: those of all. */
static __device__ inline void nearest_smallest_of_groups(int smallest[2], int labels[2])
{
    for (int at = 0; at < 6; at++) {
        const int score = __shfl_xor_sync(0xffffffff, smallest[at % 2], 4 << at / 2);
        const int label = __shfl_xor_sync(0xffffffff, labels[at % 2], 4 << at / 2);
        if (score < smallest[at % 2] || (score == smallest[at % 2] && label < labels[at % 2])) {
            smallest[at % 2] = score;
            labels[at % 2] = label;
        }
    }
}

#endif
