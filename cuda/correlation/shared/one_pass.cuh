/*
 * one_pass.cuh: sums of a warp that holds the operands of all its pixels' planes, and the matrix by the last block.
 */
#ifndef RUNGS_CORRELATION_ONE_PASS_CUH
#define RUNGS_CORRELATION_ONE_PASS_CUH

#include "cuda/correlation/shared/operands.cuh"

enum { FEW = 12 /* warps of a block of up to SQUARE tiles */, MOST = 11 /* tiles that a warp holds: 88 planes */ };

/* Four pixels' samples of TILES tiles; of whole f32 pixels without a branch between loads, so that they wait
 * together. */
template <enum pixel_type TYPE, int TILES>
static __device__ inline void load_own(const struct image &in, const float *shift, unsigned first, int planes,
                                       float samples[TILES][4])
{
    const int plane = threadIdx.x % 32 / 4, n = in.channels;
    const float *const pixel = (const float *)in.data + (size_t)first * n + plane;

    if (TYPE != PIXEL_F32 || in.height > 1 || planes > n || first - first % STEP + STEP > (unsigned)in.width) {
        UNROLL
        for (int k = 0; k < TILES; k++)
            load_samples(in, shift, first, k * TILE + plane, planes, samples[k]);
    } else
        for (int k = 0; k < 4 * TILES; k++)
            samples[k / 4][k % 4] = k / 4 * TILE + plane < n ? pixel[k % 4 * n + k / 4 * TILE] : 0;
}

/* The last block takes the totals, leaves 0 in them and in the count behind them for the next launch, and makes the
 * matrix. */
static __device__ inline void finish_last(const struct image &in, const struct correlation_params &params, int planes,
                                          const struct image &out, double *sums, double *totals)
{
    const int n = in.channels;
    unsigned *const done = (unsigned *)&totals[planes * planes];
    bool last = false;

    __syncthreads();
    if (threadIdx.x == 0) { /* one fence does for the block, whose sums lie before the barrier */
        __threadfence();
        last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1; /* and 0 again */
        __threadfence();
    }
    if (!__syncthreads_or(last))
        return;
    for (int k = threadIdx.x; k < planes * planes; k += blockDim.x)
        sums[k] = __longlong_as_double((long long)atomicExch((unsigned long long *)&totals[k], 0));
    __syncthreads();
    for (int k = threadIdx.x; k < n * n; k += blockDim.x) {
        const int u = k / n, v = k % n;
        if (u > v)
            continue;
        const double entry = correlation_entry(sums, &in, &params, u, v);
        ((double *)image_row(&out, u))[v] = entry;
        ((double *)image_row(&out, v))[u] = entry;
    }
}

/* The sums of a warp that holds the operands of all tiles, up to MOST; up to SQUARE the samples of its next steps are
 * under way meanwhile. */
template <enum pixel_type TYPE, int TILES>
static __device__ inline void sum_own(struct image in, const float *shift, int planes, int repeats, float *shared,
                                      double *totals)
{
    constexpr bool AHEAD = TILES <= SQUARE;
    constexpr int STEPS = AHEAD ? SQUARE / TILES : 1, PAIRS = (TILES + 1) / 2 * TILES;
    const int lane = threadIdx.x % 32, warps = AHEAD ? +FEW : +WARPS;
    unsigned first = (blockIdx.x * repeats * warps + threadIdx.x / 32) * STEPS * STEP + lane % 4 * 4;
    float sums[(TILES + 1) / 2][TILES][4] = {}, samples[STEPS][TILES][4];

    in.type = TYPE;
    for (int step = 0; step < STEPS && AHEAD; step++)
        load_own<TYPE, TILES>(in, shift, first + step * STEP, planes, samples[step]);
    for (int repeat = 0; repeat < repeats; repeat++) {
        uint4 own[STEPS][TILES + 1] = {};
        if (!AHEAD)
            load_own<TYPE, TILES>(in, shift, first, planes, samples[0]);
        for (int k = 0; k < STEPS * TILES; k++)
            own[k / TILES][k % TILES] = split_samples(samples[k / TILES][k % TILES]);
        first += warps * STEPS * STEP;
        for (int step = 0; step < STEPS && AHEAD && repeat + 1 < repeats; step++)
            load_own<TYPE, TILES>(in, shift, first + step * STEP, planes, samples[step]);
        for (int step = 0; step < STEPS; step++) {
            UNROLL
            for (int k = 0; k < (TYPE == PIXEL_F32 ? 3 : 1) * PAIRS; k++) {
                const int part = k / PAIRS, r = k % PAIRS / TILES, c = k % TILES;
                if (c >= 2 * r)
                    multiply(sums[r][c], own[step][2 * r], own[step][2 * r + 1], own[step][c], part);
            }
        }
    }
    add_sums<(TILES + 1) / 2, TILES>(sums, 0, 0, planes, shared, totals);
}

#endif
