/*
 * products.cuh: the tensor times the products of v and w, and its transpose times u, by the tensor cores straight from global
 * memory: operands as in tensor.cuh, but of a step's 16 terms a lane has `member`, member + 4, + 8 and + 12 on either side, so
 * that neighbouring lanes read neighbouring samples and no shared memory has to turn them.
 */
#ifndef RUNGS_NTF_STEPS_PRODUCTS_CUH
#define RUNGS_NTF_STEPS_PRODUCTS_CUH

#include "cuda/ntf/shared/tensor.cuh"

enum {
    PAIR = 2 /* steps */,
    STEPS = 36 /* of LARGEST samples */,
    GROUPS = 8 /* of 16 slices */,
    HALVES = 2 /* warps of a group */,
    MULTIPLY = 32 * GROUPS * HALVES /* threads for u */,
    PARTS = 3 /* of 16 samples, that a warp has for P */,
    SHARE = 16 * PARTS,
    ADDERS = 384 /* threads for P */,
    TOP = 7 /* tiles of columns */
};

/* What a block for u has in shared memory; once the products are used up, the second halves' sums lie in their place. */
template <int TILES> struct factors {
    union {
        struct operand products[STEPS][TILES][32]; /* of v and w */
        float sums[GROUPS][2][TILES * 4][32];      /* numerators, denominators */
    };
    struct operand weights[HIGHEST / TERM][TILES][32]; /* V W */
};

/* Two steps' samples of slices `upper` and `lower`, 0 behind the last one. */
template <typename T>
static __device__ inline void load_pair(const void *upper, const void *lower, int from, int samples,
                                        float terms[PAIR][2][4])
{
    for (int i = 0; i < PAIR * 4; i++) {
        const int at = from + i * 4 + (int)threadIdx.x % 4;
        terms[i / 4][0][i % 4] = at < samples ? ((const T *)upper)[at] : 0;
        terms[i / 4][1][i % 4] = at < samples ? ((const T *)lower)[at] : 0;
    }
}

/* The type is asked for once, so that no branch lies between loads, which wait together. */
static __device__ inline void load_terms(const struct image &in, int first, int from, float terms[PAIR][2][4])
{
    const int slice = first + (int)threadIdx.x % 32 / 4, last = in.height - 1;
    const void *const upper = image_row(&in, min(slice, last)), *const lower = image_row(&in, min(slice + 8, last));

    if (in.type == PIXEL_F32)
        load_pair<float>(upper, lower, from, in.width * in.channels, terms);
    else
        load_pair<uint8_t>(upper, lower, from, in.width * in.channels, terms);
}

/* The products of v and w, as operands. */
template <int TILES>
static __device__ inline void make_terms(const struct ntf_device &device, struct factors<TILES> &own)
{
    const int lane = threadIdx.x % 32, t_side = device.sides[2];

    for (int at = threadIdx.x / 32; at < STEPS * TILES; at += blockDim.x / 32) {
        const int k = at % TILES * SIDE + lane / 4, first = at / TILES * TERM + lane % 4;
        float value[4];
        for (int i = 0; i < 4; i++)
            value[i] =
                entry_of(device, 1, (first + 4 * i) / t_side, k) * entry_of(device, 2, (first + 4 * i) % t_side, k);
        own.products[at / TILES][at % TILES][lane] = split_floats(value[0], value[1], value[2], value[3]);
    }
}

/* Adds a step to the sums of 16 rows in all columns. Its own begin at 0 and are added by ordinary arithmetic, for the tensor cores
 * cut off what is below a sum's last bit, always downwards. */
template <int TILES>
static __device__ inline void add_step(float sums[TILES][4], const struct operand &left, const struct operand &right,
                                       const struct operand beside[TILES][32])
{
    for (int j = 0; j < TILES; j++) {
        float fresh[1][4] = {};
        multiply_tiles<1>(fresh, left, right, &beside[j][threadIdx.x % 32]);
        for (int k = 0; k < 4; k++)
            sums[j][k] += fresh[0][k];
    }
}

template <int TILES>
static __device__ inline void multiply_step(float sums[TILES][4], const float terms[2][4],
                                            const struct operand beside[TILES][32])
{
    add_step<TILES>(sums, split_floats(terms[0][0], terms[0][1], terms[0][2], terms[0][3]),
                    split_floats(terms[1][0], terms[1][1], terms[1][2], terms[1][3]), beside);
}

/* Adds the numerators of 16 rows of u, from slice `first` on, over a share of the samples. */
template <int TILES>
static __device__ inline void add_numerators(const struct image &in, int first, int from, int to,
                                             const struct factors<TILES> &own, float sums[TILES][4])
{
    float ahead[PAIR][2][4], now[PAIR][2][4];

    load_terms(in, first, from * TERM, ahead);
    for (int step = from; step < to; step += PAIR) {
        for (int k = 0; k < PAIR * 8; k++)
            now[k / 8][k / 4 % 2][k % 4] = ahead[k / 8][k / 4 % 2][k % 4];
        if (step + PAIR < to)
            load_terms(in, first, (step + PAIR) * TERM, ahead);
        for (int s = 0; s < PAIR; s++)
            multiply_step<TILES>(sums, now[s], own.products[step + s]);
    }
}

/* Old rows of u times V W. */
template <int TILES>
static __device__ inline void add_denominators(const struct ntf_device &device, int first,
                                               const struct factors<TILES> &own, float sums[TILES][4])
{
    const int row = first + (int)threadIdx.x % 32 / 4;

    for (int m = 0; m < device.rank; m += TERM) {
        float terms[2][4];
        for (int i = 0; i < 8; i++)
            terms[i / 4][i % 4] = entry_of(device, 0, row + i / 4 * 8, m + (int)threadIdx.x % 4 * 4 + i % 4);
        multiply_step<TILES>(sums, terms, own.weights[m / TERM]);
    }
}

/* The lower one of two warps hands its sums to the upper one, which updates 16 rows of u. */
template <int TILES>
static __device__ inline void update_rows(const struct ntf_device &device, int first, int height, int update,
                                          bool upper, float handed[2][TILES * 4][32], const float sums[TILES][4],
                                          const float below[TILES][4])
{
    const int lane = threadIdx.x % 32;
    const bool settled = *device.settled;

    __syncthreads();
    if (!upper)
        for (int k = 0; k < TILES * 4; k++) {
            handed[0][k][lane] = sums[k / 4][k % 4];
            handed[1][k][lane] = below[k / 4][k % 4];
        }
    __syncthreads();
    if (upper)
        for (int k = 0; k < TILES * 4; k++) {
            const int row = first + lane / 4 + k % 4 / 2 * 8, column = k / 4 * SIDE + lane % 4 * 2 + k % 2;
            const float old = entry_of(device, 0, row, column), numerator = sums[k / 4][k % 4] + handed[0][k][lane];
            if (row < height && column < device.rank)
                device.next[0][(size_t)row * device.rank + column] =
                    settled ? old : ntf_updated(old, numerator, handed[1][k][lane], update);
        }
}

/* Slices first, first + 16 ... of u as operands, GROUPS times 16 of them. */
template <int TILES>
static __device__ inline void make_rows(const struct ntf_device &device, int first, int by,
                                        struct operand rows[GROUPS][TILES][32])
{
    const int lane = threadIdx.x % 32;

    for (int at = threadIdx.x / 32; at < GROUPS * TILES; at += blockDim.x / 32) {
        const int k = at % TILES * SIDE + lane / 4, slice = first + at / TILES * by + lane % 4;
        rows[at / TILES][at % TILES][lane] =
            split_floats(entry_of(device, 0, slice, k), entry_of(device, 0, slice + 4, k),
                         entry_of(device, 0, slice + 8, k), entry_of(device, 0, slice + 12, k));
    }
}

/* Of 16 slices the four that a lane has, of two samples. */
template <typename T>
static __device__ inline void load_columns(const struct image &in, int first, int from, float terms[2][4])
{
    const int samples = in.width * in.channels, at = from + (int)threadIdx.x % 32 / 4;

    for (int i = 0; i < 4; i++) {
        const T *const row = (const T *)image_row(&in, min(first + (int)threadIdx.x % 4 + 4 * i, in.height - 1));
        terms[0][i] = at < samples ? row[at] : 0;
        terms[1][i] = at + 8 < samples ? row[at + 8] : 0;
    }
}

static __device__ inline void load_rows(const struct image &in, int first, int from, float terms[2][4])
{
    if (in.type == PIXEL_F32)
        load_columns<float>(in, first, from, terms);
    else
        load_columns<uint8_t>(in, first, from, terms);
}

/* Adds the loaded samples times u to P, while the next ones are on their way. */
template <int TILES>
static __device__ inline void multiply_rows(float sums[TILES][4], const struct image &in, int first, int from,
                                            float terms[2][4], const struct operand beside[TILES][32])
{
    const struct operand left = split_floats(terms[0][0], terms[0][1], terms[0][2], terms[0][3]);
    const struct operand right = split_floats(terms[1][0], terms[1][1], terms[1][2], terms[1][3]);

    load_rows(in, first, from, terms);
    add_step<TILES>(sums, left, right, beside);
}

/* P of a warp's samples. */
template <int TILES>
static __device__ inline void store_products(const float sums[PARTS][TILES][4], int from, int samples, int rank,
                                             float *to)
{
    int column = threadIdx.x % 4 * 2;

    from += (int)threadIdx.x % 32 / 4;
    to += (size_t)column * samples + from;
    for (int j = 0; j < TILES; j++, column += SIDE, to += SIDE * samples)
        for (int k = 0; k < 4 * PARTS; k++) {
            const int at = k / 4 * TERM + k % 4 / 2 * 8;
            if (from + at < samples && column + k % 2 < rank)
                atomicAdd(&to[k % 2 * samples + at], sums[k / 4][j][k % 4]);
        }
}

/* Adds u'u of GROUPS times 16 slices, above the diagonal and on it: warps share its parts of 16 rows by 8 columns. u's operands are on
 * either side. */
template <int TILES>
static __device__ inline void add_squares(const struct operand rows[GROUPS][TILES][32], const struct ntf_device &device)
{
    const int lane = threadIdx.x % 32;

    for (int part = threadIdx.x / 32; part < (TILES + 1) / 2 * TILES; part += blockDim.x / 32) {
        const int pair = part / TILES, tile = part % TILES, m = pair * TERM + lane / 4, n = tile * SIDE + lane % 4 * 2;
        float sums[1][4] = {};
        for (int g = 0; g < GROUPS && tile >= 2 * pair; g++)
            add_step<1>(sums, rows[g][2 * pair][lane], rows[g][min(2 * pair + 1, TILES - 1)][lane], &rows[g][tile]);
        for (int k = 0; k < 4; k++)
            if (m + k / 2 * 8 <= n + k % 2 && n + k % 2 < device.rank)
                atomicAdd(&device.grams[0][(m + k / 2 * 8) * device.rank + n + k % 2], (double)sums[0][k]);
    }
}

#endif
