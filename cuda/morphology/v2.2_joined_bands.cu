/*
 * Problem:  A warp of cuda/v2.1 has a band of 28 rows, and reads 14 more for the results at its
 *           ends: half of its work again, which its neighbours do too.
 * Idea:     Warps of a block join their bands: a warp keeps the maxima of its own rows, and at its
 *           end takes those of the next warp for the results that need both (shared memory).
 * Expect:   Kernel 1.35 times as fast as cuda/v2.1: 17.75 rows of a warp for 42, twice the warps.
 * Result:   Kernel 1.39 times as fast as cuda/v2.1, 13.6 us
 *           (results/h200/morphology/morphology_3840x2160.json).
 * Run:      make diff-morphology A=cuda/v2.1 B=cuda/v2.2
 */
#include "common/algo/morphology.h"
#include "common/cuda/device.h"
#include "cuda/morphology/shared/chords.cuh"
#include "cuda/morphology/shared/window.cuh"

enum { WARPS = 8 /* of a block, a band each */, BLOCKS = 2 /* of a multiprocessor: 128 registers a thread */ };

struct state {
    int multiprocessors;
    struct image between;
};

template <int SHAPE, int RADIUS>
using kernel = struct shape<SHAPE, RADIUS, RADIUS <= 8 ? 2 : 1>; /* words of a thread */

/*
 * Two pixels a register, each in the high byte of a 16-bit half (the low byte only decides between equal pixels):
 *
 *      word k        p0 p1 p2 p3        bytes from the lowest on
 *      at[0][k]       . p0  . p2
 *      at[1][k]       . p1  . p3        (p0 and p2 are here, too, in the low bytes)
 */
template <int WORDS> struct pairs {
    unsigned at[2][WORDS];

    __device__ void set(int k, unsigned word)
    {
        at[0][k] = word << 8;
        at[1][k] = word;
    }
    /* Pixels p and p + 2; past the last word, 0. */
    __device__ unsigned get(int p) const
    {
        const int k = p / 4;
        const unsigned own = k < WORDS ? at[p & 1][k] : 0, next = k + 1 < WORDS ? at[p & 1][k + 1] : 0;

        return p & 2 ? __byte_perm(own, next, 0x5432) : own;
    }
};

/* Words of row y, two by two where all begin at multiples of 8 pixels. A word outside of the row may be any: masked. */
template <class K>
static __device__ void load_words(unsigned (&words)[K::WORDS], const struct image &in, int y,
                                  const struct window<K::WORDS> &window)
{
    constexpr int STEP = K::OWN == 2 && K::HALO % 2 == 0 ? 2 : 1;

    for (int k = 0; k < K::WORDS; k += STEP) {
        const uint8_t *from = device_row(window.from[k], in.stride, min(max(y, 0), in.height - 1));
        if constexpr (STEP == 1) {
            words[k] = *(const unsigned *)from;
        } else {
            const uint2 two = *(const uint2 *)((uintptr_t)from & ~(uintptr_t)7);
            words[k] = two.x;
            words[k + 1] = two.y;
        }
    }
}

/* Words of a row as pairs: flipped for an erosion, and 0 outside the image. */
template <int WORDS>
static __device__ pairs<WORDS> make_line(const unsigned (&words)[WORDS], const struct window<WORDS> &window,
                                         unsigned flip, bool inside)
{
    pairs<WORDS> line;

    for (int k = 0; k < WORDS; k++)
        line.set(k, inside ? (words[k] ^ flip) & window.masks[k] : 0);
    return line;
}

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
            best = i == 0 ? line.get(p) : __vimax3_u16x2(best, line.get(p - i), line.get(p + i));
#pragma unroll
            for (int kind = 0; kind < KINDS; kind++)
                if (CHORDS.lengths[kind] == 2 * i + 1)
                    row[kind][k / 2][k % 2] = best;
        }
    }
}

/* One or two words from column x of row y on, as far as the picture goes. */
template <int OWN>
static __device__ void store_row(const struct image &out, int x, int y, const unsigned (&words)[OWN], unsigned flip)
{
    uint8_t *to = device_row((uint8_t *)out.data, out.stride, y) + x;

    if (y >= out.height)
        return;
    if (OWN == 2 && x + 8 <= out.width)
        *(uint2 *)to = make_uint2(words[0] ^ flip, words[OWN - 1] ^ flip);
    else if (OWN == 1 && x + 4 <= out.width)
        *(unsigned *)to = words[0] ^ flip;
    else
#ifdef __CUDA_ARCH__ /* rare: unrolled, it would only part what is used; the emulator's compiler knows no unroll */
#pragma unroll 1
#endif
        for (int b = 0; b < out.width - x; b++)
            to[b] = (uint8_t)(((b < 4 ? words[0] : words[OWN - 1]) ^ flip) >> 8 * (b % 4));
}

template <int SHAPE, int RADIUS>
static __global__ void __launch_bounds__(32 * WARPS, BLOCKS)
    morphology_kernel(struct image in, struct image out, unsigned flip, int rows)
{
    typedef kernel<SHAPE, RADIUS> K;
    constexpr struct chords CHORDS = K::CHORDS;
    __shared__ unsigned upper_ends[WARPS][2 * RADIUS][K::OWN][32]; /* a warp's first results: without rows above */
    const int x = (blockIdx.x * 32 + threadIdx.x) * 4 * K::OWN, lane = threadIdx.x, warp = threadIdx.y;
    const int block_start = blockIdx.y * (rows - 2 * RADIUS) - RADIUS;
    const int start = block_start + warp * (rows / 2) / WARPS * 2,
              end = block_start + (warp + 1) * (rows / 2) / WARPS * 2;
    unsigned partial[2 * RADIUS][K::OWN][2] = {}; /* maxima so far of the results in rows y - RADIUS and below */
    struct window<K::WORDS> window;
    unsigned prefetched[2][K::WORDS];

    find_window(&window, in, x, K::HALO);
#pragma unroll
    for (int k = 0; k < 2; k++)
        load_words<K>(prefetched[k], in, start + k, window);

#pragma unroll 1
    for (int y = start; y < end && y - RADIUS < out.height; y += 2) {
        unsigned upper[CHORDS.kinds][K::OWN][2] = {}, lower[CHORDS.kinds][K::OWN][2] = {}; /* rows y and y + 1 */
        unsigned done[2][K::OWN]; /* rows y - RADIUS and the next */

        find_maxima<K>(upper, make_line(prefetched[0], window, flip, y >= 0 && y < in.height));
        find_maxima<K>(lower, make_line(prefetched[1], window, flip, y + 1 >= 0 && y + 1 < in.height));
#pragma unroll
        for (int k = 0; k < 2; k++)
            load_words<K>(prefetched[k], in, y + 2 + k, window);
#pragma unroll
        for (int word = 0; word < K::OWN; word++) {
            unsigned ready[2][2];
#pragma unroll
            for (int j = 0; j < 2 * RADIUS + 2; j++) /* to the result of row y - RADIUS + j */
#pragma unroll
                for (int half = 0; half < 2; half++) {
                    const unsigned before = j < 2 * RADIUS ? partial[j][word][half] : 0;
                    const unsigned a = j <= 2 * RADIUS ? upper[CHORDS.kind[2 * RADIUS - j]][word][half] : before;
                    const unsigned b = j > 0 ? lower[CHORDS.kind[2 * RADIUS + 1 - j]][word][half] : before;
                    const unsigned result = j == 0            ? __vmaxu2(before, a)
                                            : j < 2 * RADIUS  ? __vimax3_u16x2(before, a, b)
                                            : j == 2 * RADIUS ? __vmaxu2(a, b)
                                                              : b;
                    if (j < 2)
                        ready[j][half] = result;
                    else
                        partial[j - 2][word][half] = result;
                }
#pragma unroll
            for (int k = 0; k < 2; k++)
                done[k][word] = __byte_perm(ready[k][0], ready[k][1], 0x7351); /* the high bytes */
        }
        if (y - start < 2 * RADIUS) {
#pragma unroll
            for (int i = 0; i < 2 * K::OWN; i++)
                upper_ends[warp][y - start + i / K::OWN][i % K::OWN][lane] = done[i / K::OWN][i % K::OWN];
        } else {
#pragma unroll
            for (int k = 0; k < 2; k++)
                store_row(out, x, y - RADIUS + k, done[k], flip);
        }
    }
    __syncthreads();
    if (warp + 1 == WARPS)
        return;
#pragma unroll
    for (int j = 0; j < 2 * RADIUS; j++) { /* a warp's last results get those rows below that the next warp has seen */
        unsigned done[K::OWN];
#pragma unroll
        for (int word = 0; word < K::OWN; word++) {
            const unsigned other = upper_ends[warp + 1][j][word][lane];
            done[word] =
                __byte_perm(__vmaxu2(partial[j][word][0], other << 8), __vmaxu2(partial[j][word][1], other), 0x7351);
        }
        store_row(out, x, end - RADIUS + j, done, flip);
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
    /* As many bands as fill the device at once; a warp has at least the rows of an element. */
    const int bands = max(1, multiprocessors * BLOCKS / across);
    const int rows = max(WARPS * (2 * RADIUS + 2), ((int)ceiling_divide(out.height, bands) + 2 * RADIUS + 1) / 2 * 2);

    morphology_kernel<SHAPE, RADIUS>
        <<<dim3(across, ceiling_divide(out.height, rows - 2 * RADIUS)), dim3(32, WARPS), 0, stream>>>(
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

RUNGS_CUDA_VERSION(morphology, .staged = true)
