/*
 * test_block.cu: what kernels of several ladders share: sums over a warp and a block (common/cuda/warp.cuh), and the
 * largest of many keys in order (common/cuda/selection.cuh), for blocks of all sizes and values that are hard on each.
 */
#include "common/cuda/selection.cuh"
#include "common/cuda/warp.cuh"
#include "common/emulator/tests/units/emulator_test.h"

/* ----------------------------------------------------------------------------------------------------------- sums */

enum { MOST = 1024 };

struct sums {
    unsigned warp_prefix[MOST], warp[MOST], before[2][MOST], total[2][MOST];
    unsigned long long long_before[MOST], long_total[MOST];
};

template <int WARPS> static __global__ void sum_kernel(const unsigned *values, struct sums *sums)
{
    __shared__ unsigned room[WARPS];
    __shared__ unsigned long long long_room[WARPS];
    const unsigned value = values[threadIdx.x];

    sums->warp_prefix[threadIdx.x] = warp_prefix_sum(value);
    sums->warp[threadIdx.x] = warp_sum(value);
    /* Twice with one room. Whether a barrier keeps both calls apart is seen where `rungs check` watches boxes and
     * labelling for races. */
    for (int call = 0; call < 2; call++)
        sums->before[call][threadIdx.x] =
            block_prefix_sum<WARPS>(value + (unsigned)call, &sums->total[call][threadIdx.x], room);
    sums->long_before[threadIdx.x] =
        block_prefix_sum<WARPS>(value * 0x100000001ull, &sums->long_total[threadIdx.x], long_room);
}

template <int WARPS> static void try_sums(unsigned (*value_of)(unsigned))
{
    mirrored<unsigned, MOST> values;
    mirrored<struct sums, 1> sums;
    const unsigned threads = WARPS * 32;
    unsigned total = 0, before = 0, warp_before = 0;

    for (unsigned i = 0; i < threads; i++)
        total += values.host[i] = value_of(i);
    values.upload();
    sum_kernel<WARPS><<<1, threads>>>(values.device, sums.device);
    sums.download();
    for (unsigned i = 0; i < threads; i++) {
        const struct sums *found = sums.host;
        const unsigned own = values.host[i];
        unsigned whole = 0;

        warp_before = i % 32 == 0 ? 0 : warp_before;
        for (unsigned k = i / 32 * 32; k < i / 32 * 32 + 32; k++)
            whole += values.host[k];
        assert_int_equal(found->warp_prefix[i], warp_before + own);
        assert_int_equal(found->warp[i], whole);
        assert_int_equal(found->before[0][i], before);
        assert_int_equal(found->total[0][i], total);
        assert_int_equal(found->before[1][i], before + i);
        assert_int_equal(found->total[1][i], total + threads);
        /* Values are small enough for the lower half not to overflow. */
        assert_true(found->long_before[i] == before * 0x100000001ull);
        assert_true(found->long_total[i] == total * 0x100000001ull);
        before += own;
        warp_before += own;
    }
}

static unsigned ones(unsigned)
{
    return 1;
}
static unsigned last_alone(unsigned i)
{
    return i % 32 == 31;
}
static unsigned large(unsigned i)
{
    return (i * 2654435761u >> 11) + (i == 0 ? 1u << 20 : 0);
}
static unsigned nothing(unsigned)
{
    return 0;
}

static void test_sums(void **)
{
    static unsigned (*const values[])(unsigned) = {ones, last_alone, large, nothing};

    for (const auto value_of : values) {
        try_sums<1>(value_of);
        try_sums<2>(value_of);
        try_sums<3>(value_of);
        try_sums<8>(value_of);
        try_sums<31>(value_of);
        try_sums<32>(value_of);
    }
}

/* ------------------------------------------------------------------------------------------------------ selection */

enum { KEYS = 5000, SORTED = 2048 };

static __global__ void cut_kernel(const uint64_t *keys, unsigned count, uint64_t bound, unsigned wanted, uint64_t *cut)
{
    __shared__ struct selection_room room;
    const uint64_t found = selection_cut(&room, keys, count, bound, wanted);

    cut[threadIdx.x] = found;
}

static __global__ void sort_kernel(const uint64_t *keys, int size, uint64_t *sorted)
{
    __shared__ uint64_t shared[SORTED];

    for (int i = threadIdx.x; i < size; i += blockDim.x)
        shared[i] = keys[i];
    __syncthreads();
    selection_sort(shared, size);
    for (int i = threadIdx.x; i < size; i += blockDim.x)
        sorted[i] = shared[i];
}

static int descending(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? 1 : x > y ? -1 : 0;
}

/* Keys that differ in their lowest digit alone, in their highest alone, and in all. */
static uint64_t key_of(int kind, unsigned i)
{
    const uint64_t random = (i + 1) * 0x9e3779b97f4a7c15ull;

    return kind == 0 ? i * 7919ull % KEYS : kind == 1 ? (uint64_t)(i * 7919 % KEYS) << 51 : random ^ random >> 29;
}

static void test_cut(void **)
{
    static const unsigned threads[] = {256, 320, 1024}, wanted[] = {1, 2, 255, 256, 257, 4000};
    static uint64_t sorted[KEYS];
    mirrored<uint64_t, KEYS> keys;
    mirrored<uint64_t, 1024> cut;

    for (int kind = 0; kind < 3; kind++) {
        for (unsigned i = 0; i < KEYS; i++)
            sorted[i] = keys.host[i] = key_of(kind, i);
        qsort(sorted, KEYS, sizeof *sorted, descending);
        keys.upload();
        for (const unsigned block : threads) {
            for (const unsigned count : wanted) {
                /* Of all keys, then of those below the hundredth. */
                for (int from = 0; from <= 100; from += 100) {
                    const uint64_t bound = from == 0 ? ~(uint64_t)0 : sorted[from - 1];
                    cut_kernel<<<1, block>>>(keys.device, KEYS, bound, count, cut.device);
                    cut.download();
                    for (unsigned i = 0; i < block; i++)
                        assert_true(cut.host[i] == sorted[(unsigned)from + count - 1]);
                }
            }
        }
    }
}

static void test_cut_takes_all_keys(void **)
{
    mirrored<uint64_t, 2> keys;
    mirrored<uint64_t, 1024> cut;

    keys.host[0] = 5;
    keys.host[1] = ~(uint64_t)0 - 1;
    keys.upload();
    cut_kernel<<<1, 256>>>(keys.device, 2, ~(uint64_t)0, 2, cut.device);
    cut.download();
    assert_true(cut.host[0] == 5);
}

static void test_sort(void **)
{
    static const unsigned threads[] = {32, 96, 256, 1024};
    static uint64_t sorted[SORTED];
    mirrored<uint64_t, SORTED> keys, found;

    for (int kind = 0; kind < 3; kind++) {
        for (const unsigned block : threads) {
            for (int size = 1; size <= SORTED; size *= 2) {
                for (int i = 0; i < size; i++) /* a third of them 0, as where keys have run out */
                    sorted[i] = keys.host[i] = i % 3 == 2 ? 0 : key_of(kind, (unsigned)i);
                qsort(sorted, (size_t)size, sizeof *sorted, descending);
                keys.upload();
                sort_kernel<<<1, block>>>(keys.device, size, found.device);
                found.download();
                assert_memory_equal(found.host, sorted, (size_t)size * sizeof *sorted);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_cut_takes_all_keys),
        cmocka_unit_test(test_sort),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
