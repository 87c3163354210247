/* The exact comparison of two thresholds, images beyond what `rungs check` tries, and what the contract refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka.h wants the three above first. */
#include <cmocka.h>
#include <omp.h>
#include <string.h>

#include "common/algo/otsu.h"
#include "common/image/pattern.h"

static const struct algorithm *algorithm;

/* a.difference^2 * b.weight as seven 32-bit digits, the lowest first: schoolbook multiplication, another way than
 * ours. */
static void digits_multiply(uint32_t digits[7], uint64_t factor)
{
    const uint32_t low = (uint32_t)factor, high = (uint32_t)(factor >> 32);
    uint32_t result[7] = {0};

    for (int i = 0; i < 7; i++) {
        uint64_t carry = 0;
        for (int j = i; j < 7; j++) {
            const uint64_t sum = (j == i ? (uint64_t)digits[i] * low : 0) + result[j] + carry;
            result[j] = (uint32_t)sum;
            carry = sum >> 32;
        }
        carry = 0;
        for (int j = i + 1; j < 7; j++) {
            const uint64_t sum = (j == i + 1 ? (uint64_t)digits[i] * high : 0) + result[j] + carry;
            result[j] = (uint32_t)sum;
            carry = sum >> 32;
        }
    }
    memcpy(digits, result, sizeof result);
}

static bool digits_greater(struct otsu_score a, struct otsu_score b)
{
    uint32_t left[7] = {1}, right[7] = {1};

    digits_multiply(left, a.difference);
    digits_multiply(left, a.difference);
    digits_multiply(left, b.weight);
    digits_multiply(right, b.difference);
    digits_multiply(right, b.difference);
    digits_multiply(right, a.weight);
    for (int i = 6; i >= 0; i--)
        if (left[i] != right[i])
            return left[i] > right[i];
    return false;
}

static void comparison_is_exact(void **state)
{
    /* 2^28 black and 2^28 white pixels: the largest numbers there are. One pixel moved is the smallest difference. */
    const uint32_t half = 1u << 28;
    const struct otsu_score largest = otsu_score_of(half, 0, half, 255ull * half);
    const struct otsu_score less = otsu_score_of(half - 1, 0, half + 1, 255ull * (half + 1));
    uint64_t seed = 7;

    (void)state;
    assert_true(largest.difference == 255ull << 56 && largest.weight == 1ull << 56);
    assert_true(otsu_greater(largest, less));
    assert_false(otsu_greater(less, largest));
    assert_false(otsu_greater(largest, largest));
    for (int i = 0; i < 100000; i++) {
        struct otsu_score a = {pattern_random(&seed) >> pattern_random(&seed) % 64,
                               (pattern_random(&seed) >> 8 >> pattern_random(&seed) % 56) + 1};
        struct otsu_score b = {a.difference + pattern_random(&seed) % 3, a.weight + pattern_random(&seed) % 3};

        if (i % 2)
            b = (struct otsu_score){pattern_random(&seed), (pattern_random(&seed) >> 8) + 1};
        assert_int_equal(otsu_greater(a, b), digits_greater(a, b));
        assert_int_equal(otsu_greater(b, a), digits_greater(b, a));
    }
}

static void ties_and_empty_classes(void **state)
{
    uint32_t histogram[OTSU_BINS] = {0};

    (void)state;
    assert_int_equal(otsu_threshold(histogram), 0);
    histogram[255] = 1u << 29;
    assert_int_equal(otsu_threshold(histogram), 0);
    histogram[255] = histogram[0] = 1u << 28;
    assert_int_equal(otsu_threshold(histogram), 0);
    /* 20, 130, 240: the middle heap as far from the low one as from the high one. */
    histogram[0] = histogram[255] = 0;
    histogram[20] = histogram[240] = 123456789;
    histogram[130] = 1000003;
    assert_int_equal(otsu_threshold(histogram), 20);
    histogram[20]--;
    assert_int_equal(otsu_threshold(histogram), 130);
}

/* Large enough for each thread of every version to take its own way of counting, and counters beyond 16 bits. */
static void versions_agree_on_large_images(void **state)
{
    static const int sizes[][2] = {{1921, 1083}, {640, 480}, {40000, 7}};
    struct version *const *versions;
    size_t count;

    (void)state;
    registry_versions(algorithm, &versions, &count);
    assert_true(count >= 3);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (int kind = 0; kind < 4; kind++) {
            struct image in;
            uint32_t histogram[OTSU_BINS] = {0};

            assert_int_equal(image_create(&in, sizes[s][0], sizes[s][1], 1, PIXEL_U8), STATUS_OK);
            pattern_fill(&in, kind == 3 ? PATTERN_GRADIENT : PATTERN_RANDOM, s + 1);
            for (int y = 0; y < in.height; y++) {
                uint8_t *row = image_row(&in, y);
                for (int x = 0; x < in.width; x++) {
                    if (kind == 1) /* flat areas of two values, as in a mask, and a few others */
                        row[x] = row[x] == 3 ? (uint8_t)y : x / 64 % 3 ? 10 : 200;
                    else if (kind == 2) /* neighbours alike, as in a photograph */
                        row[x] = (uint8_t)(x / 16 + y / 8 + row[x] % 4);
                    histogram[row[x]]++;
                }
            }
            for (size_t v = 0; v < count; v++) {
                for (int threads = 1; threads <= 3; threads += 2) {
                    int32_t result = -1;
                    struct image out = {
                        .width = 1, .height = 1, .channels = 1, .type = PIXEL_I32, .stride = 64, .data = &result};

                    omp_set_num_threads(threads);
                    assert_int_equal(versions[v]->run(NULL, &in, &out, NULL), STATUS_OK);
                    assert_int_equal(result, otsu_threshold(histogram));
                }
            }
            image_free(&in);
        }
    }
}

static void refusals(void **state)
{
    struct image in = {.width = 23171, .height = 23171, .channels = 1, .type = PIXEL_U8}, out = {0};

    (void)state;
    assert_int_equal(algorithm->shape(&in, NULL, &out), STATUS_BAD_INPUT);
    in.width = in.height = 23170;
    assert_int_equal(algorithm->shape(&in, NULL, &out), STATUS_OK);
    in.channels = 3;
    assert_int_equal(algorithm->shape(&in, NULL, &out), STATUS_BAD_INPUT);
    in.channels = 1;
    in.type = PIXEL_U16;
    assert_int_equal(algorithm->shape(&in, NULL, &out), STATUS_BAD_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(comparison_is_exact), cmocka_unit_test(ties_and_empty_classes),
                                       cmocka_unit_test(versions_agree_on_large_images), cmocka_unit_test(refusals)};

    if (registry_open() != STATUS_OK || !(algorithm = registry_find_algorithm("otsu")))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
