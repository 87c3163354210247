/*
 * Idea:     chords in registers. A thread owns 8 (4) pixels of a row and goes down the image. Two rows come in at a
 *           time; the maxima over 3, 9, 27 pixels, and of them over the element's chords, are made of registers alone,
 *           and so are the 2 * radius results that are still under way: no shared memory, no barrier, no tap.
 * Changed:  the kernel. Bytes are compared in pairs of 16-bit halves, the byte that counts on top (what is below it only
 *           breaks ties), by the three-input maximum of Hopper: one instruction for 2 comparisons of 2 pixels, where a
 *           maximum of 4 packed bytes is 6. Erosion is dilation of the negative, whose outside is 0 as well.
 * Expect:   kernel over 30 times faster at ksize 15: 3840x2160 in 8 to 13 us. The loop is some 400 instructions for 16
 *           pixels, half of them maxima, and 1.4 times as many with the rows that bands share: 35 a pixel in place of
 *           225 taps of some 5. A copy takes 5 us, NPP 1640.
 */
/* Try: make bench-morphology VERSIONS=cuda/v1.3,cuda/v2.0,peer/npp */
#include "common/algo/morphology.h"
#include "common/cuda/border.cuh"
#include "common/cuda/device.h"

enum { BANDS = 4 /* of rows for one block, a warp each */, MIN_ROWS = 16 /* of a band, even */, WARPS_TO_FILL = 9 };

struct state {
    int multiprocessors;
    struct image between;
};

/* The element's rows by kind: a kind is a chord, 0 the longest one. */
struct chords {
    int kinds, lengths[MORPHOLOGY_MAX_RADIUS + 1], kind[MORPHOLOGY_MAX_KSIZE]; /* kind[radius + j] of row j */
};

static constexpr struct chords find_chords(int shape, int radius)
{
    struct chords chords = {};

    for (int j = 0; j <= radius; j++) {
        const int length = 2 * morphology_reach(shape, radius, j) + 1;
        if (j == 0 || length != chords.lengths[chords.kinds - 1])
            chords.lengths[chords.kinds++] = length;
        chords.kind[radius + j] = chords.kind[radius - j] = chords.kinds - 1;
    }
    return chords;
}

/* Pixels 4k and 4k + 2 of a row in the high bytes of the halves of at[0][k], 4k + 1 and 4k + 3 in those of at[1][k]. */
template <int WORDS> struct pairs {
    unsigned at[2][WORDS];

    /* Pixels p and p + 2; past the last word, 0. */
    __device__ unsigned get(int p) const
    {
        const unsigned *halves = at[p & 1];
        const int word = p / 4;

        if (!(p & 2))
            return word < WORDS ? halves[word] : 0;
        return word < WORDS ? __byte_perm(halves[word], word + 1 < WORDS ? halves[word + 1] : 0, 0x5432) : 0;
    }
};

/* Maxima over `length` pixels, from pixel p on, out of maxima over `part` pixels, part <= length <= 3 * part. */
template <int WORDS> static __device__ unsigned longer(const struct pairs<WORDS> &parts, int p, int part, int length)
{
    if (length == part)
        return parts.get(p);
    if (length <= 2 * part)
        return __vmaxu2(parts.get(p), parts.get(p + length - part));
    return __vimax3_u16x2(parts.get(p), parts.get(p + part), parts.get(p + length - part));
}

/* The kernel's shape, and what it keeps of one row. */
template <int SHAPE, int RADIUS> struct kernel {
    static constexpr struct chords CHORDS = find_chords(SHAPE, RADIUS);
    static constexpr int OWN = RADIUS <= 8 ? 2 : 1 /* words of a thread */, HALO = (RADIUS + 3) / 4;
    static constexpr int WORDS = OWN + 2 * HALO;
    typedef unsigned row[CHORDS.kinds][OWN][2];
};

template <int WORDS>
static __device__ void load_row(unsigned words[WORDS], const struct image &in, int y, const uint8_t *const from[WORDS])
{
#pragma unroll
    for (int k = 0; k < WORDS; k++)
        words[k] = *(const unsigned *)device_row(from[k], in.stride, min(max(y, 0), in.height - 1));
}

/* Words of a row into the maxima over its chords around each of the thread's own pixels. */
template <int SHAPE, int RADIUS>
static __device__ void find_maxima(typename kernel<SHAPE, RADIUS>::row row, const unsigned *words,
                                   const unsigned *masks, unsigned flip, bool inside)
{
    typedef kernel<SHAPE, RADIUS> K;
    constexpr struct chords CHORDS = K::CHORDS;
    struct pairs<K::WORDS> parts;

#pragma unroll
    for (int k = 0; k < K::WORDS; k++) {
        const unsigned word = inside ? (words[k] ^ flip) & masks[k] : 0;
        parts.at[0][k] = word << 8;
        parts.at[1][k] = word;
    }
#pragma unroll
    for (int part = 1; part <= 27; part *= 3) {
#pragma unroll
        for (int n = 0; n < CHORDS.kinds * K::OWN * 2; n++) {
            const int kind = n / (K::OWN * 2), word = n / 2 % K::OWN, length = CHORDS.lengths[kind];
            if (length >= part && length < 3 * part)
                row[kind][word][n % 2] = longer(parts, 4 * (K::HALO + word) + n % 2 - length / 2, part, length);
        }
        struct pairs<K::WORDS> next;
#pragma unroll
        for (int n = 0; n < K::WORDS * 2; n++)
            next.at[n % 2][n / 2] = longer(parts, n / 2 * 4 + n % 2, part, 3 * part);
        parts = next;
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
    unsigned coming[2][K::WORDS], masks[K::WORDS];
    unsigned under_way[2 * RADIUS][K::OWN][2] = {}; /* results so far: of the rows from y - RADIUS on */
    const uint8_t *from[K::WORDS];

    if (x >= out.width || top >= bottom)
        return;
#pragma unroll
    for (int k = 0; k < K::WORDS; k++) {
        const int offset = x + 4 * (k - K::HALO), left = min(max(-offset, 0), 4);
        const int right = max(min(in.width - offset, 4), left);
        from[k] = keep_pointer((const uint8_t *)in.data + border_source(offset, in.width, 4));
        masks[k] = (unsigned)((1ull << 8 * right) - (1ull << 8 * left)); /* of bytes inside the row */
    }
#pragma unroll
    for (int k = 0; k < 2; k++)
        load_row<K::WORDS>(coming[k], in, top - RADIUS + k, from);

#pragma unroll 1
    for (int y = top - RADIUS; y - RADIUS < bottom; y += 2) {
        typename K::row upper, lower; /* rows y and y + 1 */
        unsigned done[2][K::OWN];     /* rows y - RADIUS and the next */

        find_maxima<SHAPE, RADIUS>(upper, coming[0], masks, flip, y >= 0 && y < in.height);
        find_maxima<SHAPE, RADIUS>(lower, coming[1], masks, flip, y + 1 >= 0 && y + 1 < in.height);
#pragma unroll
        for (int k = 0; k < 2; k++)
            load_row<K::WORDS>(coming[k], in, y + 2 + k, from);
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
                    const unsigned best = j == 0            ? __vmaxu2(before, a)
                                          : j < 2 * RADIUS  ? __vimax3_u16x2(before, a, b)
                                          : j == 2 * RADIUS ? __vmaxu2(a, b)
                                                            : b;
                    if (j < 2)
                        ready[j][half] = best;
                    else
                        under_way[j - 2][word][half] = best;
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
            uint8_t *to = device_row((uint8_t *)out.data, out.stride, at) + x;
            if (K::OWN == 2 && x + 8 <= out.width)
                *(uint2 *)to = make_uint2(done[k][0], done[k][K::OWN - 1]);
            else if (K::OWN == 1 && x + 4 <= out.width)
                *(unsigned *)to = done[k][0];
            else
#pragma unroll 1
                for (int b = 0; b < out.width - x; b++) /* rare: unrolled, it would only part what is used */
                    to[b] = (uint8_t)((b < 4 ? done[k][0] : done[k][K::OWN - 1]) >> 8 * (b % 4));
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

#define LAUNCHES(shape)                                                                                                \
    {                                                                                                                  \
        launch_kernel<shape, 1>, launch_kernel<shape, 2>, launch_kernel<shape, 3>, launch_kernel<shape, 4>,            \
            launch_kernel<shape, 5>, launch_kernel<shape, 6>, launch_kernel<shape, 7>, launch_kernel<shape, 8>,        \
            launch_kernel<shape, 9>, launch_kernel<shape, 10>, launch_kernel<shape, 11>, launch_kernel<shape, 12>,     \
            launch_kernel<shape, 13>, launch_kernel<shape, 14>, launch_kernel<shape, 15>                               \
    }

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct morphology_params *params, cudaStream_t stream)
{
    static void (*const kernels[2][MORPHOLOGY_MAX_RADIUS])(const struct image &, const struct image &, bool, int,
                                                           cudaStream_t) = {LAUNCHES(MORPHOLOGY_DISK),
                                                                            LAUNCHES(MORPHOLOGY_SQUARE)};
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
