/*
 * Idea:     a block stays for many rows and adds up what they move in its own shared memory; the sums of all see one addition a
 *           block, cluster and feature.
 * Changed:  a loop over rows around those of assign_kernel(), centroids loaded once where 16 are all, and kmeans_sums_*()
 *           (shared/sums.h) in the place of additions to global memory.
 * Expect:   1.3 times v2.3: the first assignment, in which every row moves, takes 25 us in the place of 133, for a million
 *           additions in place of 12; the others 8 us in the place of 18, for the centroids are read by 264 blocks, not 745.
 * Result:   0.605 ms, 1.29 times v2.3 (results/h200/kmeans/kmeans_252x189.json): the first assignment
 *           takes 26 us as expected, but the others 15 (profile_kmeans_v2.4.txt beside it): not the sums kept them, but loads.
 */
/* Try: make bench-kmeans VERSIONS=cuda P="start=rows iterations=10" */
#include "cuda/kmeans/shared/sums.h"

struct state {
    struct kmeans_memory memory;
    struct kmeans_bytes bytes;
};

static int most_blocks = 264;
static const int some_blocks[] = {132, 264, 396, 528, 0};
static struct tunable tunables[] = {{"blocks", &most_blocks, some_blocks, "blocks that share out all rows"}, {}};

enum { THREADS = 256, ROWS = THREADS / 32 * 8 };

/* A block; a warp has 8 rows from block + 8 warp on; those behind the end are computed like the last one. */
static __device__ void assign_rows(const struct kmeans_task &task, const struct kmeans_bytes &bytes, bool first,
                                   int block, bool loads, uint4 *shared, const struct kmeans_sums &sums)
{
    __shared__ struct kmeans_moves moves;
    __shared__ int norms[KMEANS_GROUP];
    const int top = block + threadIdx.x / 32 * 8, stride = kmeans_plane_stride(bytes.pitch);
    const int group = threadIdx.x % 32 / 4, member = threadIdx.x % 4; /* as in mma.cuh */
    const size_t row = (size_t)min(top + group, task.count - 1);
    const uint8_t *planes = (const uint8_t *)shared, *own = planes + group * stride + 16 * member;
    const uint4 *x = (const uint4 *)(bytes.samples + row * (size_t)bytes.pitch) + member;
    int smallest[2] = {INT32_MAX, INT32_MAX}, labels[2] = {}; /* of rows 2 member and 2 member + 1 */

    for (int cluster = 0; cluster < task.k; cluster += KMEANS_GROUP) {
        int lower[4] = {}, upper[4] = {};
        if (loads) {
            __syncthreads();
            kmeans_load_planes(task, bytes.pitch, cluster, (uint8_t *)shared, norms);
            __syncthreads();
        }
        for (int at = 0; at < bytes.pitch; at += 64) {
            const uint4 samples = x[at / 16];
            kmeans_multiply(lower, own + at, stride, samples);
            kmeans_multiply(upper, own + KMEANS_GROUP * stride + at, stride, samples);
        }
#pragma unroll
        for (int r = 0; r < 4; r++) {
            const int j = group + 8 * (r / 2), its_row = min(top + 2 * member + r % 2, task.count - 1);
            const int wide = kmeans_wide_product(bytes.wide[its_row], planes + j * stride, KMEANS_GROUP * stride);
            const int score = kmeans_score(norms[j], lower[r] + 256 * upper[r] + wide);
            if (score < smallest[r % 2]) {
                smallest[r % 2] = score;
                labels[r % 2] = cluster + j;
            }
        }
    }
#pragma unroll
    for (int at = 0; at < 6; at++) { /* among the groups, for both rows */
        const int score = __shfl_xor_sync(0xffffffff, smallest[at % 2], 4 << at / 2);
        const int label = __shfl_xor_sync(0xffffffff, labels[at % 2], 4 << at / 2);
        if (score < smallest[at % 2] || (score == smallest[at % 2] && label < labels[at % 2])) {
            smallest[at % 2] = score;
            labels[at % 2] = label;
        }
    }
    const int i = top + 2 * member + group;
    const int mine = group < 2 && i < task.count ? i : -1;
    if (mine >= 0)
        task.distances[i] = 1 + (unsigned long long)(((long long)bytes.squares[i] << (2 * KMEANS_SHIFT)) +
                                                     (group == 0 ? smallest[0] : smallest[1]));
    kmeans_for_moved(
        task, mine, kmeans_label_before(task, first, mine), group == 0 ? labels[0] : labels[1], &moves,
        [&](int moved, int cluster, int sign) { kmeans_sums_add(task, bytes, sums, moved, cluster, sign); });
}

static __global__ void assign_kernel(struct kmeans_task task, struct kmeans_bytes bytes, bool first, bool has_room)
{
    extern __shared__ uint4 shared[];
    __shared__ int counts[KMEANS_MAX_K];
    int *room = (int *)((uint8_t *)shared + 2 * KMEANS_GROUP * kmeans_plane_stride(bytes.pitch));
    const struct kmeans_sums sums = {has_room ? room : NULL, counts};

    if (kmeans_finished(task))
        return;
    kmeans_sums_clear(task, bytes.pitch, sums);
    for (int tile = blockIdx.x; tile * ROWS < task.count; tile += gridDim.x)
        assign_rows(task, bytes, first, tile * ROWS, tile == (int)blockIdx.x || task.k > KMEANS_GROUP, shared, sums);
    __syncthreads();
    kmeans_sums_hand_over(task, bytes.pitch, sums);
}

static enum status assign(void *erased, const struct kmeans_task *task, bool first, cudaStream_t stream)
{
    const struct kmeans_bytes *bytes = &((struct state *)erased)->bytes;
    const size_t planes = kmeans_planes_bytes(bytes->pitch), sums = kmeans_sums_bytes(task, bytes);
    const int tiles = (int)ceiling_divide(task->count, ROWS), most = task->count / KMEANS_BLOCK_ROWS + most_blocks;
    enum status status = STATUS_OK;

    TRY(kmeans_bytes_begin(bytes, task, first, stream));
    if (!task->small)
        return STATUS_OK;
    assign_kernel<<<min(tiles, most), THREADS, planes + sums, stream>>>(*task, *bytes, first, sums > 0);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static enum status race(void *erased, const struct kmeans_task *task, const struct kmeans_params *params, int attempt,
                        int cluster, cudaStream_t stream)
{
    const struct kmeans_bytes *bytes = &((struct state *)erased)->bytes;
    enum status status = STATUS_OK;

    if (attempt == 0 && cluster == 1)
        TRY(kmeans_bytes_pack(bytes, task, stream));
    TRY(kmeans_bytes_race(bytes, task, params, attempt, cluster, stream));
out:
    return status;
}

static enum status setup(struct state *state, const struct image in[], const struct kmeans_params *params)
{
    state->memory.task.knows_distances = true;
    state->memory.race = race;
    state->bytes.packed = params->start == KMEANS_PLUSPLUS && params->k > 1;
    return kmeans_bytes_create(&state->bytes, &state->memory, in, params);
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct kmeans_params *params, cudaStream_t stream)
{
    return kmeans_device_solve(&state->memory, in, out, params, assign, state, stream);
}

static void teardown(struct state *state)
{
    kmeans_memory_free(&state->memory);
    kmeans_bytes_free(&state->bytes);
}

static const char *unavailable(void)
{
    return device_needs_capability(80);
}

RUNGS_CUDA_VERSION(kmeans, .unavailable = unavailable, .declines = kmeans_all_rows, .tunables = tunables)
