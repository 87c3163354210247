/*
 * operands.cuh: planes of 16 pixels as operands of the tensor cores, and products of 32 by 32 of them. An f32 sample is the sum
 * of two bfloat16 within 2^-17 of it, an upper and a lower one; a byte is one. With group and member as in mma.cuh, a lane
 * has, of a tile of 8 planes, plane `group` of the pixels 4 member to 4 member + 3: two registers of upper parts, two of lower
 * ones. They are operand B of the tile and half of operand A of a pair of tiles, for any order of the pixels does.
 */
#ifndef RUNGS_CORRELATION_STEPS_OPERANDS_CUH
#define RUNGS_CORRELATION_STEPS_OPERANDS_CUH

#include "common/algo/correlation.h"
#include "common/cuda/mma.cuh"

/* nvcc's word before loops over registers, which have no index; the emulator's compiler does not know it. */
#ifdef RUNGS_EMULATED
#define UNROLL
#else
#define UNROLL _Pragma("unroll")
#endif

enum { STEP = 16 /* pixels */, TILE = 8 /* planes */, SQUARE = 4 /* tiles a side of what a warp sums */ };
enum { WARPS = 16 /* of a block at most */, LOADS = 4 /* of 4 samples, that a thread has under way */ };
enum { RUN_WHOLE = 256, RUN_REAL = 1024 /* pixels of an f32 sum: u8 stays exact, f32 within the contract */ };
enum { PRODUCTS = 128 /* sums of a pair of tiles with one */ };

/* How the work is shared: a block has `parts` warps for each of its squares, and a panel of so many steps. */
struct plan {
    struct image in; /* one row where its rows have no gaps */
    const float *shift;
    int planes, tiles, all, squares, warps, steps, repeats;
    size_t shared; /* bytes */
    dim3 blocks;
};

static inline struct plan make_plan(const struct image *in, const struct correlation_params *params,
                                    int multiprocessors, int most_warps, int side = SQUARE, int pairs = SQUARE / 2)
{
    struct plan plan = {*in, correlation_shift(in, params), correlation_planes(in, params)};
    const int64_t count = (int64_t)in->width * in->height;
    const int run = in->type == PIXEL_F32 ? RUN_REAL : RUN_WHOLE;

    if (in->stride == image_row_bytes(in))
        plan.in.width = (int)count, plan.in.height = 1;
    plan.tiles = (plan.planes + TILE - 1) / TILE;
    const int sides = (plan.tiles + side - 1) / side;
    plan.all = pairs > SQUARE / 2 ? (sides + 1) * (sides + 1) / 4 : sides * (sides + 1) / 2;
    const int high = (plan.all + most_warps - 1) / most_warps;
    plan.squares = (plan.all + high - 1) / high;
    const int parts = most_warps / plan.squares,
              each = LOADS * plan.squares < plan.tiles ? 1 : LOADS * plan.squares / plan.tiles;
    plan.warps = parts * plan.squares;
    plan.steps = parts * each;
    const int64_t pixels = plan.steps * STEP, panels = (count + pixels - 1) / pixels;
    const int64_t repeats = (panels + 2 * multiprocessors - 1) / (2 * multiprocessors), most = run / (each * STEP);
    plan.repeats = (int)(repeats < most ? repeats : most);
    const size_t panel = plan.steps * plan.tiles * 32 * sizeof(uint4),
                 sums = plan.warps * pairs * SQUARE * PRODUCTS * sizeof(float);
    plan.shared = panel > sums ? panel : sums;
    plan.blocks = dim3((unsigned)((panels + plan.repeats - 1) / plan.repeats), (unsigned)high);
    return plan;
}

/* Square k of the triangle of squares: i sides' rows are full, the rest is the column. */
static __device__ inline int2 place_square(int k, int tiles)
{
    const int sides = (tiles + SQUARE - 1) / SQUARE;
    int i = 0;

    for (; i < sides && k >= sides - i; i++)
        k -= sides - i;
    return make_int2(i * SQUARE, (k + i) * SQUARE);
}

/* Oblong k: twice as high as a square; column j, counted from 0, has j / 2 + 1 of them. */
static __device__ inline int2 place_oblong(int k)
{
    int j = 0;

    for (; k > j / 2; j++)
        k -= j / 2 + 1;
    return make_int2(k * 2 * SQUARE, j * SQUARE);
}

/* Four pixels' samples of a plane, 0 behind the last pixel or plane. The picture is one row where its rows have no gaps. */
static __device__ inline void load_samples(const struct image &in, const float *shift, unsigned first, int plane,
                                           int planes, float samples[4])
{
    const unsigned size = in.channels * (in.type == PIXEL_U8 ? 1 : in.type == PIXEL_U16 ? 2 : 4);
    const unsigned left = plane < planes ? (unsigned)in.width * in.height - first : 0;
    const char *pixel = (const char *)in.data + (size_t)first * size;

    for (int i = 0; i < 4; i++, pixel += size) {
        if (in.height > 1)
            pixel = (const char *)image_row(&in, (first + i) / in.width) + (size_t)((first + i) % in.width) * size;
        samples[i] = i < (int)left ? correlation_plane(&in, pixel, shift, plane) : 0;
    }
}

/* The same of TILES tiles from plane 0 on. Of f32 pixels that are all there, no branch lies between loads: they wait together. */
template <enum pixel_type TYPE, int TILES>
static __device__ inline void load_own(const struct plan &plan, unsigned first, float samples[TILES][4])
{
    const int plane = threadIdx.x % 32 / 4, n = plan.in.channels;
    const float *const pixel = (const float *)plan.in.data + (size_t)first * n + plane;

    if (TYPE != PIXEL_F32 || plan.in.height > 1 || plan.planes > n ||
        first - first % STEP + STEP > (unsigned)plan.in.width) {
        UNROLL
        for (int k = 0; k < TILES; k++)
            load_samples(plan.in, plan.shift, first, k * TILE + plane, plan.planes, samples[k]);
    } else
        for (int k = 0; k < 4 * TILES; k++)
            samples[k / 4][k % 4] = k / 4 * TILE + plane < n ? pixel[k % 4 * n + k / 4 * TILE] : 0;
}

static __device__ inline uint4 split_samples(const float samples[4])
{
    const uint2 upper = {pack_bf16(samples[0], samples[1]), pack_bf16(samples[2], samples[3])};

    return make_uint4(
        upper.x, upper.y,
        pack_bf16(samples[0] - __uint_as_float(upper.x << 16), samples[1] - __uint_as_float(upper.x & 0xffff0000)),
        pack_bf16(samples[2] - __uint_as_float(upper.y << 16), samples[3] - __uint_as_float(upper.y & 0xffff0000)));
}

/* A panel of `plan.steps` steps from pixel `first` on, split, by all threads: panel[step][tile][lane], from tile `done` on. */
static __device__ inline void load_panel(const struct plan &plan, int64_t first, uint4 *panel, int done = 0)
{
    const int lane = threadIdx.x % 32, count = plan.steps * plan.tiles;

    for (int from = done + threadIdx.x / 32; from < count; from += LOADS * plan.warps) {
        float samples[LOADS][4];
        for (int l = 0; l < LOADS; l++) {
            const int at = min(from + l * plan.warps, count - 1);
            load_samples(plan.in, plan.shift, (unsigned)first + at / plan.tiles * STEP + lane % 4 * 4,
                         at % plan.tiles * TILE + lane / 4, plan.planes, samples[l]);
        }
        for (int l = 0; l < LOADS; l++)
            if (from + l * plan.warps < count)
                panel[(from + l * plan.warps) * 32 + lane] = split_samples(samples[l]);
    }
}

/* Where a lane's samples of LOADS tiles lie, counted from the first of the panel; -1 where there is nothing. */
static __device__ inline void place_samples(const struct plan &plan, int places[LOADS])
{
    const int lane = threadIdx.x % 32;

    for (int l = 0; l < LOADS; l++) {
        const int at = threadIdx.x / 32 + l * plan.warps, plane = at % plan.tiles * TILE + lane / 4;
        const bool inside = at < plan.steps * plan.tiles && plane < plan.in.channels;
        places[l] = inside ? (at / plan.tiles * STEP + lane % 4 * 4) * plan.in.channels + plane : -1;
    }
}

/* The samples of the first LOADS * plan.warps tiles of a panel, as load_panel() has them. Of f32 pixels that are all there, no
 * branch lies between loads: they wait together. */
template <enum pixel_type TYPE>
static __device__ inline void fetch_panel(const struct plan &plan, unsigned first, const int places[LOADS],
                                          float samples[LOADS][4])
{
    const int lane = threadIdx.x % 32, n = plan.in.channels, last = plan.steps * plan.tiles - 1;
    const float *const pixels = (const float *)plan.in.data + (size_t)first * n;

    if (TYPE != PIXEL_F32 || plan.in.height > 1 || plan.planes > n ||
        first + plan.steps * STEP > (unsigned)plan.in.width)
        for (int l = 0; l < LOADS; l++) {
            const int at = min((int)threadIdx.x / 32 + l * plan.warps, last);
            load_samples(plan.in, plan.shift, first + at / plan.tiles * STEP + lane % 4 * 4,
                         at % plan.tiles * TILE + lane / 4, plan.planes, samples[l]);
        }
    else
        for (int k = 0; k < 4 * LOADS; k++)
            samples[k / 4][k % 4] = places[k / 4] >= 0 ? pixels[places[k / 4] + k % 4 * n] : 0;
}

/* Splits what fetch_panel() brought into the panel. */
static __device__ inline void store_panel(const struct plan &plan, const float samples[LOADS][4], uint4 *panel)
{
    for (int l = 0; l < LOADS; l++)
        if ((int)threadIdx.x / 32 + l * plan.warps < plan.steps * plan.tiles)
            panel[threadIdx.x + l * plan.warps * 32] = split_samples(samples[l]);
}

/* Adds products of SQUARE tiles from `above` on with as many from `beside` on, those not below the diagonal that have tiles
 * below `tiles`; bytes have no lower parts. sums[r][c]: 16 rows from 16 r on, 8 columns from 8 c on. */
static __device__ inline void multiply_square(float sums[SQUARE / 2][SQUARE][4], const uint4 *panel, int above,
                                              int beside, int tiles, bool bytes)
{
    const int lane = threadIdx.x % 32;

    for (int r = 0; r < SQUARE / 2; r++) {
        const int first = above + 2 * r;
        if (first >= tiles)
            return;
        const uint4 zero = {}, left = panel[first * 32 + lane],
                    right = first + 1 < tiles ? panel[first * 32 + 32 + lane] : zero;
        const unsigned upper[4] = {left.x, right.x, left.y, right.y}, lower[4] = {left.z, right.z, left.w, right.w};
        for (int c = 0; c < SQUARE; c++) {
            if (beside + c < first || beside + c >= tiles)
                continue;
            const uint4 both = panel[(beside + c) * 32 + lane];
            const unsigned top[2] = {both.x, both.y}, rest[2] = {both.z, both.w};
            mma_m16n8k16_bf16(sums[r][c], upper, top, sums[r][c]);
            if (bytes)
                continue;
            mma_m16n8k16_bf16(sums[r][c], upper, rest, sums[r][c]);
            mma_m16n8k16_bf16(sums[r][c], lower, top, sums[r][c]);
        }
    }
}

/* Adds products of all pairs of TILES tiles that a lane has in registers. No product waits for the one before it. (Without
 * UNROLL nvcc keeps the loop at 11 tiles, and the operands, which then have an index, in local memory.) */
template <int TILES, int ACROSS>
static __device__ inline void multiply_own(float sums[][ACROSS][4], const uint4 own[TILES + 1], bool bytes)
{
    constexpr int PAIRS = (TILES + 1) / 2 * ACROSS;

    UNROLL
    for (int k = 0; k < 3 * PAIRS; k++) {
        const int part = k / PAIRS, r = k % PAIRS / ACROSS, c = k % ACROSS;
        if (c >= TILES || c < 2 * r || (bytes && part > 0))
            continue;
        const uint4 left = own[2 * r], right = own[2 * r + 1], beside = own[c];
        const unsigned upper[4] = {left.x, right.x, left.y, right.y}, lower[4] = {left.z, right.z, left.w, right.w};
        const unsigned top[2] = {beside.x, beside.y}, rest[2] = {beside.z, beside.w};
        mma_m16n8k16_bf16(sums[r][c], part == 2 ? lower : upper, part == 1 ? rest : top, sums[r][c]);
    }
}

/* The same of 2 PAIRS tiles with SQUARE: each is loaded once, and four products lie between two that wait for each other. */
template <int PAIRS>
static __device__ inline void multiply_oblong(float (&sums)[PAIRS][SQUARE][4], const uint4 *panel, int2 place,
                                              int tiles, bool bytes)
{
    const uint4 zero = {};
    uint4 beside[SQUARE];

    panel += threadIdx.x % 32;
    for (int c = 0; c < SQUARE; c++)
        beside[c] = place.y + c < tiles ? panel[(place.y + c) * 32] : zero;
    for (int r = 0; r < PAIRS; r++) {
        const int first = place.x + 2 * r;
        if (first >= min(tiles, place.y + SQUARE))
            return;
        const uint4 left = panel[first * 32], right = first + 1 < tiles ? panel[first * 32 + 32] : zero;
        const unsigned upper[4] = {left.x, right.x, left.y, right.y}, lower[4] = {left.z, right.z, left.w, right.w};
        for (int part = 0; part < (bytes ? 1 : 3); part++)
            for (int c = 0; c < SQUARE; c++) {
                const unsigned top[2] = {beside[c].x, beside[c].y}, rest[2] = {beside[c].z, beside[c].w};
                if (place.y + c >= first)
                    mma_m16n8k16_bf16(sums[r][c], part == 2 ? lower : upper, part == 1 ? rest : top, sums[r][c]);
            }
    }
}

/* Adds the sums of all parts to the totals; `square` is a warp's own. They lie in `staged` as they do in registers. */
template <int PAIRS>
static __device__ inline void add_squares(const float (&sums)[PAIRS][SQUARE][4], int2 square, const struct plan &plan,
                                          float *staged, double *totals)
{
    constexpr int ENTRIES = PAIRS * SQUARE * PRODUCTS;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;

    __syncthreads();
    for (int k = 0; k < ENTRIES / 32; k++)
        staged[warp * ENTRIES + k * 32 + lane] = sums[k / 4 / SQUARE][k / 4 % SQUARE][k % 4];
    __syncthreads();
    for (int k = warp / plan.squares; k < ENTRIES / 32; k += plan.warps / plan.squares) {
        const int r = k % 4, u = (square.x + k / 4 / SQUARE * 2 + r / 2) * TILE + lane / 4;
        const int v = (square.y + k / 4 % SQUARE) * TILE + lane % 4 * 2 + r % 2;
        double sum = 0;
        for (int other = warp % plan.squares; other < plan.warps; other += plan.squares)
            sum += staged[other * ENTRIES + k * 32 + lane];
        if (u <= v && v < plan.planes)
            atomicAdd(&totals[u * plan.planes + v], sum);
    }
}

/* Adds the sums of all warps, each of all pairs of TILES tiles, to the totals: a pair of tiles with all others at a time. */
template <int TILES>
static __device__ inline void add_own(const float sums[(TILES + 1) / 2][TILES][4], const struct plan &plan,
                                      float *staged, double *totals)
{
    const int warps = blockDim.x / 32, warp = threadIdx.x / 32, lane = threadIdx.x % 32;

    UNROLL
    for (int r = 0; r < (TILES + 1) / 2; r++) {
        __syncthreads();
        for (int c = 2 * r; c < TILES; c++)
            *(float4 *)&staged[(warp * TILES + c) * PRODUCTS + lane * 4] =
                make_float4(sums[r][c][0], sums[r][c][1], sums[r][c][2], sums[r][c][3]);
        __syncthreads();
        for (int k = 2 * r * PRODUCTS + threadIdx.x; k < TILES * PRODUCTS; k += blockDim.x) {
            const int u = (2 * r + k % 4 / 2) * TILE + k % PRODUCTS / 16,
                      v = k / PRODUCTS * TILE + k / 4 % 4 * 2 + k % 2;
            double sum = 0;
            for (int other = 0; other < warps; other++)
                sum += staged[other * TILES * PRODUCTS + k];
            if (u <= v && v < plan.planes)
                atomicAdd(&totals[u * plan.planes + v], sum);
        }
    }
}

#endif
