/* expect: right 12..12 | through shared memory 0..0 | says busiest reads */
/*
 * Idea:     no prefix sum: each row adds up all rows above it anew, in a word of shared memory of its own.
 * Changed:  nothing that helps.
 * Expect:   the grader's verdict in the first line.
 */
#include "common/algo/edges.h"
#include "common/cuda/device.h"

enum { THREADS = 128, WARPS = THREADS / 32 };

struct state {
    int *counts;
    int *starts; /* device: of each row, how many points come before it; behind the last row all */
};

static __device__ bool is_edge(const struct image &in, int x, int y, int high)
{
    return x < in.width && y < in.height && edges_magnitude(hough_sobel(&in, x, y)) > high;
}

static __global__ void mask_kernel(struct image in, struct image mask, int high)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x < in.width && y < in.height)
        ((uint8_t *)image_row(&mask, y))[x] = is_edge(in, x, y, high) ? 255 : 0;
}

static __global__ void count_kernel(struct image in, int high, int *starts)
{
    int count = 0;

    for (int first = 0; first < in.width; first += THREADS)
        count += __syncthreads_count(is_edge(in, first + threadIdx.x, blockIdx.x, high));
    if (threadIdx.x == 0)
        starts[blockIdx.x] = count;
}

/* What comes before a row is added up anew for each row. */
static __global__ void scan_kernel(const int *counts, int *starts, int count)
{
    __shared__ int own[THREADS];
    const int y = blockIdx.x * THREADS + threadIdx.x;

    own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = 0; i < min(y, count); i++)
        own[threadIdx.x] += counts[i];
    if (y <= count)
        starts[y] = own[threadIdx.x];
}

static __global__ void write_kernel(struct image in, int high, const int *starts, struct image points)
{
    __shared__ int before[WARPS];
    const int y = blockIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int begin = starts[y] + 1;

    for (int first = 0; first < in.width; first += THREADS) {
        const int x = first + threadIdx.x;
        const bool found = is_edge(in, x, y, high);
        const unsigned votes = __ballot_sync(0xffffffff, found);
        int place = begin + __popc(votes & ((1u << lane) - 1));
        if (lane == 0)
            before[warp] = __popc(votes);
        __syncthreads();
        for (int i = 0; i < WARPS; i++) {
            place += i < warp ? before[i] : 0;
            begin += before[i];
        }
        if (found && place < points.height) {
            const struct hough_gradient g = hough_sobel(&in, x, y);
            int *row = (int *)image_row(&points, place);
            row[0] = x;
            row[1] = y;
            row[2] = g.x;
            row[3] = g.y;
        }
        __syncthreads();
    }
    if (y == 0 && threadIdx.x == 0)
        *(int *)points.data = starts[in.height];
}

static enum status setup(struct state *state, const struct image in[], const struct edges_params *params)
{
    enum status status = STATUS_OK;

    if (!state->starts && params->outputs != EDGES_MASK)
        TRY(device_allocate((void **)&state->counts, ((size_t)in->height + 1) * sizeof(int)));
    if (!state->starts && params->outputs != EDGES_MASK)
        TRY(device_allocate((void **)&state->starts, ((size_t)in->height + 1) * sizeof(int)));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct edges_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    dim3 block(32, 8);
    dim3 grid(ceiling_divide(in->width, block.x), ceiling_divide(in->height, block.y));

    if (out[0].data) {
        mask_kernel<<<grid, block, 0, stream>>>(*in, out[0], params->high);
        CUDA_TRY(cudaGetLastError());
    }
    if (out[1].data) {
        CUDA_TRY(cudaMemset2DAsync(out[1].data, out[1].stride, 0, out[1].width * sizeof(int), out[1].height, stream));
        count_kernel<<<in->height, THREADS, 0, stream>>>(*in, params->high, state->counts);
        CUDA_TRY(cudaGetLastError());
        scan_kernel<<<in->height / THREADS + 1, THREADS, 0, stream>>>(state->counts, state->starts, in->height);
        CUDA_TRY(cudaGetLastError());
        write_kernel<<<in->height, THREADS, 0, stream>>>(*in, params->high, state->starts, out[1]);
        CUDA_TRY(cudaGetLastError());
    }
out:
    return status;
}

static void teardown(struct state *state)
{
    device_free(state->starts);
    device_free(state->counts);
}

RUNGS_CUDA_VERSION(edges)
