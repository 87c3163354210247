/*
 * warp.cuh: sums over the lanes of a warp and over the threads of a block, which several ladders need: the place of a
 * thread's results among those of all threads is a prefix sum (scan) of how many each has.
 *
 *     value                3  0  2  1
 *     warp_prefix_sum      3  3  5  6    the lane's own included
 *     block_prefix_sum     0  3  3  5    the values before it; *total is 6
 */
#ifndef RUNGS_CUDA_WARP_CUH
#define RUNGS_CUDA_WARP_CUH

/* The sum of the values of this lane and of those before it in the warp. All 32 lanes call it: five steps, each of
 * which adds what the lane 1, 2, 4, 8 and 16 before has summed up so far (Hillis and Steele 1986). */
template <typename T> static __device__ inline T warp_prefix_sum(T value)
{
    const int lane = threadIdx.x % 32;

    for (int step = 1; step < 32; step *= 2) {
        const T before = __shfl_up_sync(0xffffffff, value, step);
        value += lane >= step ? before : 0;
    }
    return value;
}

/* The sum of the values of all 32 lanes, which all get it. */
template <typename T> static __device__ inline T warp_sum(T value)
{
    for (int step = 16; step > 0; step /= 2)
        value += __shfl_xor_sync(0xffffffff, value, step);
    return value;
}

/* The sum of the values of all threads before this one in a one-dimensional block of WARPS full warps; *total is the
 * sum of all. All threads call it, and may do so again with the same `room`, which lies in shared memory. */
template <int WARPS, typename T> static __device__ inline T block_prefix_sum(T value, T *total, T room[WARPS])
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const T sum = warp_prefix_sum(value);
    T before = 0;

    __syncthreads(); /* a second call overwrites the room only after all threads have read it */
    if (lane == 31)
        room[warp] = sum;
    __syncthreads();
    *total = 0;
    for (int i = 0; i < WARPS; i++) {
        before += i < warp ? room[i] : 0;
        *total += room[i];
    }
    return before + sum - value;
}

#endif
