/*
 * test_device.cu: the emulator's device built-ins against plain C.
 */
#include <cuda_fp16.h>

#include "common/emulator/tests/units/emulator_test.h"

static uint64_t state = 1;

static uint32_t random_word()
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    /* Every other word is made of extreme bytes, where sign and saturation show. */
    if ((state >> 20 & 1) != 0)
        return (uint32_t)(state >> 32);
    return (uint32_t)(state >> 32 & 0x01010101u) * 0xff ^ (uint32_t)(state >> 40 & 0x81018001u);
}

/* ---------------------------------------------------------------------------------------------- word intrinsics */

static int byte_of(uint32_t word, int i, bool is_signed)
{
    const int value = (int)(word >> (8 * i) & 255);

    return is_signed && value > 127 ? value - 256 : value;
}

static int half_of(uint32_t word, int i, bool is_signed)
{
    const int value = (int)(word >> (16 * i) & 65535);

    return is_signed && value > 32767 ? value - 65536 : value;
}

static void test_bits(void **)
{
    for (int n = 0; n < 2000; n++) {
        const uint32_t x = n == 0 ? 0 : random_word() >> n % 33 % 32, y = random_word(), s = random_word();
        const uint64_t wide = (uint64_t)y << 32 | x;
        int ones = 0, leading = 0, first = 0;
        uint32_t reversed = 0, permuted = 0;

        for (int i = 0; i < 32; i++) {
            ones += x >> i & 1;
            reversed |= (x >> i & 1) << (31 - i);
        }
        while (leading < 32 && (x >> (31 - leading) & 1) == 0)
            leading++;
        while (first < 32 && (x >> first & 1) == 0)
            first++;
        first = first == 32 ? 0 : first + 1;
        assert_int_equal(__popc(x), ones);
        assert_int_equal(__clz((int)x), leading);
        assert_int_equal(__ffs((int)x), first);
        assert_int_equal(__brev(x), reversed);
        assert_int_equal(__popcll(wide), __popc(x) + __popc(y));
        assert_int_equal(__clzll((long long)wide), y != 0 ? __clz((int)y) : 32 + leading);
        assert_int_equal(__ffsll((long long)wide), x != 0 ? first : y != 0 ? 32 + __ffs((int)y) : 0);
        assert_true(__brevll(wide) == ((uint64_t)__brev(x) << 32 | __brev(y)));
        for (int i = 0; i < 4; i++) {
            const int from = (int)(s >> (4 * i) & 7);

            permuted |= (uint32_t)byte_of(from < 4 ? x : y, from % 4, false) << (8 * i);
        }
        assert_int_equal(__byte_perm(x, y, s), permuted);
        for (unsigned shift = 0; shift < 70; shift++) {
            const unsigned m = shift % 32, c = shift < 32 ? shift : 32;

            assert_int_equal(__funnelshift_l(x, y, shift), m == 0 ? y : y << m | x >> (32 - m));
            assert_int_equal(__funnelshift_r(x, y, shift), m == 0 ? x : x >> m | y << (32 - m));
            assert_int_equal(__funnelshift_lc(x, y, shift), c == 32 ? x : c == 0 ? y : y << c | x >> (32 - c));
            assert_int_equal(__funnelshift_rc(x, y, shift), c == 32 ? y : c == 0 ? x : x >> c | y << (32 - c));
        }
    }
}

static void test_integers(void **)
{
    for (int n = 0; n < 2000; n++) {
        const uint32_t a = random_word(), b = random_word(), c = random_word();
        const int32_t i = (int32_t)a, j = (int32_t)b;
        const int32_t i24 = (int32_t)(a & 0xffffff) - (a >> 23 & 1) * 0x1000000;
        const int32_t j24 = (int32_t)(b & 0xffffff) - (b >> 23 & 1) * 0x1000000;

        assert_int_equal(__umulhi(a, b), (uint32_t)((uint64_t)a * b >> 32));
        assert_int_equal(__mulhi(i, j), (int32_t)(((int64_t)i * j) >> 32));
        assert_int_equal(__mul24(i, j), (int32_t)(uint32_t)((int64_t)i24 * j24));
        assert_int_equal(__umul24(a, b), (uint32_t)((uint64_t)(a & 0xffffff) * (b & 0xffffff)));
        assert_int_equal(__usad(a, b, c), (uint32_t)((a > b ? a - b : b - a) + c));
        assert_int_equal(__sad(i, j, c), (uint32_t)((uint64_t)llabs((int64_t)i - j) + c));
        assert_int_equal(__hadd(i, j), (int32_t)(((int64_t)i + j) >> 1));
        assert_int_equal(__uhadd(a, b), (uint32_t)(((uint64_t)a + b) >> 1));
        assert_int_equal(__rhadd(i, j), (int32_t)(((int64_t)i + j + 1) >> 1));
        assert_int_equal(__urhadd(a, b), (uint32_t)(((uint64_t)a + b + 1) >> 1));
        assert_true(min(i, j) == (i < j ? i : j) && max(a, b) == (a > b ? a : b));
        assert_true(__umul64hi((uint64_t)a << 32, (uint64_t)b << 32) == (uint64_t)a * b);
        assert_true(__mul64hi((int64_t)((uint64_t)a << 32), (int64_t)((uint64_t)b << 32)) == (int64_t)i * j);
    }
    assert_true(min(1.0f, NAN) == 1.0f && max(NAN, 2.0f) == 2.0f && min((uint8_t)3, 2) == 2 && max(1u, 2) == 2u);
}

static void test_dot_products(void **)
{
    for (int n = 0; n < 5000; n++) {
        const uint32_t a = random_word(), b = random_word(), c = random_word();
        uint32_t sums[6] = {c, c, c, c, c, c}; /* dp4a signed, unsigned; dp2a_lo s, u; dp2a_hi s, u */
        short2 halves;
        char4 bytes, more_bytes;

        for (int i = 0; i < 4; i++)
            for (int u = 0; u < 2; u++)
                sums[u] += (uint32_t)(byte_of(a, i, u == 0) * byte_of(b, i, u == 0));
        for (int i = 0; i < 2; i++)
            for (int u = 0; u < 2; u++)
                for (int high = 0; high < 2; high++)
                    sums[2 + 2 * high + u] += (uint32_t)(half_of(a, i, u == 0) * byte_of(b, 2 * high + i, u == 0));
        memcpy(&halves, &a, sizeof(a));
        memcpy(&bytes, &b, sizeof(b));
        memcpy(&more_bytes, &a, sizeof(a));
        assert_int_equal((uint32_t)__dp4a((int)a, (int)b, (int)c), sums[0]);
        assert_int_equal((uint32_t)__dp4a(more_bytes, bytes, (int)c), sums[0]);
        assert_int_equal(__dp4a(a, b, c), sums[1]);
        assert_int_equal((uint32_t)__dp2a_lo((int)a, (int)b, (int)c), sums[2]);
        assert_int_equal((uint32_t)__dp2a_lo(halves, bytes, (int)c), sums[2]);
        assert_int_equal(__dp2a_lo(a, b, c), sums[3]);
        assert_int_equal((uint32_t)__dp2a_hi((int)a, (int)b, (int)c), sums[4]);
        assert_int_equal(__dp2a_hi(a, b, c), sums[5]);
    }
}

/* Compares name4 and name2 with an expression of x and y, the parts of a and b as ints. */
#define EXPECT_SIMD(name, is_signed, expression)                                                                       \
    for (int n = 0; n < 3000; n++) {                                                                                   \
        const uint32_t a = random_word(), b = n % 5 == 0 ? a : random_word();                                          \
        uint32_t expected4 = 0, expected2 = 0;                                                                         \
                                                                                                                       \
        for (int i = 0; i < 4; i++) {                                                                                  \
            const int bits = 8, x = byte_of(a, i, is_signed), y = byte_of(b, i, is_signed);                            \
                                                                                                                       \
            expected4 |= ((uint32_t)(expression)&0xff) << (bits * i);                                                  \
        }                                                                                                              \
        for (int i = 0; i < 2; i++) {                                                                                  \
            const int bits = 16, x = half_of(a, i, is_signed), y = half_of(b, i, is_signed);                           \
                                                                                                                       \
            expected2 |= ((uint32_t)(expression)&0xffff) << (bits * i);                                                \
        }                                                                                                              \
        assert_int_equal(name##4(a, b), expected4);                                                                    \
        assert_int_equal(name##2(a, b), expected2);                                                                    \
    }

static int within(int value, int low, int high)
{
    return value < low ? low : value > high ? high : value;
}

static void test_simd_in_word(void **)
{
    EXPECT_SIMD(__vadd, false, x + y)
    EXPECT_SIMD(__vsub, false, x - y)
    EXPECT_SIMD(__vaddus, false, within(x + y, 0, (1 << bits) - 1))
    EXPECT_SIMD(__vsubus, false, within(x - y, 0, (1 << bits) - 1))
    EXPECT_SIMD(__vaddss, true, within(x + y, -(1 << (bits - 1)), (1 << (bits - 1)) - 1))
    EXPECT_SIMD(__vsubss, true, within(x - y, -(1 << (bits - 1)), (1 << (bits - 1)) - 1))
    EXPECT_SIMD(__vavgu, false, (x + y + 1) / 2)
    EXPECT_SIMD(__vavgs, true, (int)lround((x + y) / 2.0)) /* halves away from zero */
    EXPECT_SIMD(__vhaddu, false, (x + y) / 2)
    EXPECT_SIMD(__vabsdiffu, false, abs(x - y))
    EXPECT_SIMD(__vabsdiffs, true, abs(x - y))
    EXPECT_SIMD(__vmaxu, false, x > y ? x : y)
    EXPECT_SIMD(__vminu, false, x < y ? x : y)
    EXPECT_SIMD(__vmaxs, true, x > y ? x : y)
    EXPECT_SIMD(__vmins, true, x < y ? x : y)
    EXPECT_SIMD(__vcmpeq, false, x == y ? -1 : 0)
    EXPECT_SIMD(__vcmpgts, true, x > y ? -1 : 0)
    EXPECT_SIMD(__vcmpleu, false, x <= y ? -1 : 0)
    EXPECT_SIMD(__vsetltu, false, x < y)
    EXPECT_SIMD(__vsetges, true, x >= y)
    EXPECT_SIMD(__vsetne, false, x != y)
    for (int n = 0; n < 1000; n++) {
        const uint32_t a = random_word(), b = random_word();
        uint32_t sums[2] = {}, negated = 0;

        for (int i = 0; i < 4; i++) {
            for (int s = 0; s < 2; s++)
                sums[s] += (uint32_t)abs(byte_of(a, i, s == 1) - byte_of(b, i, s == 1));
            negated |= ((uint32_t)-byte_of(a, i, true) & 255) << (8 * i);
        }
        assert_int_equal(__vsadu4(a, b), sums[0]);
        assert_int_equal(__vsads4(a, b), sums[1]);
        assert_int_equal(__vneg4(a), negated);
        assert_int_equal(__vsadu2(a, b), abs(half_of(a, 0, false) - half_of(b, 0, false)) +
                                             abs(half_of(a, 1, false) - half_of(b, 1, false)));
    }
}

static void test_conversions(void **)
{
    assert_int_equal(__float2int_rn(2.5f), 2);
    assert_int_equal(__float2int_rn(3.5f), 4);
    assert_int_equal(__float2int_rn(-2.5f), -2);
    assert_int_equal(__float2int_rz(-2.9f), -2);
    assert_int_equal(__float2int_rd(-2.1f), -3);
    assert_int_equal(__float2int_ru(2.1f), 3);
    assert_int_equal(__float2int_rn(1e20f), INT_MAX);
    assert_int_equal(__float2int_rn(-1e20f), INT_MIN);
    assert_int_equal(__float2int_rn(NAN), 0);
    assert_int_equal(__float2uint_rn(-5.0f), 0);
    assert_int_equal(__float2uint_rn(1e20f), UINT_MAX);
    assert_int_equal(__float2uint_rz(3.9f), 3);
    assert_int_equal(__double2int_rn(0.5), 0);
    assert_int_equal(__float_as_uint(1.0f), 0x3f800000);
    assert_true(__uint_as_float(0x40000000) == 2.0f && __int_as_float(__float_as_int(-3.25f)) == -3.25f);
    assert_true(__hiloint2double(0x43300000, -1) == 0x1p52 + 0xffffffffp0 && __longlong_as_double(1) == 0x1p-1074);
    assert_true(__double_as_longlong(-2.0) == (long long)0xc000000000000000);
    assert_true(__saturatef(-1) == 0 && __saturatef(2) == 1 && __saturatef(0.25f) == 0.25f && __saturatef(NAN) == 0);
    assert_true(sizeof(uchar4) == 4 && alignof(uchar4) == 4 && sizeof(uchar3) == 3 && alignof(int4) == 16);
    assert_true(alignof(float2) == 8 && sizeof(float3) == 12 && alignof(ushort4) == 8 && alignof(double2) == 16);
    assert_true(make_uchar4(1, 2, 3, 4).w == 4 && dim3(5).z == 1 && dim3(2, 3).y == 3);
}

/* ------------------------------------------------------------------------------------------------------ indices */

static __global__ void write_indices(unsigned *out)
{
    const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);

    out[block * blockDim.x * blockDim.y * blockDim.z + thread] += 1 + block * 1000 + thread;
}

/* A half by its definition in IEEE 754: no shift of bits, no table. */
static double value_of(uint16_t bits)
{
    const int exponent = bits / 1024 % 32, mantissa = bits % 1024;
    const double size = exponent == 0 ? mantissa / 16777216. : (1 + mantissa / 1024.) * pow(2, exponent - 15);

    return bits < 0x8000 ? size : -size;
}

/* No half is nearer to the exact one, and of two that are as near it is the even one. */
static void assert_nearest(uint16_t bits, double exact)
{
    const double off = fabs(value_of(bits) - exact);

    if ((bits & 0x7fff) == 0x7c00) {
        assert_true(fabs(exact) >= 65520);
        return;
    }
    assert_true((bits & 0x7fff) < 0x7c00 && fabs(exact) < 65520);
    for (int step = -1; step <= 1; step += 2) {
        const int other = (bits & 0x7fff) + step;
        if (other < 0 || other >= 0x7c00)
            continue;
        const double its = fabs(value_of((uint16_t)(other | (bits & 0x8000))) - exact);
        assert_true(off < its || (off == its && bits % 2 == 0));
    }
}

static void test_pairs_of_halves(void **)
{
    for (int n = 0; n < 200000; n++) {
        const uint32_t a = random_word() >> n % 3 * 4, b = random_word() >> n % 5 * 3;
        const __half2 first = {(uint16_t)a, (uint16_t)(a >> 16)}, second = {(uint16_t)b, (uint16_t)(b >> 16)};

        if (first.x / 1024 % 32 == 31 || first.y / 1024 % 32 == 31 || second.x / 1024 % 32 == 31 ||
            second.y / 1024 % 32 == 31)
            continue;
        const __half2 sum = __hadd2(first, second), difference = __hsub2(first, second);
        assert_true(__low2float(first) == value_of(first.x) && __high2float(first) == value_of(first.y));
        assert_nearest(sum.x, value_of(first.x) + value_of(second.x));
        assert_nearest(sum.y, value_of(first.y) + value_of(second.y));
        assert_nearest(difference.x, value_of(first.x) - value_of(second.x));
        assert_nearest(difference.y, value_of(first.y) - value_of(second.y));
    }
    /* Below the smallest normal one halves are integers of 2^-24, which harris counts on. */
    assert_int_equal(__hadd2({255, 1020}, {765, 3}).x, 1020);
    assert_int_equal(__hadd2({255, 1020}, {765, 3}).y, 1023);
    assert_int_equal(__hsub2({3, 1020}, {258, 0}).x, 0x8000 | 255);
    assert_true(__low2float(__hadd2({1020, 0}, {1020, 0})) == 2040 * 0x1p-24f);
    /* Infinities and what is none. */
    assert_int_equal(__hadd2({0x7c00, 0x7bff}, {1, 0x7bff}).x, 0x7c00);
    assert_int_equal(__hadd2({0x7c00, 0x7bff}, {1, 0x7bff}).y, 0x7c00);
    assert_true(isnan(__low2float(__hsub2({0x7c00, 0}, {0x7c00, 0}))));
}

static void test_indices(void **)
{
    mirrored<unsigned, 5 * 3 * 2 * 4 * 2 * 3> out;

    write_indices<<<dim3(5, 3, 2), dim3(4, 2, 3)>>>(out.device);
    out.download();
    for (unsigned i = 0; i < 5 * 3 * 2 * 24; i++)
        assert_int_equal(out.host[i], 1 + i / 24 * 1000 + i % 24);
}

/* ----------------------------------------------------------------------------------------------- warp collectives */

enum { THREADS = 96, RESULTS = 12 };

static __global__ void shuffle(int *out, int argument, int width)
{
    const int i = (int)threadIdx.x;
    int *own = out + i * RESULTS;

    own[0] = __shfl_sync(0xffffffffu, i * 3, argument, width);
    own[1] = __shfl_up_sync(0xffffffffu, i * 3, (unsigned)argument, width);
    own[2] = __shfl_down_sync(0xffffffffu, i * 3, (unsigned)argument, width);
    own[3] = __shfl_xor_sync(0xffffffffu, i * 3, argument, width);
    own[4] = (int)__shfl_xor_sync(0xffffffffu, i * 0.5f, argument, width);
    own[5] = (int)(__shfl_down_sync(0xffffffffu, (unsigned long long)i << 40, (unsigned)argument, width) >> 40);
}

static void test_shuffles(void **)
{
    for (int width = 1; width <= 32; width *= 2)
        for (int argument = 0; argument < 32; argument += width < 8 ? 1 : 3) {
            mirrored<int, THREADS * RESULTS> out;

            shuffle<<<1, THREADS>>>(out.device, argument, width);
            out.download();
            for (int i = 0; i < THREADS; i++) {
                const int warp = i / 32 * 32, lane = i % 32, first = lane / width * width, in_segment = lane % width;
                const int up = in_segment - argument >= 0 ? lane - argument : lane;
                const int down = in_segment + argument < width ? lane + argument : lane;
                const int crossed = (lane ^ argument) < first + width ? lane ^ argument : lane;

                assert_int_equal(out.host[i * RESULTS + 0], 3 * (warp + first + argument % width));
                assert_int_equal(out.host[i * RESULTS + 1], 3 * (warp + up));
                assert_int_equal(out.host[i * RESULTS + 2], 3 * (warp + down));
                assert_int_equal(out.host[i * RESULTS + 3], 3 * (warp + crossed));
                assert_int_equal(out.host[i * RESULTS + 4], (warp + crossed) / 2);
                assert_int_equal(out.host[i * RESULTS + 5], warp + down);
            }
        }
}

/* Half of the lanes (by `pattern`) in one branch, the other half in the other, each with its own mask. */
static __global__ void vote(unsigned *out, unsigned pattern)
{
    const unsigned i = threadIdx.x, lane = i % 32, in_it = pattern >> lane & 1;
    unsigned *own = out + i * RESULTS;
    int all_equal;

    if (in_it) {
        own[0] = __ballot_sync(pattern, lane % 3 == 0);
        own[1] = (unsigned)__any_sync(pattern, lane == 40);
    } else {
        own[0] = __ballot_sync(~pattern, lane % 3 == 0);
        own[1] = (unsigned)__any_sync(~pattern, 1);
    }
    __syncwarp();
    own[2] = (unsigned)__all_sync(0xffffffffu, lane < 32);
    own[3] = (unsigned)__all_sync(0xffffffffu, lane < 31);
    own[4] = __match_any_sync(0xffffffffu, lane % 5);
    own[5] = __match_all_sync(0xffffffffu, 7, &all_equal);
    own[6] = __match_all_sync(0xffffffffu, lane / 31, &all_equal) + (unsigned)all_equal;
    own[7] = __reduce_add_sync(0xffffffffu, i * i);
    own[8] = (unsigned)__reduce_min_sync(0xffffffffu, 5 - (int)lane);
    own[9] = __reduce_max_sync(0xffffffffu, lane ^ 9);
    own[10] = __reduce_or_sync(0xffffffffu, 1u << lane / 2) ^ __reduce_xor_sync(0xffffffffu, lane);
    own[11] = __reduce_and_sync(0xffffffffu, lane | 6) + (__activemask() >> lane & 1);
}

static void test_votes(void **)
{
    mirrored<unsigned, THREADS * RESULTS> out;
    const unsigned pattern = 0x3c5a0ff1u, thirds = 0x49249249u;

    vote<<<1, THREADS>>>(out.device, pattern);
    out.download();
    for (unsigned i = 0; i < THREADS; i++) {
        const unsigned *own = out.host + i * RESULTS, lane = i % 32, in_it = pattern >> lane & 1;
        unsigned fifths = 0, squares = 0;

        for (unsigned k = 0; k < 32; k++) {
            fifths |= (unsigned)(k % 5 == lane % 5) << k;
            squares += (i / 32 * 32 + k) * (i / 32 * 32 + k);
        }
        assert_int_equal(own[0], thirds & (in_it ? pattern : ~pattern));
        assert_int_equal(own[1], !in_it);
        assert_int_equal(own[2], 1);
        assert_int_equal(own[3], 0);
        assert_int_equal(own[4], fifths);
        assert_int_equal(own[5], 0xffffffffu);
        assert_int_equal(own[6], 0);
        assert_int_equal(own[7], squares);
        assert_int_equal((int)own[8], -26);
        assert_int_equal(own[9], 31);
        assert_int_equal(own[10], 0xffffu);
        assert_int_equal(own[11], 6 + 1);
    }
}

/* A warp whose lanes partly never existed or have ended: those that are left may still name them. */
static __global__ void partial_warp(unsigned *out)
{
    if (threadIdx.x % 2 == 1)
        return;
    out[threadIdx.x] = __ballot_sync(0xffffffffu, 1);
}

static void test_partial_warps(void **)
{
    mirrored<unsigned, 40> out;

    partial_warp<<<1, 40>>>(out.device);
    out.download();
    for (unsigned i = 0; i < 40; i++)
        assert_int_equal(out.host[i], i % 2 == 1 ? 0 : i < 32 ? 0x55555555u : 0x55u);
}

static __global__ void multiply(int *d, const uint8_t *a, const uint8_t *b, const int *c)
{
    const int lane = (int)threadIdx.x, group = lane >> 2, member = lane % 4;
    unsigned a_part[4] = {}, b_part[2] = {};
    int c_part[4], d_part[4];

    /* The PTX ISA's formulas for element i of a fragment. */
    for (int i = 0; i < 16; i++) {
        const int row = i < 4 || (i >= 8 && i < 12) ? group : group + 8;
        const int column = i < 8 ? member * 4 + (i & 3) : member * 4 + (i & 3) + 16;

        a_part[i / 4] |= (unsigned)a[row * 32 + column] << (i % 4 * 8);
    }
    for (int i = 0; i < 8; i++) {
        const int row = i < 4 ? member * 4 + (i & 3) : member * 4 + (i & 3) + 16;

        b_part[i / 4] |= (unsigned)b[row * 8 + group] << (i % 4 * 8);
    }
    for (int i = 0; i < 4; i++)
        c_part[i] = c[(i < 2 ? group : group + 8) * 8 + member * 2 + (i & 1)];
    emulated_mma_m16n8k32_u8(d_part, a_part, b_part, c_part);
    emulated_mma_m16n8k32_u8(d_part, a_part, b_part, d_part);
    for (int i = 0; i < 4; i++)
        d[(i < 2 ? group : group + 8) * 8 + member * 2 + (i & 1)] = d_part[i];
}

static void test_mma(void **)
{
    mirrored<uint8_t, 16 * 32> a;
    mirrored<uint8_t, 32 * 8> b;
    mirrored<int, 16 * 8> c, d;

    for (uint8_t &x : a.host)
        x = (uint8_t)random_word();
    for (uint8_t &x : b.host)
        x = (uint8_t)random_word();
    for (int &x : c.host)
        x = (int)random_word();
    a.upload();
    b.upload();
    c.upload();
    multiply<<<1, 32>>>(d.device, a.device, b.device, c.device);
    d.download();
    for (int row = 0; row < 16; row++)
        for (int column = 0; column < 8; column++) {
            unsigned sum = (unsigned)c.host[row * 8 + column];

            for (int k = 0; k < 32; k++)
                sum += 2u * a.host[row * 32 + k] * b.host[k * 8 + column];
            assert_int_equal(d.host[row * 8 + column], (int)sum);
        }
}

/* Halves of sixteen bits, the one of the smaller k in the lower half of a register. */
static __global__ void multiply_bf16(float *d, const float *a, const float *b, const float *c)
{
    const int lane = (int)threadIdx.x, group = lane >> 2, member = lane % 4;
    unsigned a_part[4], b_part[2];
    float c_part[4];

    for (int i = 0; i < 4; i++) {
        const float *pair = a + (i % 2 == 0 ? group : group + 8) * 16 + member * 2 + (i < 2 ? 0 : 8);
        a_part[i] = emulated_pack_bf16(pair[0], pair[1]);
    }
    for (int i = 0; i < 2; i++) {
        const float *pair = b + (member * 2 + (i == 0 ? 0 : 8)) * 8 + group;
        b_part[i] = emulated_pack_bf16(pair[0], pair[8]);
    }
    for (int i = 0; i < 4; i++)
        c_part[i] = c[(i < 2 ? group : group + 8) * 8 + member * 2 + (i & 1)];
    emulated_mma_m16n8k16_bf16(c_part, a_part, b_part, c_part);
    for (int i = 0; i < 4; i++)
        d[(i < 2 ? group : group + 8) * 8 + member * 2 + (i & 1)] = c_part[i];
}

/* Whole numbers up to 255 are exact, and so are their sums. */
static void test_mma_bf16(void **)
{
    mirrored<float, 16 * 16> a;
    mirrored<float, 16 * 8> b, c, d;

    for (float &x : a.host)
        x = (float)(random_word() % 511) - 255;
    for (float &x : b.host)
        x = (float)(random_word() % 511) - 255;
    for (float &x : c.host)
        x = (float)(random_word() % 100000);
    a.upload();
    b.upload();
    c.upload();
    multiply_bf16<<<1, 32>>>(d.device, a.device, b.device, c.device);
    d.download();
    for (int row = 0; row < 16; row++)
        for (int column = 0; column < 8; column++) {
            float sum = c.host[row * 8 + column];

            for (int k = 0; k < 16; k++)
                sum += a.host[row * 16 + k] * b.host[k * 8 + column];
            assert_true(d.host[row * 8 + column] == sum);
        }
}

/* The nearest of 8 bits, halves to the even one; what is too large is infinite, and NaN stays NaN. */
static void test_pack_bf16(void **)
{
    assert_int_equal(emulated_pack_bf16(1.0f, -2.0f), 0xc0003f80);
    assert_int_equal(emulated_pack_bf16(257.0f, 259.0f), 0x43824380);
    assert_int_equal(emulated_pack_bf16(257.5f, 258.5f), 0x43814381);
    assert_int_equal(emulated_pack_bf16(0x1.fffp127f, 0), 0x7f80);
    assert_int_equal(emulated_pack_bf16(NAN, 0) & 0x7fc0, 0x7fc0);
}

/* ------------------------------------------------------------------------------------- barriers, shared, atomics */

template <int Size, class T> static __device__ T sum_up(T value)
{
    __shared__ T parts[Size];

    parts[threadIdx.x] = value;
    for (int half = Size / 2; half > 0; half /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < half)
            parts[threadIdx.x] += parts[threadIdx.x + half];
    }
    __syncthreads();
    return parts[0];
}

static __global__ void barriers(int *out)
{
    extern __shared__ __align__(16) int dynamic[];
    __shared__ int matrix[8][17], *pointer, last;
    const int i = (int)threadIdx.x;

    dynamic[i] = i;
    matrix[i % 8][i / 8] = i * 2;
    if (i == 0) {
        pointer = dynamic;
        last = 1;
    }
    __syncthreads();
    out[i * RESULTS + 0] = pointer[127 - i] + last;
    out[i * RESULTS + 1] = matrix[(i + 1) % 8][i / 8];
    out[i * RESULTS + 2] = __syncthreads_count(i % 3 == 0);
    out[i * RESULTS + 3] = __syncthreads_and(i < 128) + 2 * __syncthreads_and(i < 127);
    out[i * RESULTS + 4] = __syncthreads_or(i == 5) + 2 * __syncthreads_or(i == 128);
    out[i * RESULTS + 5] = sum_up<128, int>(i);
    out[i * RESULTS + 6] = (int)sum_up<128, float>(i * 0.5f);
    out[i * RESULTS + 7] = (int)(sizeof(matrix) + sizeof(last));
}

static void test_barriers_and_shared_memory(void **)
{
    mirrored<int, 128 * RESULTS> out;

    barriers<<<1, 128, 128 * sizeof(int)>>>(out.device);
    out.download();
    for (int i = 0; i < 128; i++) {
        const int *own = out.host + i * RESULTS;

        assert_int_equal(own[0], 128 - i);
        assert_int_equal(own[1], i % 8 == 7 ? (i - 7) * 2 : (i + 1) * 2);
        assert_int_equal(own[2], 43);
        assert_int_equal(own[3], 1);
        assert_int_equal(own[4], 1);
        assert_int_equal(own[5], 127 * 64);
        assert_int_equal(own[6], 127 * 32);
        assert_int_equal(own[7], (int)(8 * 17 * sizeof(int) + sizeof(int)));
    }
}

static __global__ void atomics(int *i, unsigned *u, unsigned long long *w, float *f)
{
    const int n = (int)(blockIdx.x * blockDim.x + threadIdx.x);

    atomicAdd(&i[0], n);
    atomicSub(&i[1], n);
    atomicMin(&i[2], 50 - n);
    atomicMax(&i[3], n ^ 5);
    atomicExch(&i[4], 7);
    for (int old = i[5], seen; (seen = atomicCAS(&i[5], old, old + 2)) != old; old = seen) {
    }
    atomicAnd(&u[0], ~(1u << n % 32));
    atomicOr(&u[1], 1u << n % 31);
    atomicXor(&u[2], (unsigned)n);
    atomicInc(&u[3], 99);
    atomicDec(&u[4], 100);
    atomicAdd(&u[5], 0x80000001u);
    atomicAdd(&w[0], (unsigned long long)n << 33);
    atomicAdd(f, 0.5f);
    /* A lock: threads of one block must get their turn while another spins. */
    while (atomicCAS(&u[6], 0, 1) != 0) {
    }
    u[7]++;
    __threadfence();
    atomicExch(&u[6], 0);
}

static void test_atomics(void **)
{
    const unsigned count = 64 * 64;
    mirrored<int, 6> i;
    mirrored<unsigned, 8> u;
    mirrored<unsigned long long, 1> w;
    mirrored<float, 1> f;
    unsigned mixed = 0;

    u.host[0] = 0xffffffffu;
    u.upload();
    atomics<<<64, 64>>>(i.device, u.device, w.device, f.device);
    i.download();
    u.download();
    w.download();
    f.download();
    for (unsigned n = 0; n < count; n++)
        mixed ^= n;
    assert_int_equal(i.host[0], count * (count - 1) / 2);
    assert_int_equal(-i.host[1], count * (count - 1) / 2);
    assert_int_equal(i.host[2], 50 - (int)(count - 1));
    assert_int_equal(i.host[3], count - 1);
    assert_int_equal(i.host[4], 7);
    assert_int_equal(i.host[5], 2 * count);
    assert_int_equal(u.host[0], 0);
    assert_int_equal(u.host[1], 0x7fffffff);
    assert_int_equal(u.host[2], mixed);
    assert_int_equal(u.host[3], count % 100);
    assert_int_equal(u.host[4], (101 - count % 101) % 101);
    assert_int_equal(u.host[5], count);
    assert_true(w.host[0] == (unsigned long long)count * (count - 1) / 2 << 33);
    assert_true(f.host[0] == 2048);
    assert_int_equal(u.host[7], count);
}

/* A thread that waits for a flag of another thread of its block, without a barrier. */
static __global__ void wait_for_flag(int *flag, int *out)
{
    if (threadIdx.x < 32)
        while (*(volatile int *)flag == 0)
            __nanosleep(100);
    else
        atomicAdd(flag, 1);
    atomicAdd(out, 1);
}

static void test_waiting_threads_let_others_run(void **)
{
    mirrored<int, 1> flag, out;

    wait_for_flag<<<1, 64>>>(flag.device, out.device);
    out.download();
    assert_int_equal(out.host[0], 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits),         cmocka_unit_test(test_integers),
        cmocka_unit_test(test_dot_products), cmocka_unit_test(test_simd_in_word),
        cmocka_unit_test(test_conversions),  cmocka_unit_test(test_pairs_of_halves),
        cmocka_unit_test(test_indices),      cmocka_unit_test(test_shuffles),
        cmocka_unit_test(test_votes),        cmocka_unit_test(test_partial_warps),
        cmocka_unit_test(test_mma),          cmocka_unit_test(test_mma_bf16),
        cmocka_unit_test(test_pack_bf16),    cmocka_unit_test(test_barriers_and_shared_memory),
        cmocka_unit_test(test_atomics),      cmocka_unit_test(test_waiting_threads_let_others_run),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
