/*
 * Idea:     each chord of the element is found once for a row. A block goes down a band of rows. Of each row a thread
 *           finds the maxima over the element's chords, growing from the middle, and gives them to the 2 * radius
 *           results that are under way in registers.
 * Changed:  the tile became one row (two, in turn, so that one barrier a row is enough), the loop over taps two loops
 *           over a row: 2 * radius + 1 loads and maxima for all chords, and one maximum for each row of the element.
 * Expect:   kernel 4 times faster, 50 us: 15 loads a row in place of 169, and 1.4 times as many rows as a band gives,
 *           for it begins 14 rows too early. Barriers will cost part of it: a row is only some 70 instructions.
 * Result:   79.7 us, 2.6 times v1.4 and not 4 (results/h200/morphology/morphology_3840x2160_steps.json): barriers
 *           probably cost more than "part of it".
 */
/* Try: make bench-morphology VERSIONS=cuda/v1.4,cuda/v1.5 */
#include "common/algo/morphology.h"
#include "common/cuda/device.h"
#include "cuda/morphology/shared/chords.cuh"

enum { THREADS = 128, ROWS = 32 /* that a block gives */ };

struct state {
    struct image between;
};

/* A pixel, or `outside` where the image has none. */
static __device__ int sample_at(const struct image &in, int x, int y, int outside)
{
    if (x < 0 || x >= in.width || y < 0 || y >= in.height)
        return outside;
    return ((const uint8_t *)image_row(&in, y))[x];
}

template <int SHAPE, int RADIUS>
static __global__ void __launch_bounds__(THREADS) morphology_kernel(struct image in, struct image out, int flip)
{
    constexpr struct chords CHORDS = shape<SHAPE, RADIUS, 1>::CHORDS;
    const int x = blockIdx.x * THREADS + threadIdx.x, top = blockIdx.y * ROWS;
    const int bottom = min(top + ROWS, out.height);
    int under_way[2 * RADIUS] = {}; /* results so far: of the rows from y - RADIUS on */
    __shared__ uint8_t lines[2][THREADS + 2 * RADIUS];

#pragma unroll 1
    for (int y = top - RADIUS; y - RADIUS < bottom; y++) {
        uint8_t *line = lines[(y - top + RADIUS) % 2];  /* two, so that one barrier a row is enough */
        int row[CHORDS.kinds] = {}, best = 0, done = 0; /* done: row y - RADIUS */

        for (int k = threadIdx.x; k < THREADS + 2 * RADIUS; k += THREADS)
            line[k] = (uint8_t)(sample_at(in, x - (int)threadIdx.x + k - RADIUS, y, flip) ^ flip);
        __syncthreads();
#pragma unroll
        for (int i = 0; i <= RADIUS; i++) { /* from the middle outwards */
            best = max(best, max(line[threadIdx.x + RADIUS - i], line[threadIdx.x + RADIUS + i]));
#pragma unroll
            for (int kind = 0; kind < CHORDS.kinds; kind++)
                if (CHORDS.lengths[kind] == 2 * i + 1)
                    row[kind] = best;
        }
#pragma unroll
        for (int j = 0; j < 2 * RADIUS + 1; j++) { /* to the result of row y - RADIUS + j */
            const int a = row[CHORDS.kind[2 * RADIUS - j]];
            const int result = j < 2 * RADIUS ? max(under_way[j], a) : a;
            if (j < 1)
                done = result;
            else
                under_way[j - 1] = result;
        }
        if (y - RADIUS >= top && x < out.width)
            ((uint8_t *)image_row(&out, y - RADIUS))[x] = (uint8_t)(done ^ flip);
    }
}

static enum status setup(struct state *state, const struct image in[], const struct morphology_params *params)
{
    enum status status = STATUS_OK;

    (void)params;
    if (!state->between.data)
        TRY(device_image_create(&state->between, in));
out:
    return status;
}

template <int SHAPE, int RADIUS>
static void launch_kernel(const struct image &in, const struct image &out, bool erode, cudaStream_t stream)
{
    dim3 grid(ceiling_divide(out.width, THREADS), ceiling_divide(out.height, ROWS));

    morphology_kernel<SHAPE, RADIUS><<<grid, THREADS, 0, stream>>>(in, out, erode ? 255 : 0);
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct morphology_params *params, cudaStream_t stream)
{
    static decltype(&launch_kernel<0, 1>) const kernels[2][MORPHOLOGY_MAX_RADIUS] = MORPHOLOGY_LAUNCHES(launch_kernel);
    enum status status = STATUS_OK;
    bool erodes[2];
    const int steps = morphology_steps(params, erodes);

    for (int step = 0; step < steps; step++) {
        const struct image &from = step ? state->between : *in, &to = step + 1 < steps ? state->between : *out;
        kernels[params->shape][params->ksize / 2 - 1](from, to, erodes[step], stream);
        CUDA_TRY(cudaGetLastError());
    }
out:
    return status;
}

static void teardown(struct state *state)
{
    device_image_free(&state->between);
}

RUNGS_CUDA_VERSION(morphology)
