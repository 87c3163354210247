/*
 * Idea:     as many bands as fill the device at once. Each band begins with 2 * radius rows that give nothing, so bands
 *           should be high; but a multiprocessor without warps gives nothing either.
 * Changed:  setup asks for the number of multiprocessors, launch shares the rows out for 9 warps on each. A band is one
 *           warp wide, four of them are a block.
 * Expect:   kernel 1.2 times faster at 3840x2160: v1.7's 272 blocks on 132 multiprocessors are three on some and two on
 *           most. 79 bands of 28 rows are even; what is gained is even load, not fewer rows.
 * Result:   23.0 us, 1.07 times v1.7 (results/h200/morphology/morphology_3840x2160_steps.json), not 1.2: probably
 *           the load was more even than counted, or weighs less.
 */
/* Try: make bench-morphology VERSIONS=cuda/v1.7,cuda/v1.8 */
#include "common/algo/morphology.h"
#include "common/cuda/device.h"
#include "cuda/morphology/shared/chords.cuh"
#include "cuda/morphology/shared/pairs.cuh"
#include "cuda/morphology/shared/window.cuh"

enum { BANDS = 4 /* of rows for one block, a warp each */, MIN_ROWS = 16 /* of a band */, WARPS_TO_FILL = 9 };

struct state {
    int multiprocessors;
    struct image between;
};

template <int SHAPE, int RADIUS>
using kernel = struct shape<SHAPE, RADIUS, RADIUS <= 8 ? 2 : 1>; /* words of a thread */

/* Maxima over the chords around each of the thread's own pixels. */
template <class K, int KINDS>
static __device__ void find_maxima(unsigned (&row)[KINDS][K::OWN][2], const struct pairs<K::WORDS> &line)
{
    constexpr struct chords CHORDS = K::CHORDS;
    constexpr int REACH = CHORDS.lengths[0] / 2;

#pragma unroll
    for (int k = 0; k < 2 * K::OWN; k++) {
        const int p = 4 * (K::HALO + k / 2) + k % 2;
        unsigned best = 0;
#pragma unroll
        for (int i = 0; i <= REACH; i++) { /* from the middle outwards */
            best = __vmaxu2(best, __vmaxu2(line.get(p - i), line.get(p + i)));
#pragma unroll
            for (int kind = 0; kind < KINDS; kind++)
                if (CHORDS.lengths[kind] == 2 * i + 1)
                    row[kind][k / 2][k % 2] = best;
        }
    }
}

template <int SHAPE, int RADIUS>
static __global__ void __launch_bounds__(32 * BANDS, RADIUS <= 8 ? 3 : 2)
    morphology_kernel(struct image in, struct image out, unsigned flip, int rows)
{
    typedef kernel<SHAPE, RADIUS> K;
    constexpr struct chords CHORDS = K::CHORDS;
    const int x = (blockIdx.x * 32 + threadIdx.x) * 4 * K::OWN, top = (blockIdx.y * BANDS + threadIdx.y) * rows;
    const int bottom = min(top + rows, out.height);
    unsigned under_way[2 * RADIUS][K::OWN][2] = {}; /* results so far: of the rows from y - RADIUS on */
    struct window<K::WORDS> window;
    unsigned coming[K::WORDS];

    if (x >= out.width || top >= bottom)
        return;
    find_window(&window, in, x, K::HALO);
    load_row(coming, in, top - RADIUS, window);

#pragma unroll 1
    for (int y = top - RADIUS; y - RADIUS < bottom; y++) {
        unsigned row[CHORDS.kinds][K::OWN][2] = {};
        unsigned done[K::OWN]; /* row y - RADIUS */

        find_maxima<K>(row, make_line<pairs<K::WORDS>>(coming, window, flip, y >= 0 && y < in.height));
        load_row(coming, in, y + 1, window);
#pragma unroll
        for (int word = 0; word < K::OWN; word++) {
            unsigned ready[2];
#pragma unroll
            for (int j = 0; j < 2 * RADIUS + 1; j++) /* to the result of row y - RADIUS + j */
#pragma unroll
                for (int half = 0; half < 2; half++) {
                    const unsigned a = row[CHORDS.kind[2 * RADIUS - j]][word][half];
                    const unsigned result = j < 2 * RADIUS ? __vmaxu2(under_way[j][word][half], a) : a;
                    if (j < 1)
                        ready[half] = result;
                    else
                        under_way[j - 1][word][half] = result;
                }
            done[word] = __byte_perm(ready[0], ready[1], 0x7351) ^ flip; /* the high bytes */
        }
        if (y - RADIUS >= top)
            store_row(out, x, y - RADIUS, done);
    }
}

static enum status setup(struct state *state, const struct image in[], const struct morphology_params *params)
{
    enum status status = STATUS_OK;
    int device = 0;

    (void)params;
    if (state->between.data)
        return STATUS_OK;
    CUDA_TRY(cudaGetDevice(&device));
    CUDA_TRY(cudaDeviceGetAttribute(&state->multiprocessors, cudaDevAttrMultiProcessorCount, device));
    TRY(device_image_create(&state->between, in));
out:
    return status;
}

template <int SHAPE, int RADIUS>
static void launch_kernel(const struct image &in, const struct image &out, bool erode, int multiprocessors,
                          cudaStream_t stream)
{
    const int across = ceiling_divide(out.width, 32 * 4 * kernel<SHAPE, RADIUS>::OWN);
    /* As many bands as fill the device at once: each begins with 2 * RADIUS rows that give nothing. */
    const int bands = max(1, multiprocessors * WARPS_TO_FILL / across);
    const int rows = max((int)MIN_ROWS, (int)ceiling_divide(out.height, bands));

    morphology_kernel<SHAPE, RADIUS>
        <<<dim3(across, ceiling_divide(out.height, BANDS * rows)), dim3(32, BANDS), 0, stream>>>(
            in, out, erode ? 0xffffffff : 0, rows);
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
        kernels[params->shape][params->ksize / 2 - 1](from, to, erodes[step], state->multiprocessors, stream);
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
