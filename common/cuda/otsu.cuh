/*
 * otsu.cuh: from a histogram to Otsu's threshold (common/algo/otsu.h), by one block of threads together.
 */
#ifndef RUNGS_OTSU_CUH
#define RUNGS_OTSU_CUH

#include <cuda_runtime.h>

#include "common/algo/otsu.h"
#include "common/cuda/warp.cuh"

/* Which of two thresholds is worth more, the smaller one of equals. The doubles decide it unless they are so close that
 * their rounding (a few times 2^-53) could have put them the wrong way round; then the exact scores do. */
static __device__ inline bool otsu_prefers(int other, double other_value, int own, double own_value,
                                           const struct otsu_score *scores)
{
    if (fabs(other_value - own_value) > 1e-14 * own_value)
        return other_value > own_value;
    if (otsu_greater(scores[other], scores[own]))
        return true;
    return other < own && !otsu_greater(scores[own], scores[other]);
}

/* What the threads of the block tell each other; a kernel has one of it in shared memory. */
struct otsu_room {
    unsigned counts[8];
    unsigned long long sums[8];
    double values[8];
    int thresholds[8];
    struct otsu_score scores[OTSU_BINS];
};

/* To be called by all threads of a one-dimensional block of 256 to 1024 threads, a multiple of 32; `count` is the
 * number of pixels with the value threadIdx.x, whatever it is for thread 256 and up. Thread 0 gets the threshold. Sums
 * run along the values as a tree: 5 steps within each warp, then over the 8 warps. */
static __device__ inline int otsu_search(unsigned count, struct otsu_room *room)
{
    const unsigned all = 0xffffffff;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int threshold = threadIdx.x;
    double value = 0;
    unsigned w0 = count;
    unsigned long long s0 = (unsigned long long)threshold * count;

    if (warp < 8) {
        w0 = warp_prefix_sum(w0);
        s0 = warp_prefix_sum(s0);
        if (lane == 31) {
            room->counts[warp] = w0;
            room->sums[warp] = s0;
        }
    }
    __syncthreads();
    if (warp < 8) {
        unsigned pixels = 0;
        unsigned long long sum = 0;
        for (int i = 0; i < 8; i++) {
            w0 += i < warp ? room->counts[i] : 0;
            s0 += i < warp ? room->sums[i] : 0;
            pixels += room->counts[i];
            sum += room->sums[i];
        }
        const struct otsu_score score = otsu_score_of(w0, s0, pixels - w0, sum - s0);
        room->scores[threshold] = score;
        value = (double)score.difference * (double)score.difference / (double)score.weight;
        __syncwarp();
        for (int step = 16; step > 0; step /= 2) {
            const int other = __shfl_xor_sync(all, threshold, step);
            const double other_value = __shfl_xor_sync(all, value, step);
            if (otsu_prefers(other, other_value, threshold, value, room->scores)) {
                threshold = other;
                value = other_value;
            }
        }
        if (lane == 0) {
            room->values[warp] = value;
            room->thresholds[warp] = threshold;
        }
    }
    __syncthreads();
    if (warp == 0) {
        threshold = room->thresholds[lane % 8];
        value = room->values[lane % 8];
        for (int step = 4; step > 0; step /= 2) {
            const int other = __shfl_xor_sync(all, threshold, step);
            const double other_value = __shfl_xor_sync(all, value, step);
            if (otsu_prefers(other, other_value, threshold, value, room->scores)) {
                threshold = other;
                value = other_value;
            }
        }
    }
    return threshold;
}

#endif
