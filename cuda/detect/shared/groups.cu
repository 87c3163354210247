#include "common/cuda/early.cuh"
#include "cuda/detect/shared/groups.h"

enum { THREADS = 1024, EACH = DETECT_MAX_HITS / THREADS, PAIR_THREADS = 128, PAIR_BLOCKS = 128 };
enum { LEADS = -1, IN_DOUBT = -2, MEMBER_BIT = 48 /* above all votes: 4096 of at most 1.5e6 * 1024 */ };

/* A warp compares one hit with 256 of those before it, 32 at a time: blockIdx.y says which. */
static __global__ void __launch_bounds__(PAIR_THREADS)
    pairs_kernel(struct sorted_hits sorted, unsigned *overlaps, double overlap, int maximum)
{
    const int lane = threadIdx.x % 32, warp = (blockIdx.x * PAIR_THREADS + threadIdx.x) / 32;

    allow_next();
    wait_for_last();
    const int count = *sorted.count;
    for (int own = warp; own < count; own += gridDim.x * PAIR_THREADS / 32) {
        const struct detect_box box = sorted.boxes[own];
        unsigned marks = 0;
        for (int k = 0; k < 8; k++) {
            const int w = 8 * blockIdx.y + k, other = 32 * w + lane;
            const bool both = other < own && detect_overlap(sorted.boxes[other], box, overlap);
            const unsigned word = __ballot_sync(0xffffffff, both);
            marks |= (unsigned)(word != 0) << k;
            if (lane == 0 && word)
                overlaps[w * maximum + own] = word;
        }
        if (lane == 0)
            ((uint8_t *)&overlaps[(GROUP_WORDS + blockIdx.y / 4) * maximum + own])[blockIdx.y % 4] = marks;
    }
}

/* What is known of the hits: a leader is the strongest of its group, the others are taken by a leader before them. */
struct known_hits {
    unsigned leaders[GROUP_WORDS], taken[GROUP_WORDS], kept[GROUP_WORDS];
    unsigned long long sums[DETECT_MAX_HITS]; /* votes of a leader's group, and its members from MEMBER_BIT on */
};

/* The first leader that overlaps with hit `own`; else LEADS, or IN_DOUBT where one that overlaps is. */
static __device__ int find_leader(const struct known_hits &known, const unsigned *overlaps, int maximum, int own)
{
    int verdict = LEADS;

    for (int m = 0; m <= own / 32 / 32; m++)
        for (unsigned marks = overlaps[(GROUP_WORDS + m) * maximum + own]; marks; marks &= marks - 1) {
            const int w = 32 * m + __ffs((int)marks) - 1;
            const unsigned word = overlaps[w * maximum + own], leaders = word & known.leaders[w];
            if (leaders)
                return 32 * w + __ffs((int)leaders) - 1;
            verdict = word & ~known.taken[w] ? (int)IN_DOUBT : verdict;
        }
    return verdict;
}

static __global__ void __launch_bounds__(THREADS)
    group_kernel(struct sorted_hits sorted, const unsigned *overlaps,
                 const __grid_constant__ struct detect_params params, struct image detections)
{
    __shared__ struct known_hits known;
    int verdicts[EACH], open = 1, found = 0;

    if (threadIdx.x < GROUP_WORDS)
        known.leaders[threadIdx.x] = known.taken[threadIdx.x] = 0;
    for (int k = 0; k < EACH; k++) {
        verdicts[k] = IN_DOUBT;
        known.sums[threadIdx.x + k * THREADS] = 0;
    }
    wait_for_last();
    const int count = *sorted.count, maximum = params.maximum;
    while (__syncthreads_or(open)) { /* a round: those whose stronger neighbours are decided are decided, too */
        bool decided[EACH] = {};
        open = 0;
        for (int k = 0, own = threadIdx.x; k < EACH && own < count; k++, own += THREADS)
            if (verdicts[k] == IN_DOUBT) {
                verdicts[k] = find_leader(known, overlaps, maximum, own);
                decided[k] = verdicts[k] != IN_DOUBT;
                open |= !decided[k];
            }
        __syncthreads();
        for (int k = 0, own = threadIdx.x; k < EACH && own < count; k++, own += THREADS)
            if (decided[k])
                atomicOr(verdicts[k] == LEADS ? &known.leaders[own / 32] : &known.taken[own / 32], 1u << own % 32);
    }
    for (int own = threadIdx.x; own < count; own += THREADS) {
        const int leader = find_leader(known, overlaps, maximum, own);
        const float response = detect_key_response(sorted.keys[own]);
        atomicAdd(&known.sums[leader == LEADS ? own : leader],
                  (1ull << MEMBER_BIT) + detect_vote(response, (float)params.min_response));
    }
    __syncthreads();
    for (int own = threadIdx.x; own - (int)threadIdx.x < count; own += THREADS) {
        const unsigned long long sum = known.sums[own];
        const float score = (float)((double)(sum & ((1ull << MEMBER_BIT) - 1)) / (double)DETECT_VOTE);
        const bool kept = (int)(sum >> MEMBER_BIT) >= params.neighbours && score >= params.min_score;
        const unsigned ballot = __ballot_sync(0xffffffff, kept);
        if (threadIdx.x % 32 == 0)
            known.kept[own / 32] = ballot;
        const int all = __syncthreads_count(kept);
        int row = found + __popc(ballot & ((2u << own % 32) - 1));
        for (int w = (own - threadIdx.x) / 32; kept && w < own / 32; w++)
            row += __popc(known.kept[w]);
        if (kept)
            hits_write_detection(&detections, row, sorted.boxes[own], score);
        found += all;
    }
    hits_close_table(detections, found + 1);
}

enum status groups_end(struct hits_step *hits, unsigned *overlaps, struct image out[],
                       const struct detect_params *params, cudaStream_t stream)
{
    const dim3 grid(device_blocks(PAIR_BLOCKS), GROUP_WORDS / 8);
    cudaLaunchAttribute early;
    cudaLaunchConfig_t pairs = {grid, PAIR_THREADS, 0, stream, &early, early_attributes(&early)};
    cudaLaunchConfig_t group = {1, THREADS, 0, stream, &early, pairs.numAttrs};
    enum status status = STATUS_OK;

    TRY(hits_sort(hits, &out[1], params, stream));
    CUDA_TRY(cudaLaunchKernelEx(&pairs, pairs_kernel, hits->sorted, overlaps, params->overlap, params->maximum));
    CUDA_TRY(cudaLaunchKernelEx(&group, group_kernel, hits->sorted, (const unsigned *)overlaps, *params, out[0]));
out:
    return status;
}
