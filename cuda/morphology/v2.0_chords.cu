/*
 * Idea:     two rows at a time, for the three-input maximum of Hopper: a result under way takes a chord of both rows
 *           in one instruction. Maxima over 3, 9 and 27 pixels, and over the chords out of these, are one each, too.
 * Changed:  the loop takes two rows a turn, and so has two results ready; find_maxima() triples (shared/thirds.cuh),
 *           where it grew from the middle.
 * Expect:   kernel 1.4 times faster at 3840x2160, 8 to 13 us: half of the maxima, which were half of the instructions.
 *           The loop is some 400 instructions for 16 pixels, and 1.4 times as many with the rows that bands share: 35
 *           a pixel, where v1.3 has 225 taps of some 5. A copy takes 5 us, NPP 1640.
 * Result:   20.9 us, 1.1 times v1.8 and 28 times v1.3 (results/h200/morphology/morphology_3840x2160_steps.json):
 *           missed; probably maxima were not the limit any more.
 */
/* Try: make bench-morphology VERSIONS=cuda/v1.8,cuda/v2.0,peer/npp */
#include "common/algo/morphology.h"
#include "common/cuda/device.h"
#include "cuda/morphology/shared/chords.cuh"
#include "cuda/morphology/shared/pairs.cuh"
#include "cuda/morphology/shared/thirds.cuh"
#include "cuda/morphology/shared/window.cuh"

enum { BANDS = 4 /* of rows for one block, a warp each */, MIN_ROWS = 16 /* of a band, even */, WARPS_TO_FILL = 9 };

struct state {
    int multiprocessors;
    struct image between;
};

template <int SHAPE, int RADIUS>
using kernel = struct shape<SHAPE, RADIUS, RADIUS <= 8 ? 2 : 1>; /* words of a thread */

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
    unsigned coming[2][K::WORDS];

    if (x >= out.width || top >= bottom)
        return;
    find_window(&window, in, x, K::HALO);
#pragma unroll
    for (int k = 0; k < 2; k++)
        load_row(coming[k], in, top - RADIUS + k, window);

#pragma unroll 1
    for (int y = top - RADIUS; y - RADIUS < bottom; y += 2) {
        unsigned upper[CHORDS.kinds][K::OWN][2], lower[CHORDS.kinds][K::OWN][2]; /* rows y and y + 1 */
        unsigned done[2][K::OWN];                                                /* rows y - RADIUS and the next */

        find_maxima<K>(upper, make_line<pairs<K::WORDS>>(coming[0], window, flip, y >= 0 && y < in.height));
        find_maxima<K>(lower, make_line<pairs<K::WORDS>>(coming[1], window, flip, y + 1 >= 0 && y + 1 < in.height));
#pragma unroll
        for (int k = 0; k < 2; k++)
            load_row(coming[k], in, y + 2 + k, window);
#pragma unroll
        for (int word = 0; word < K::OWN; word++) {
            unsigned ready[2][2];
#pragma unroll
            for (int j = 0; j < 2 * RADIUS + 2; j++) /* to the result of row y - RADIUS + j */
#pragma unroll
                for (int half = 0; half < 2; half++) {
                    const unsigned before = j < 2 * RADIUS ? under_way[j][word][half] : 0;
                    const unsigned a = j <= 2 * RADIUS ? upper[CHORDS.kind[2 * RADIUS - j]][word][half] : before;
                    const unsigned b = j > 0 ? lower[CHORDS.kind[2 * RADIUS + 1 - j]][word][half] : before;
                    const unsigned result = j == 0            ? __vmaxu2(before, a)
                                            : j < 2 * RADIUS  ? __vimax3_u16x2(before, a, b)
                                            : j == 2 * RADIUS ? __vmaxu2(a, b)
                                                              : b;
                    if (j < 2)
                        ready[j][half] = result;
                    else
                        under_way[j - 2][word][half] = result;
                }
#pragma unroll
            for (int k = 0; k < 2; k++)
                done[k][word] = __byte_perm(ready[k][0], ready[k][1], 0x7351) ^ flip; /* the high bytes */
        }
#pragma unroll
        for (int k = 0; k < 2; k++) {
            const int at = y - RADIUS + k;
            if (at < top || at >= bottom)
                continue;
            store_row(out, x, at, done[k]);
        }
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
    const int rows = max((int)MIN_ROWS, (int)ceiling_divide(out.height, 2 * bands) * 2);

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
