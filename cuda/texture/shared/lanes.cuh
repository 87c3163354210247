/*
 * lanes.cuh: counters of a lane's own, a byte for each code, all of them in one bank of shared memory: of texture. Whatever codes the lanes of a warp have, no two of them meet in a bank. A lane counts at most 128 pixels.
 */
#ifndef RUNGS_LBP_LANES_CUH
#define RUNGS_LBP_LANES_CUH

#include "cuda/lbp/shared/halves.cuh"

enum {
    LBP_LANE_WORDS = LBP_BINS / 4 /* of a lane; word w of lane l is word 32 w + l of its warp */,
    LBP_WARP_PIECES = 32 * LBP_LANE_WORDS / 4 /* counters of a warp, 16 bytes each: 8 KB */
};

static __device__ inline void lbp_clear_lanes(uint4 *counters, int lane)
{
    for (int i = 0; i < LBP_LANE_WORDS / 4; i++)
        counters[32 * i + lane] = {};
}

/* Counts codes of lbp_pair_codes(). `counters`: the block's; `own`: how many bytes behind them word 0 of the lane is, which has no
 * bit where the word of a code has one, so that a bitwise or adds them. A shift takes 5 bits of its distance: of code % 4 times 8,
 * below which the upper code has those of lbp_power(10), always the same. Nobody else counts where this lane does, but nothing
 * waits for an atomic addition whose result is not asked for. */
static __device__ inline void lbp_count_pair(uint4 *counters, unsigned own, unsigned codes)
{
    uint8_t *bytes = (uint8_t *)counters;
    const uint64_t below = (1ull << 32) >> (lbp_power(10) >> 13 & 7);

    atomicAdd((unsigned *)(bytes + ((codes << 5 & 0x1f80) | own)), __funnelshift_l(0, 1, codes << 3));
    atomicAdd((unsigned *)(bytes + ((codes >> 11 & 0x1f80) | own)),
              __funnelshift_l((unsigned)below, (unsigned)(below >> 32), codes >> 13));
}

#endif
