#include "common/measure/ceiling.h"

#include <omp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/core/clock.h"
#include "common/measure/machine.h"
#include "common/measure/statistics.h"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

/* -------------------------------------------------------------------------------------- operations on registers */

/* Independent sums: two units of five cycles' latency keep ten in flight, and with 16 registers there is room for
 * twelve. Each is a variable of its own: of an array, gcc keeps the elements in memory. */
enum { CHAINS = 12 };
#define FOR_EACH_CHAIN(step)                                                                                           \
    step(0) step(1) step(2) step(3) step(4) step(5) step(6) step(7) step(8) step(9) step(10) step(11)

/* An operand passes through an empty asm before each instruction, so the compiler can neither hoist the products nor
 * form one for all chains. */
#if defined(__AVX512F__)
#define OPAQUE(x) __asm__ volatile("" : "+v"(x))
#elif defined(__aarch64__)
#define OPAQUE(x) __asm__ volatile("" : "+w"(x))
#else
#define OPAQUE(x) __asm__ volatile("" : "+x"(x))
#endif

/* ---- 8-bit products */
#if defined(__AVX512VNNI__)
#define BY_MULTIPLY_ADD_8 "AVX-512 vpdpbusd"
enum { PRODUCTS_8 = 64 };
typedef __m512i lanes;
static inline lanes multiply_add_8(lanes sum, lanes a, lanes b)
{
    return _mm512_dpbusd_epi32(sum, a, b);
}
#elif defined(__AVXVNNI__)
#define BY_MULTIPLY_ADD_8 "AVX2 vpdpbusd"
enum { PRODUCTS_8 = 32 };
typedef __m256i lanes;
static inline lanes multiply_add_8(lanes sum, lanes a, lanes b)
{
    /* Not _mm256_dpbusd_avx_epi32(): gcc 12 keeps its sums in memory, at half the rate. */
    __asm__("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum) : "x"(a), "x"(b));
    return sum;
}
#elif defined(__AVX512BW__)
#define BY_MULTIPLY_ADD_8 "AVX-512 vpmaddubsw"
enum { PRODUCTS_8 = 64 };
typedef __m512i lanes;
static inline lanes multiply_add_8(lanes sum, lanes a, lanes b)
{
    return _mm512_add_epi32(sum, _mm512_madd_epi16(_mm512_maddubs_epi16(a, b), _mm512_set1_epi16(1)));
}
#elif defined(__AVX2__)
#define BY_MULTIPLY_ADD_8 "AVX2 vpmaddubsw"
enum { PRODUCTS_8 = 32 };
typedef __m256i lanes;
static inline lanes multiply_add_8(lanes sum, lanes a, lanes b)
{
    return _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_maddubs_epi16(a, b), _mm256_set1_epi16(1)));
}
#elif defined(__ARM_FEATURE_DOTPROD)
#define BY_MULTIPLY_ADD_8 "NEON udot"
enum { PRODUCTS_8 = 16 };
typedef uint32x4_t lanes;
static inline lanes multiply_add_8(lanes sum, lanes a, lanes b)
{
    return vdotq_u32(sum, vreinterpretq_u8_u32(a), vreinterpretq_u8_u32(b));
}
#elif defined(__aarch64__)
#define BY_MULTIPLY_ADD_8 "NEON umull + uadalp"
enum { PRODUCTS_8 = 16 };
typedef uint32x4_t lanes;
static inline lanes multiply_add_8(lanes sum, lanes a, lanes b)
{
    const uint8x16_t x = vreinterpretq_u8_u32(a), y = vreinterpretq_u8_u32(b);

    sum = vpadalq_u16(sum, vmull_u8(vget_low_u8(x), vget_low_u8(y)));
    return vpadalq_u16(sum, vmull_high_u8(x, y));
}
#else
#define BY_MULTIPLY_ADD_8 "SSE2 pmaddwd"
enum { PRODUCTS_8 = 8 }; /* without SSSE3 bytes are widened to 16 bits first; the widening is not counted */
typedef __m128i lanes;
static inline lanes multiply_add_8(lanes sum, lanes a, lanes b)
{
    return _mm_add_epi32(sum, _mm_madd_epi16(a, b));
}
#endif

/* ---- 16-bit products, minima of bytes, and fused or paired products of floating point, by the widest registers */
#if defined(__AVX512BW__)
typedef __m512i words;
typedef __m512 singles;
typedef __m512d doubles;
enum { PRODUCTS_16 = 32, COMPARISONS_8 = 64, PRODUCTS_F32 = 16, PRODUCTS_F64 = 8 };
#if defined(__AVX512VNNI__)
#define BY_MULTIPLY_ADD_16         "AVX-512 vpdpwssd"
#define multiply_add_16(sum, a, b) _mm512_dpwssd_epi32(sum, a, b)
#else
#define BY_MULTIPLY_ADD_16         "AVX-512 vpmaddwd"
#define multiply_add_16(sum, a, b) _mm512_add_epi32(sum, _mm512_madd_epi16(a, b))
#endif
#define BY_COMPARISON_8             "AVX-512 vpminub"
#define BY_MULTIPLY_ADD_F32         "AVX-512 vfmadd231ps"
#define BY_MULTIPLY_ADD_F64         "AVX-512 vfmadd231pd"
#define compare_8(sum, a, b)        _mm512_min_epu8(sum, b)
#define multiply_add_f32(sum, a, b) _mm512_fmadd_ps(a, b, sum)
#define multiply_add_f64(sum, a, b) _mm512_fmadd_pd(a, b, sum)
#elif defined(__AVX2__)
typedef __m256i words;
typedef __m256 singles;
typedef __m256d doubles;
enum { PRODUCTS_16 = 16, COMPARISONS_8 = 32, PRODUCTS_F32 = 8, PRODUCTS_F64 = 4 };
#define BY_MULTIPLY_ADD_16         "AVX2 vpmaddwd"
#define BY_COMPARISON_8            "AVX2 vpminub"
#define multiply_add_16(sum, a, b) _mm256_add_epi32(sum, _mm256_madd_epi16(a, b))
#define compare_8(sum, a, b)       _mm256_min_epu8(sum, b)
#if defined(__FMA__)
#define BY_MULTIPLY_ADD_F32         "AVX2 vfmadd231ps"
#define BY_MULTIPLY_ADD_F64         "AVX2 vfmadd231pd"
#define multiply_add_f32(sum, a, b) _mm256_fmadd_ps(a, b, sum)
#define multiply_add_f64(sum, a, b) _mm256_fmadd_pd(a, b, sum)
#else
#define BY_MULTIPLY_ADD_F32         "AVX vmulps + vaddps"
#define BY_MULTIPLY_ADD_F64         "AVX vmulpd + vaddpd"
#define multiply_add_f32(sum, a, b) _mm256_add_ps(_mm256_mul_ps(a, b), sum)
#define multiply_add_f64(sum, a, b) _mm256_add_pd(_mm256_mul_pd(a, b), sum)
#endif
#elif defined(__x86_64__)
typedef __m128i words;
typedef __m128 singles;
typedef __m128d doubles;
enum { PRODUCTS_16 = 8, COMPARISONS_8 = 16, PRODUCTS_F32 = 4, PRODUCTS_F64 = 2 };
#define BY_MULTIPLY_ADD_16          "SSE2 pmaddwd"
#define BY_COMPARISON_8             "SSE2 pminub"
#define BY_MULTIPLY_ADD_F32         "SSE2 mulps + addps"
#define BY_MULTIPLY_ADD_F64         "SSE2 mulpd + addpd"
#define multiply_add_16(sum, a, b)  _mm_add_epi32(sum, _mm_madd_epi16(a, b))
#define compare_8(sum, a, b)        _mm_min_epu8(sum, b)
#define multiply_add_f32(sum, a, b) _mm_add_ps(_mm_mul_ps(a, b), sum)
#define multiply_add_f64(sum, a, b) _mm_add_pd(_mm_mul_pd(a, b), sum)
#else
typedef int16x8_t words;
typedef float32x4_t singles;
typedef float64x2_t doubles;
enum { PRODUCTS_16 = 4, COMPARISONS_8 = 16, PRODUCTS_F32 = 4, PRODUCTS_F64 = 2 };
#define BY_MULTIPLY_ADD_16  "NEON smlal"
#define BY_COMPARISON_8     "NEON umin"
#define BY_MULTIPLY_ADD_F32 "NEON fmla"
#define BY_MULTIPLY_ADD_F64 "NEON fmla"
#define multiply_add_16(sum, a, b)                                                                                     \
    vreinterpretq_s16_s32(vmlal_s16(vreinterpretq_s32_s16(sum), vget_low_s16(a), vget_low_s16(b)))
#define compare_8(sum, a, b)        vreinterpretq_s16_u8(vminq_u8(vreinterpretq_u8_s16(sum), vreinterpretq_u8_s16(b)))
#define multiply_add_f32(sum, a, b) vfmaq_f32(sum, a, b)
#define multiply_add_f64(sum, a, b) vfmaq_f64(sum, a, b)
#endif

/* The bytes of a register as one number, so that its content is used. */
static uint32_t sum_of(const void *lanes_of, size_t bytes)
{
    const uint8_t *lane = lanes_of;
    uint32_t result = 0;

    for (size_t i = 0; i < bytes; i++)
        result += lane[i];
    return result;
}

static void fill(void *registers, size_t bytes, double value, int kind)
{
    float single = (float)value;

    if (kind == 4)
        for (size_t i = 0; i < bytes; i += sizeof single)
            memcpy((char *)registers + i, &single, sizeof single);
    else if (kind == 8)
        for (size_t i = 0; i < bytes; i += sizeof value)
            memcpy((char *)registers + i, &value, sizeof value);
    else
        memset(registers, (int)(8 * value), bytes);
}

/* `rounds` times CHAINS instructions on registers. Not inlined: in a larger function sums get spilled. The operands are
 * 3/8 and 5/8 (bytes: 3 and 5), so that sums stay normal numbers. */
#define START(chain)  sum##chain = a;
#define FINISH(chain) result += sum_of(&sum##chain, sizeof sum##chain);
#define REGISTER_KERNEL(name, type, element, operate)                                                                  \
    __attribute__((noinline)) static uint32_t name(long rounds)                                                        \
    {                                                                                                                  \
        type a, b, sum0, sum1, sum2, sum3, sum4, sum5, sum6, sum7, sum8, sum9, sum10, sum11;                           \
        uint32_t result = 0;                                                                                           \
                                                                                                                       \
        fill(&a, sizeof a, 0.375, element);                                                                            \
        fill(&b, sizeof b, 0.625, element);                                                                            \
        FOR_EACH_CHAIN(START)                                                                                          \
        for (long round = 0; round < rounds; round++) {                                                                \
            FOR_EACH_CHAIN(operate)                                                                                    \
        }                                                                                                              \
        FOR_EACH_CHAIN(FINISH)                                                                                         \
        return result;                                                                                                 \
    }
#define STEP_OF(function, chain)                                                                                       \
    OPAQUE(b);                                                                                                         \
    sum##chain = function(sum##chain, a, b);
#define STEP_MULTIPLY_ADD_8(chain)   STEP_OF(multiply_add_8, chain)
#define STEP_MULTIPLY_ADD_16(chain)  STEP_OF(multiply_add_16, chain)
#define STEP_MULTIPLY_ADD_F32(chain) STEP_OF(multiply_add_f32, chain)
#define STEP_MULTIPLY_ADD_F64(chain) STEP_OF(multiply_add_f64, chain)
#define STEP_COMPARISON_8(chain)     STEP_OF(compare_8, chain)
REGISTER_KERNEL(run_multiply_add_8, lanes, 1, STEP_MULTIPLY_ADD_8)
REGISTER_KERNEL(run_multiply_add_16, words, 1, STEP_MULTIPLY_ADD_16)
REGISTER_KERNEL(run_multiply_add_f32, singles, 4, STEP_MULTIPLY_ADD_F32)
REGISTER_KERNEL(run_multiply_add_f64, doubles, 8, STEP_MULTIPLY_ADD_F64)
REGISTER_KERNEL(run_comparison_8, words, 1, STEP_COMPARISON_8)

/* ---------------------------------------------------------------------------- addresses that the data decide */

/* One thread's memory: a table of 16 KB, positions in it, and counters; all fits in a first-level cache of 32 KB. */
enum { TABLE = 4096, POSITIONS = 2048, BINS = 256, HISTOGRAMS = 4 };
struct tables {
    _Alignas(64) uint32_t table[TABLE];
    _Alignas(64) uint16_t positions[POSITIONS]; /* of the table */
    _Alignas(64) uint32_t counters[HISTOGRAMS][BINS];
};

static void tables_fill(struct tables *tables)
{
    uint32_t random = 1;

    for (int i = 0; i < TABLE; i++)
        tables->table[i] = (uint32_t)i * 2654435761u;
    for (int i = 0; i < POSITIONS; i++) {
        random = random * 1664525u + 1013904223u;
        tables->positions[i] = (uint16_t)(random >> 16) % TABLE;
    }
    memset(tables->counters, 0, sizeof tables->counters);
}

/* Four positions in one load, four look-ups into sums of their own. */
__attribute__((noinline)) static uint32_t look_up_scalar(struct tables *tables)
{
    uint32_t sums[4] = {0};

    for (int i = 0; i < POSITIONS; i += 4) {
        uint64_t four;

        memcpy(&four, &tables->positions[i], sizeof four);
        sums[0] += tables->table[four & 0xffff];
        sums[1] += tables->table[four >> 16 & 0xffff];
        sums[2] += tables->table[four >> 32 & 0xffff];
        sums[3] += tables->table[four >> 48];
    }
    return sums[0] + sums[1] + sums[2] + sums[3];
}

#if defined(__AVX512F__)
#define BY_GATHER "AVX-512 vpgatherdd"
__attribute__((noinline)) static uint32_t look_up_gather(struct tables *tables)
{
    __m512i sums = _mm512_setzero_si512();

    for (int i = 0; i < POSITIONS; i += 16) {
        const __m512i at =
            _mm512_cvtepu16_epi32(_mm256_load_si256((const __m256i *)(const void *)&tables->positions[i]));
        sums = _mm512_add_epi32(sums, _mm512_i32gather_epi32(at, tables->table, 4));
    }
    return sum_of(&sums, sizeof sums);
}
#elif defined(__AVX2__)
#define BY_GATHER "AVX2 vpgatherdd"
__attribute__((noinline)) static uint32_t look_up_gather(struct tables *tables)
{
    __m256i sums = _mm256_setzero_si256();

    for (int i = 0; i < POSITIONS; i += 8) {
        const __m256i at = _mm256_cvtepu16_epi32(_mm_load_si128((const __m128i *)(const void *)&tables->positions[i]));
        sums = _mm256_add_epi32(sums, _mm256_i32gather_epi32((const int *)tables->table, at, 4));
    }
    return sum_of(&sums, sizeof sums);
}
#endif

/* Neighbouring increments go to different histograms, so that equal ones do not wait for each other. */
__attribute__((noinline)) static uint32_t increment(struct tables *tables)
{
    for (int i = 0; i < POSITIONS; i += 4) {
        uint64_t four;

        memcpy(&four, &tables->positions[i], sizeof four);
        tables->counters[0][four & 0xff]++;
        tables->counters[1][four >> 16 & 0xff]++;
        tables->counters[2][four >> 32 & 0xff]++;
        tables->counters[3][four >> 48 & 0xff]++;
    }
    return tables->counters[0][0];
}

/* ------------------------------------------------------------------------------------------------------- rates */

enum {
    ROUNDS = 20000, /* times CHAINS instructions: about 0.1 ms, far above the clock's cost */
    PASSES = 100,   /* over the positions: about as long */
    SAMPLES = 200
};

/* One way to do operations of a kind: on registers, or on tables. */
struct way {
    uint32_t (*registers)(long rounds);
    uint32_t (*tables)(struct tables *tables);
    double operations; /* of one sample */
    const char *by;
};

static uint32_t sample(const struct way *way, struct tables *tables)
{
    uint32_t sink = 0;

    if (way->registers)
        return way->registers(ROUNDS);
    for (int pass = 0; pass < PASSES; pass++)
        sink += way->tables(tables);
    return sink;
}

/* Threads do not wait for each other here: the rate is the sum of what each reaches while the others run too. More
 * threads than cores take turns, and each reaches a whole core's rate in its turn. What a tenth of the samples stayed
 * under counts, not the median: a ceiling must hold when no neighbour takes the cores. */
static double rate_of(const struct way *way, int threads, double seconds)
{
    const int cores = machine_cores();
    const double end = clock_seconds() + seconds;
    double rate = 0;
    uint32_t sink = 0;

#pragma omp parallel num_threads(threads) reduction(+ : rate, sink)
    {
        struct tables tables;
        double samples[SAMPLES];
        size_t count = 0;

        tables_fill(&tables);
        for (bool warm_up = true; count < SAMPLES && (count < 5 || clock_seconds() < end); warm_up = false) {
            const double start = clock_seconds();

            sink += sample(way, &tables);
            if (!warm_up)
                samples[count++] = clock_seconds() - start;
        }
        statistics_of(samples, count); /* sorts */
        rate += way->operations / samples[count / 10];
    }
    /* Used, or the compiler could leave the work out. */
    __asm__ volatile("" : : "r"(sink));
    return threads > cores ? rate * cores / threads : rate;
}

double ceiling_operation_rate(enum operation operation, int threads, double seconds, const char **by)
{
    static const double instructions = (double)ROUNDS * CHAINS, passed = (double)PASSES * POSITIONS;
    const struct way ways[OPERATION_COUNT][2] = {
        [OPERATION_MULTIPLY_ADD_8] = {{run_multiply_add_8, NULL, instructions * PRODUCTS_8, BY_MULTIPLY_ADD_8}},
        [OPERATION_MULTIPLY_ADD_16] = {{run_multiply_add_16, NULL, instructions * PRODUCTS_16, BY_MULTIPLY_ADD_16}},
        [OPERATION_MULTIPLY_ADD_F32] = {{run_multiply_add_f32, NULL, instructions * PRODUCTS_F32, BY_MULTIPLY_ADD_F32}},
        [OPERATION_MULTIPLY_ADD_F64] = {{run_multiply_add_f64, NULL, instructions * PRODUCTS_F64, BY_MULTIPLY_ADD_F64}},
        [OPERATION_TABLE_LOOK_UP] = {{NULL, look_up_scalar, passed, "scalar loads"},
#if defined(BY_GATHER)
                                     {NULL, look_up_gather, passed, BY_GATHER}
#endif
        },
        [OPERATION_COUNTER_INCREMENT] = {{NULL, increment, passed, "histograms of each thread"}},
        [OPERATION_COMPARISON_8] = {{run_comparison_8, NULL, instructions * COMPARISONS_8, BY_COMPARISON_8}},
    };
    double best = 0;

    for (int i = 0; i < 2 && ways[operation][i].by; i++) {
        const double rate = rate_of(&ways[operation][i], threads, ways[operation][1].by ? seconds / 2 : seconds);

        if (rate > best) {
            best = rate;
            *by = ways[operation][i].by;
        }
    }
    return best;
}
