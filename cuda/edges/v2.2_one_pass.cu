/*
 * Idea:     the list of points in one pass. A block takes the next 2048 pixels, says how many of them are points, and looks back
 *           at what the blocks before it have said, 32 at a time, until one of them knows the sum of all before (decoupled
 *           look-back, Merrill and Garland 2016). CUB's DeviceSelect does that too: peer/cub has these marks and CUB's list.
 * Changed:  the scan is written out: list_kernel() and look_back() in place of three kernels of shared/list.cu. A block's place is
 *           a ticket, so that all blocks before it have begun and none waits for one that does not run.
 * Expect:   with outputs=points 7 us less than v2.1 of some 22: the mask is read once and not twice, by 1013 blocks in place of
 *           8100, and no block of 1024 threads alone goes through 8100 sums. The time of peer/cub, whose pass is the same but
 *           writes places first. Nothing with outputs=mask.
 * Result:   36.7 us in place of 38.7 at 1920x1080, 75 in place of 165 at 3840x2160, where the block that sums alone had become the
 *           bottleneck (results/h200/edges/edges_1920x1080_points_by_32.json, edges_3840x2160_points_by_32.json). The 22
 *           had left out what marks the pixels. CUB's list takes 23.1 and 64.0, probably because its chain of blocks is shorter.
 *           Looking back at 256 words by all threads of a block, with a barrier for each, took 48.9 and 120.7 us.
 */
/* Try: make bench-edges VERSIONS=cuda/v2.1,cuda/v2.2,peer/cub P="outputs=points"
 *      make tune-edges V=cuda/v2.2 */
#include "common/algo/edges.h"
#include "common/cuda/device.h"
#include "cuda/edges/shared/edges.h"
#include "cuda/edges/shared/segments.h"

struct state {
    struct edges_step step;
    struct segments segments;
};

enum { THREADS = 256, WARPS = THREADS / 32, ROUNDS = SEGMENTS_PIXELS / THREADS };

static int block_width = 32, block_height = 4;
static const int widths[] = {8, 16, 32, 64, 128, 0}, heights[] = {1, 2, 4, 8, 16, 0};
static struct tunable tunables[] = {{"block_width", &block_width, widths, "threads along x"},
                                    {"block_height", &block_height, heights, "threads along y"},
                                    {}};

static const char *illegal(const struct image in[], const void *params)
{
    (void)in;
    (void)params;
    return device_block_illegal(block_width * block_height, 0);
}

/* A warp asks how many points the segments before `end` have. What others may be writing is read by an atomic operation. */
static __device__ unsigned look_back(unsigned long long *words, unsigned end)
{
    const unsigned lane = threadIdx.x % 32;

    for (unsigned before = 0;; end -= 32) {
        unsigned long long word;
        do
            word = segments_ask(words, end, lane);
        while (__any_sync(0xffffffff, word == 0));
        const unsigned nearest =
            (unsigned)__ffs((int)__ballot_sync(0xffffffff, word % 4 == SEGMENTS_ALL)) - 1; /* 2^32 - 1: none */
        unsigned part = lane <= nearest ? (unsigned)(word / 4) : 0;
        for (int distance = 16; distance > 0; distance /= 2)
            part += __shfl_xor_sync(0xffffffff, part, distance);
        before += part;
        if (nearest < 32)
            return before;
    }
}

static __global__ void list_kernel(struct image in, struct image mask, struct image points, struct segments segments)
{
    __shared__ unsigned segment, begin, counts[WARPS];
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned votes[ROUNDS], count = 0, own = 0, row = 1;

    if (threadIdx.x == 0)
        segment = atomicAdd(segments.ticket, 1u);
    __syncthreads();
    const unsigned first = segment * SEGMENTS_PIXELS + warp * ROUNDS * 32 + lane;
    for (int k = 0; k < ROUNDS; k++) {
        votes[k] = __ballot_sync(0xffffffff, segments_is_point(mask, first + k * 32));
        count += (unsigned)__popc(votes[k]);
    }
    if (lane == 0)
        counts[warp] = count;
    __syncthreads();
    for (unsigned i = 0; i < WARPS; own += counts[i++])
        row += i < warp ? counts[i] : 0;
    if (warp == 0) {
        if (lane == 0)
            atomicExch(&segments.words[segment], 4ull * own + SEGMENTS_OWN);
        const unsigned before = look_back(segments.words, segment);
        if (lane == 0) {
            atomicExch(&segments.words[segment], 4ull * (before + own) + SEGMENTS_ALL);
            begin = before;
            segments_write_count(segments, points, segment, before + own);
        }
    }
    __syncthreads();
    row += begin;
    for (int k = 0; k < ROUNDS; k++) {
        if (votes[k] >> lane & 1)
            segments_write(in, points, first + k * 32, row + (unsigned)__popc(votes[k] & ((1u << lane) - 1)));
        row += (unsigned)__popc(votes[k]);
    }
}

static enum status setup(struct state *state, const struct image in[], const struct edges_params *params)
{
    const enum status status = segments_setup(&state->segments, in, params);

    return status == STATUS_OK ? edges_setup(&state->step, in, params) : status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct edges_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const struct image mask = edges_mask(&state->step, out);
    const dim3 block(block_width, block_height);

    TRY(edges_begin(&state->step, in, params, stream));
    TRY(edges_mark_and_plant(&state->step, in, &mask, params, block, stream));
    if (params->low != EDGES_NO_LOW)
        TRY(edges_follow(&state->step, &mask, stream));
    if (params->outputs == EDGES_MASK)
        return STATUS_OK;
    TRY(segments_clear(&state->segments, &out[1], stream));
    list_kernel<<<state->segments.count, THREADS, 0, stream>>>(*in, mask, out[1], state->segments);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    edges_teardown(&state->step);
    segments_teardown(&state->segments);
}

RUNGS_CUDA_VERSION(edges, .tunables = tunables, .illegal = illegal)
