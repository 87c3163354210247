/*
 * otsu.cuh: from a histogram to Otsu's threshold (common/algo/otsu.h), by one block of threads together.
 */
#ifndef RUNGS_OTSU_CUH
#define RUNGS_OTSU_CUH

#include <cuda_runtime.h>

#include "common/algo/otsu.h"
#include "common/cuda/warp.cuh"

/* What the threads of the block tell each other; a kernel has one of it in shared memory. */
struct otsu_room {
    unsigned counts[8], candidates[8];
    unsigned long long sums[8], largest[8];
    struct otsu_score scores[OTSU_BINS];
};

/* The largest value of the warp; values that are not negative have the order of their bits. */
static __device__ inline unsigned long long otsu_warp_largest(unsigned long long bits)
{
    const unsigned high = (unsigned)(bits >> 32), top = __reduce_max_sync(0xffffffff, high);

    return (unsigned long long)top << 32 | __reduce_max_sync(0xffffffff, high == top ? (unsigned)bits : 0);
}

/* To be called by all threads of a one-dimensional block of 256 to 1024 threads, a multiple of 32; `count` is the
 * number of pixels with the value threadIdx.x, whatever it is for thread 256 and up. The first warp gets the threshold.
 * Sums run along the values as a tree: 5 steps within each warp, then over the 8 warps. Doubles say which thresholds
 * may be the best, with their rounding (a few times 2^-53) allowed for; that is nearly always one. Of several the exact
 * scores decide, from the smallest threshold on. */
static __device__ inline int otsu_search(unsigned count, struct otsu_room *room)
{
    const unsigned all = 0xffffffff;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned w0 = count, pixels = 0;
    unsigned long long s0 = (unsigned long long)threadIdx.x * count, sum = 0;
    double value = 0;
    int threshold = -1;

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
        for (int i = 0; i < 8; i++) {
            w0 += i < warp ? room->counts[i] : 0;
            s0 += i < warp ? room->sums[i] : 0;
            pixels += room->counts[i];
            sum += room->sums[i];
        }
        const struct otsu_score score = otsu_score_of(w0, s0, pixels - w0, sum - s0);
        room->scores[threadIdx.x] = score;
        value = (double)score.difference * (double)score.difference / (double)score.weight;
        const unsigned long long largest = otsu_warp_largest(__double_as_longlong(value));
        if (lane == 0)
            room->largest[warp] = largest;
    }
    __syncthreads();
    if (warp < 8) {
        const double best = __longlong_as_double(otsu_warp_largest(room->largest[lane % 8]));
        const unsigned candidates = __ballot_sync(all, value > 0 && value >= best * (1 - 1e-14));
        if (lane == 0)
            room->candidates[warp] = candidates;
    }
    __syncthreads();
    if (warp == 0) {
        const unsigned candidates = room->candidates[lane % 8];
        for (unsigned warps = __ballot_sync(all, lane < 8 && candidates); warps; warps &= warps - 1) {
            const int from = __ffs(warps) - 1;
            for (unsigned rest = __shfl_sync(all, candidates, from); rest; rest &= rest - 1) {
                const int other = from * 32 + __ffs(rest) - 1;
                if (threshold < 0 || otsu_greater(room->scores[other], room->scores[threshold]))
                    threshold = other;
            }
        }
    }
    return max(threshold, 0);
}

#endif
