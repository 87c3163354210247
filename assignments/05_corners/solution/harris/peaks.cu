/*
 * Idea:     a scan in place of a counter. Each block looks for its peaks in a tile of the response and says how many
 *           there are; one block adds up all counts from the left; then each block knows where its peaks begin, and a
 *           ballot says which of them is whose.
 * Changed:  no atomic operation for the list; a tile with a halo of `radius`, since all threads look at the same
 *           responses.
 * Expect:   of one atomic operation a peak none; three launches in place of one. The keys are in the same order each
 *           time.
 */
#include "common/algo/harris.h"
#include "common/cuda/device.h"

/* The ladder's way from a response to the table: cuda/harris/shared/corners.h says what each of them does. */
struct corners_found {
    float largest;
    unsigned count;
};
struct corners_step {
    struct corners_found *found;
    uint64_t *keys;
    struct image response;
};
enum status corners_setup(struct corners_step *step, const struct image *in, const struct harris_params *params);
struct image corners_response(const struct corners_step *step, const struct image out[]);
enum status corners_select(const unsigned *count, const uint64_t *keys, int width, struct image corners,
                           const struct harris_params *params, cudaStream_t stream);
void corners_teardown(struct corners_step *step);

enum { SIDE = 16, THREADS = SIDE * SIDE, WARPS = THREADS / 32, MOST = SIDE + 2 * HARRIS_MAX_RADIUS };

struct state {
    struct corners_step
        corners;      /* corners.found: the largest response and the count; corners.keys: room for all peaks */
    unsigned *begins; /* a place in the list for each block */
};

static __device__ int sample(const struct image &in, int x, int y)
{
    return ((const uint8_t *)image_row(&in, harris_reflect(y, in.height)))[harris_reflect(x, in.width)];
}

static __device__ int gradient_x(const struct image &in, int x, int y)
{
    return sample(in, x + 1, y - 1) - sample(in, x - 1, y - 1) + 2 * (sample(in, x + 1, y) - sample(in, x - 1, y)) +
           sample(in, x + 1, y + 1) - sample(in, x - 1, y + 1);
}

static __device__ int gradient_y(const struct image &in, int x, int y)
{
    return sample(in, x - 1, y + 1) - sample(in, x - 1, y - 1) + 2 * (sample(in, x, y + 1) - sample(in, x, y - 1)) +
           sample(in, x + 1, y + 1) - sample(in, x + 1, y - 1);
}

static __global__ void response_kernel(struct image in, struct image out,
                                       const __grid_constant__ struct harris_params params)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    struct harris_sums sums = {0, 0, 0};

    if (x >= out.width || y >= out.height)
        return;
    for (int j = 0; j < params.size; j++) {
        for (int i = 0; i < params.size; i++) {
            int u = harris_reflect(x + i - params.size / 2, in.width);
            int v = harris_reflect(y + j - params.size / 2, in.height);
            int gx = gradient_x(in, u, v), gy = gradient_y(in, u, v);
            sums.a += gx * gx;
            sums.b += gx * gy;
            sums.c += gy * gy;
        }
    }
    ((float *)image_row(&out, y))[x] = harris_response(&params, sums);
}

/* Responses above 0 are in the order of their bits. One thread a row. */
static __global__ void largest_kernel(struct image response, struct corners_found *found)
{
    int y = blockIdx.x * blockDim.x + threadIdx.x;
    float largest = 0;

    for (int x = 0; x < response.width && y < response.height; x++)
        largest = fmaxf(largest, ((const float *)image_row(&response, y))[x]);
    if (largest > 0)
        atomicMax((int *)&found->largest, __float_as_int(largest));
}

/* Whether the thread's pixel is a peak: the definition, on a tile. The whole block calls it. */
static __device__ bool is_peak(const struct image &response, const struct harris_params &params, float largest,
                               float *own)
{
    __shared__ float tile[MOST][MOST];
    int radius = params.radius, side = SIDE + 2 * radius, left = blockIdx.x * SIDE, top = blockIdx.y * SIDE;
    int x = left + threadIdx.x, y = top + threadIdx.y;

    for (int k = threadIdx.y * SIDE + threadIdx.x; k < side * side; k += THREADS) {
        int u = left + k % side - radius, v = top + k / side - radius;
        bool inside = u >= 0 && v >= 0 && u < response.width && v < response.height;
        tile[k / side][k % side] = inside ? ((const float *)image_row(&response, v))[u] : 0;
    }
    __syncthreads();
    *own = tile[threadIdx.y + radius][threadIdx.x + radius];
    bool peak = x >= radius && y >= radius && x < response.width - radius &&
                y<response.height - radius && * own> harris_threshold(&params, largest);
    for (int j = 0; j <= 2 * radius && peak; j++)
        for (int i = 0; i <= 2 * radius && peak; i++) {
            float other = tile[threadIdx.y + j][threadIdx.x + i];
            peak = j < radius || (j == radius && i < radius) ? other < *own : other <= *own;
        }
    return peak;
}

static __global__ void count_kernel(struct image response, const __grid_constant__ struct harris_params params,
                                    const struct corners_found *found, unsigned *begins)
{
    float own;
    int count = __syncthreads_count(is_peak(response, params, found->largest, &own));

    if (threadIdx.x == 0 && threadIdx.y == 0)
        begins[blockIdx.y * gridDim.x + blockIdx.x] = count;
}

/* Sums of all counts before each one, by one block, as many at a time as it has threads. */
static __global__ void scan_kernel(unsigned *begins, int blocks, struct corners_found *found)
{
    __shared__ unsigned sums[THREADS];
    unsigned before = 0;

    for (int first = 0; first < blocks; first += THREADS) {
        int i = first + threadIdx.x;
        unsigned count = i < blocks ? begins[i] : 0;
        sums[threadIdx.x] = count;
        for (unsigned step = 1; step < THREADS; step *= 2) {
            __syncthreads();
            unsigned more = threadIdx.x >= step ? sums[threadIdx.x - step] : 0;
            __syncthreads();
            sums[threadIdx.x] += more;
        }
        __syncthreads();
        if (i < blocks)
            begins[i] = before + sums[threadIdx.x] - count;
        before += sums[THREADS - 1];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        found->count = before;
}

static __global__ void write_kernel(struct image response, const __grid_constant__ struct harris_params params,
                                    const struct corners_found *found, const unsigned *begins, uint64_t *keys)
{
    __shared__ unsigned warps[WARPS];
    int thread = threadIdx.y * SIDE + threadIdx.x, lane = thread % 32;
    float own;
    bool peak = is_peak(response, params, found->largest, &own);
    unsigned votes = __ballot_sync(0xffffffff, peak), place = begins[blockIdx.y * gridDim.x + blockIdx.x];

    if (lane == 0)
        warps[thread / 32] = __popc(votes);
    __syncthreads();
    for (int warp = 0; warp < thread / 32; warp++)
        place += warps[warp];
    if (peak)
        keys[place + __popc(votes & ((1u << lane) - 1))] =
            harris_key(own, response.width, blockIdx.x * SIDE + threadIdx.x, blockIdx.y * SIDE + threadIdx.y);
}

static enum status setup(struct state *state, const struct image in[], const struct harris_params *params)
{
    enum status status = STATUS_OK;
    const size_t blocks = (size_t)ceiling_divide(in->width, SIDE) * ceiling_divide(in->height, SIDE);

    TRY(corners_setup(&state->corners, in, params));
    if (!state->begins)
        TRY(device_allocate((void **)&state->begins, blocks * sizeof *state->begins));
out:
    return status;
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct harris_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const struct image response = corners_response(&state->corners, out);
    struct corners_found *found = state->corners.found;
    dim3 block(16, 16);
    dim3 grid(ceiling_divide(in->width, block.x), ceiling_divide(in->height, block.y));

    response_kernel<<<grid, block, 0, stream>>>(*in, response, *params);
    CUDA_TRY(cudaGetLastError());
    if (!found) /* outputs=response */
        goto out;
    CUDA_TRY(cudaMemsetAsync(found, 0, sizeof *found, stream));
    largest_kernel<<<ceiling_divide(in->height, 64), 64, 0, stream>>>(response, found);
    CUDA_TRY(cudaGetLastError());
    count_kernel<<<grid, block, 0, stream>>>(response, *params, found, state->begins);
    CUDA_TRY(cudaGetLastError());
    scan_kernel<<<1, THREADS, 0, stream>>>(state->begins, grid.x * grid.y, found);
    CUDA_TRY(cudaGetLastError());
    write_kernel<<<grid, block, 0, stream>>>(response, *params, found, state->begins, state->corners.keys);
    CUDA_TRY(cudaGetLastError());
    TRY(corners_select(&found->count, state->corners.keys, response.width, out[1], params, stream));
out:
    return status;
}

static void teardown(struct state *state)
{
    corners_teardown(&state->corners);
    device_free(state->begins);
    *state = {};
}

static const char *declines(const struct image in[], const void *params)
{
    const struct harris_params *p = (const struct harris_params *)params;

    (void)in;
    return p->gradient == HARRIS_SOBEL && p->window == HARRIS_BOX && p->border == HARRIS_REFLECT
               ? NULL
               : "Sobel's weights, a box and the reflected border are asked for";
}

RUNGS_CUDA_VERSION(harris, .declines = declines)
