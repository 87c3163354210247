/*
 * test_diagnose.c: each kind of wrong image gets its own diagnosis, right images and chance get none.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/image/image_io.h"
#include "common/image/pattern.h"
#include "common/verify/diagnose.h"

/* A pair of equal images, smooth enough for a blur's result and different everywhere, and the evidence made of them. */
struct scene {
    struct image expected, actual;
    uint8_t *unwritten;
    struct evidence evidence;
    char text[256];
    int certainty;
};

static void open_scene(struct scene *scene, int width, int height, int channels, enum pixel_type type)
{
    memset(scene, 0, sizeof *scene);
    assert_int_equal(image_create(&scene->expected, width, height, channels, type), STATUS_OK);
    assert_int_equal(image_create_like(&scene->actual, &scene->expected), STATUS_OK);
    pattern_fill(&scene->expected, PATTERN_RANDOM, 7);
    image_copy(&scene->actual, &scene->expected);
    scene->unwritten = calloc((size_t)width * (size_t)height, (size_t)channels);
    assert_non_null(scene->unwritten);
    scene->evidence = (struct evidence){
        .expected = &scene->expected, .actual = &scene->actual, .unwritten = scene->unwritten, .radius = 3};
}

static void close_scene(struct scene *scene)
{
    image_free(&scene->expected);
    image_free(&scene->actual);
    free(scene->unwritten);
}

static uint8_t *sample(const struct image *image, int x, int y, int c)
{
    return (uint8_t *)image_row(image, y) + x * image->channels + c;
}

/* Makes all channels of a pixel wrong by a lot. */
static void spoil(struct scene *scene, int x, int y)
{
    for (int c = 0; c < scene->expected.channels; c++)
        *sample(&scene->actual, x, y, c) ^= 0xc0;
}

static void spoil_where(struct scene *scene, bool (*where)(const struct image *image, int x, int y))
{
    for (int y = 0; y < scene->expected.height; y++)
        for (int x = 0; x < scene->expected.width; x++)
            if (where(&scene->expected, x, y))
                spoil(scene, x, y);
}

static void look(struct scene *scene)
{
    scene->certainty = diagnose(&scene->evidence, scene->text, sizeof scene->text);
}

#define assert_says(scene, words)                                                                                      \
    do {                                                                                                               \
        if (!strstr((scene)->text, words))                                                                             \
            print_error("expected \"%s\", got \"%s\"\n", words, (scene)->text);                                        \
        assert_non_null(strstr((scene)->text, words));                                                                 \
    } while (0)

/* One place, one diagnosis. */
static void expect_where(bool (*where)(const struct image *image, int x, int y), int width, int height, int channels,
                         const char *words, int least_certainty)
{
    struct scene scene;

    open_scene(&scene, width, height, channels, PIXEL_U8);
    spoil_where(&scene, where);
    look(&scene);
    assert_says(&scene, words);
    assert_true(scene.certainty >= least_certainty);
    close_scene(&scene);
}

static bool last_column(const struct image *image, int x, int y)
{
    (void)y;
    return x == image->width - 1;
}

static bool after_column_48(const struct image *image, int x, int y)
{
    (void)image, (void)y;
    return x >= 48;
}

static bool after_row_32(const struct image *image, int x, int y)
{
    (void)image, (void)x;
    return y >= 32;
}

static bool after_both(const struct image *image, int x, int y)
{
    return after_column_48(image, x, y) || after_row_32(image, x, y);
}

static bool within_3_of_border(const struct image *image, int x, int y)
{
    return x < 3 || y < 3 || x >= image->width - 3 || y >= image->height - 3;
}

static bool within_3_of_left(const struct image *image, int x, int y)
{
    (void)image, (void)y;
    return x < 3;
}

static bool near_right_and_bottom(const struct image *image, int x, int y)
{
    return x >= image->width - 3 || y >= image->height - 3;
}

static bool around_multiples_of_32(const struct image *image, int x, int y)
{
    (void)y;
    return (x % 32 < 2 || x % 32 > 29) && x >= 30 && x < image->width - 2;
}

static bool corners_of_16x16(const struct image *image, int x, int y)
{
    (void)image;
    return x % 16 >= 14 || y % 16 >= 14;
}

static bool after_row_10(const struct image *image, int x, int y)
{
    (void)image, (void)x;
    return y >= 10;
}

static bool before_row_5(const struct image *image, int x, int y)
{
    (void)image, (void)x;
    return y < 5;
}

static bool first_column(const struct image *image, int x, int y)
{
    (void)image, (void)y;
    return x == 0;
}

static bool odd_rows(const struct image *image, int x, int y)
{
    (void)image, (void)x;
    return y % 2 == 1;
}

static bool every_fourth(const struct image *image, int x, int y)
{
    (void)image, (void)y;
    return x % 4 == 3;
}

static bool rows_of_8(const struct image *image, int x, int y)
{
    (void)image, (void)x;
    return y % 8 == 0;
}

static bool one_tile(const struct image *image, int x, int y)
{
    (void)image;
    return x >= 32 && x < 48 && y >= 16 && y < 32;
}

static bool by_chance(const struct image *image, int x, int y)
{
    uint64_t seed = (uint64_t)(y * image->width + x);

    return pattern_random(&seed) % 5 == 0;
}

static void test_places(void **state)
{
    (void)state;
    expect_where(after_column_48, 63, 40, 1,
                 "only the last 15 columns (x >= 48): remainder after the last full tile of 16 ", CERTAINTY_SURE);
    expect_where(after_row_32, 40, 63, 3,
                 "only the last 31 rows (y >= 32): remainder after the last full tile of 32 rows", CERTAINTY_SURE);
    expect_where(after_both, 63, 63, 1, "only the last 15 columns (x >= 48) and the last 31 rows (y >= 32): remainder",
                 CERTAINTY_SURE);
    expect_where(last_column, 66, 40, 1, "only the last column (x = 65)", CERTAINTY_WEAK);
    expect_where(last_column, 65, 40, 1, "only the last column (x = 64): remainder after the last full tile of 4 to 64",
                 CERTAINTY_WEAK);
    expect_where(within_3_of_border, 65, 40, 1, "only within 3 pixels of the image's border (left, right, top, bottom)",
                 CERTAINTY_SURE);
    expect_where(within_3_of_left, 65, 40, 3, "border (left): border handling", CERTAINTY_SURE);
    expect_where(near_right_and_bottom, 66, 41, 1, "border (right, bottom): border handling", CERTAINTY_GOOD);
    expect_where(around_multiples_of_32, 200, 40, 1,
                 "lattice of 32 columns (x mod 32 = 30..31 and 0..1): halo of 32-wide", CERTAINTY_GOOD);
    expect_where(corners_of_16x16, 97, 70, 1,
                 "lattice of 16 columns and 16 rows (x mod 16 = 14..15, y mod 16 = 14..15): "
                 "halo of 16x16 tiles",
                 CERTAINTY_SURE);
    expect_where(every_fourth, 67, 40, 1, "lattice of 4 columns (x mod 4 = 3): some lanes", CERTAINTY_SURE);
    expect_where(rows_of_8, 67, 40, 1, "lattice of 8 rows (y mod 8 = 0): halo of 8-high tiles", CERTAINTY_GOOD);
    expect_where(after_row_10, 66, 40, 1, "only the last 30 rows (y >= 10)", CERTAINTY_GOOD);
    expect_where(before_row_5, 66, 40, 1, "only the first 5 rows (y < 5)", CERTAINTY_WEAK);
    expect_where(first_column, 66, 40, 1, "only within 1 pixel of the image's border (left)", CERTAINTY_SURE);
    expect_where(odd_rows, 66, 40, 1, "only every second row (y mod 2 = 1)", CERTAINTY_SURE);
    expect_where(one_tile, 80, 70, 1, "only in x 32..47, y 16..31 (16x16 of 80x70 pixels)", CERTAINTY_WEAK);
    expect_where(by_chance, 80, 70, 1, "no pattern recognised", CERTAINTY_NONE);
}

static void test_a_few_pixels_prove_little(void **state)
{
    struct scene scene;

    (void)state;
    open_scene(&scene, 5, 5, 1, PIXEL_U8);
    spoil_where(&scene, last_column);
    look(&scene);
    assert_true(scene.certainty <= CERTAINTY_WEAK);
    close_scene(&scene);
}

static void test_margin_does_not_count(void **state)
{
    struct scene scene;

    (void)state;
    open_scene(&scene, 60, 40, 1, PIXEL_U8);
    spoil_where(&scene, within_3_of_border);
    scene.evidence.margin = 3;
    look(&scene);
    assert_says(&scene, "nothing is wrong");
    close_scene(&scene);
}

static void test_never_written(void **state)
{
    struct scene scene;

    (void)state;
    open_scene(&scene, 70, 40, 3, PIXEL_U8);
    image_fill(&scene.actual, 0xa5);
    memset(scene.unwritten, 1, 70 * 40 * 3);
    look(&scene);
    assert_says(&scene, "never written: not one sample");
    assert_int_equal(scene.certainty, CERTAINTY_SURE);
    close_scene(&scene);

    /* A value that is right by luck is still never written. */
    open_scene(&scene, 79, 40, 1, PIXEL_U8);
    for (int y = 0; y < 40; y++)
        memset(scene.unwritten + y * 79 + 64, 1, 15);
    look(&scene);
    assert_says(&scene,
                "never written: only the last 15 columns (x >= 64): remainder after the last full tile of 16 to 64");
    close_scene(&scene);

    open_scene(&scene, 79, 40, 1, PIXEL_U8);
    for (int i = 0; i < 79 * 40; i += 5)
        scene.unwritten[i] = 1;
    spoil(&scene, 1, 0);
    look(&scene);
    assert_says(&scene, "never written: ");
    assert_says(&scene, "; others are wrong too");
    close_scene(&scene);
}

static void test_displaced(void **state)
{
    struct scene scene;

    (void)state;
    for (int dx = -3; dx <= 3; dx++) {
        for (int dy = -2; dy <= 2; dy++) {
            char words[64];

            if (dx == 0 && dy == 0)
                continue;
            open_scene(&scene, 64, 50, 1, PIXEL_U8);
            for (int y = 0; y < 50; y++)
                for (int x = 0; x < 64; x++)
                    if (x - dx >= 0 && x - dx < 64 && y - dy >= 0 && y - dy < 50)
                        *sample(&scene.actual, x, y, 0) = *sample(&scene.expected, x - dx, y - dy, 0);
            look(&scene);
            snprintf(words, sizeof words, "shifted by (%d,%d)", dx, dy);
            assert_says(&scene, words);
            assert_int_equal(scene.certainty, CERTAINTY_SURE);
            close_scene(&scene);
        }
    }

    static const struct {
        int order[3];
        const char *words;
    } orders[] = {
        {{2, 1, 0}, "channels 0 and 2 swapped (BGR for RGB)"},
        {{1, 0, 2}, "channels 0 and 1 swapped"},
        {{0, 2, 1}, "channels 1 and 2 swapped"},
        {{1, 2, 0}, "channels in the order 1, 2, 0"},
    };

    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        open_scene(&scene, 64, 50, 3, PIXEL_U8);
        for (int y = 0; y < 50; y++)
            for (int x = 0; x < 64; x++)
                for (int c = 0; c < 3; c++)
                    *sample(&scene.actual, x, y, c) = *sample(&scene.expected, x, y, orders[i].order[c]);
        look(&scene);
        assert_says(&scene, orders[i].words);
        close_scene(&scene);
    }

    open_scene(&scene, 50, 50, 1, PIXEL_U8);
    for (int y = 0; y < 50; y++)
        for (int x = 0; x < 50; x++)
            *sample(&scene.actual, x, y, 0) = *sample(&scene.expected, y, x, 0);
    look(&scene);
    assert_says(&scene, "transposed");
    for (int y = 0; y < 50; y++)
        for (int x = 0; x < 50; x++)
            *sample(&scene.actual, x, y, 0) = *sample(&scene.expected, 49 - x, y, 0);
    look(&scene);
    assert_says(&scene, "mirrored left to right");
    for (int y = 0; y < 50; y++)
        for (int x = 0; x < 50; x++)
            *sample(&scene.actual, x, y, 0) = *sample(&scene.expected, x, 49 - y, 0);
    look(&scene);
    assert_says(&scene, "upside down");
    close_scene(&scene);
}

static void test_values(void **state)
{
    struct scene scene;

    (void)state;
    open_scene(&scene, 60, 40, 1, PIXEL_U8);
    for (int y = 0; y < 40; y++)
        for (int x = 0; x < 60; x++)
            *sample(&scene.actual, x, y, 0) -= (x * 7 + y * 5) % 3 == 0 && *sample(&scene.expected, x, y, 0) > 0;
    look(&scene);
    assert_says(&scene, "too small by 1: rounding (truncated");
    assert_int_equal(scene.certainty, CERTAINTY_SURE);
    close_scene(&scene);

    open_scene(&scene, 60, 40, 1, PIXEL_U8);
    for (int y = 0; y < 40; y++)
        for (int x = 0; x < 60; x++)
            *sample(&scene.expected, x, y, 0) = *sample(&scene.actual, x, y, 0) = (uint8_t)(100 + (x * y) % 50);
    for (int y = 0; y < 40; y++)
        for (int x = 0; x < 60; x++)
            *sample(&scene.actual, x, y, 0) += (uint8_t)((x * 5 + y * 3) % 3 - 1);
    look(&scene);
    assert_says(&scene, "off by 1: rounding");
    for (int y = 0; y < 40; y++)
        for (int x = 0; x < 60; x++)
            *sample(&scene.actual, x, y, 0) = (uint8_t)(*sample(&scene.expected, x, y, 0) + 5);
    look(&scene);
    assert_says(&scene, "every sample is off by +5");
    image_fill(&scene.actual, 17);
    look(&scene);
    assert_says(&scene, "the output is constant: every sample is 17");
    close_scene(&scene);

    open_scene(&scene, 60, 40, 3, PIXEL_U8);
    for (int y = 0; y < 40; y++)
        for (int x = 0; x < 60; x++)
            *sample(&scene.actual, x, y, 2) ^= 0x55;
    look(&scene);
    assert_says(&scene, "only channel 2 (of 3) is wrong");
    close_scene(&scene);
}

static void test_floats(void **state)
{
    struct scene scene;

    (void)state;
    open_scene(&scene, 60, 40, 1, PIXEL_F32);
    ((float *)image_row(&scene.actual, 3))[5] = NAN;
    look(&scene);
    assert_says(&scene, "NaN in 1 of 2400 samples");
    assert_int_equal(scene.certainty, CERTAINTY_SURE);
    close_scene(&scene);

    open_scene(&scene, 60, 40, 1, PIXEL_F32);
    ((float *)image_row(&scene.actual, 3))[5] = -INFINITY;
    look(&scene);
    assert_says(&scene, "infinite in 1 of 2400 samples");
    assert_int_equal(scene.certainty, CERTAINTY_SURE);
    close_scene(&scene);

    /* The sixth digit of each sample. */
    open_scene(&scene, 60, 40, 1, PIXEL_F32);
    for (int y = 0; y < 40; y++)
        for (int x = 0; x < 60; x++)
            ((float *)image_row(&scene.actual, y))[x] *= (x + y) % 2 ? 1.00001f : 0.99999f;
    look(&scene);
    assert_says(&scene, "off slightly: rounding");
    /* Within the tolerance nothing of it is wrong. */
    scene.evidence.tolerance = 1e-4;
    look(&scene);
    assert_says(&scene, "nothing is wrong");
    close_scene(&scene);
}

static void test_wider_types(void **state)
{
    static const enum pixel_type types[] = {PIXEL_U16, PIXEL_I32};
    struct scene scene;

    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        open_scene(&scene, 63, 40, 1, types[i]);
        for (int y = 0; y < 40; y++)
            memset((char *)image_row(&scene.actual, y) + 48 * pixel_size(types[i]), 0, 15 * pixel_size(types[i]));
        look(&scene);
        assert_says(&scene, "only the last 15 columns (x >= 48)");
        close_scene(&scene);
    }
}

static void test_picture(void **state)
{
    char folder[] = "/tmp/rungs-test-diagnose-XXXXXX", path[64];
    struct image picture = {0};
    struct scene scene;
    const uint8_t *pixel;

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/difference.png", folder);
    open_scene(&scene, 60, 40, 1, PIXEL_U8);
    *sample(&scene.expected, 10, 5, 0) = *sample(&scene.expected, 20, 5, 0) = 100;
    *sample(&scene.expected, 30, 5, 0) = *sample(&scene.expected, 31, 5, 0) = 100;
    *sample(&scene.actual, 10, 5, 0) = 200; /* too large: red */
    *sample(&scene.actual, 20, 5, 0) = 0;   /* too small: blue */
    *sample(&scene.actual, 30, 5, 0) = 100; /* right: gray */
    *sample(&scene.actual, 31, 5, 0) = 101; /* a little too large: darker red */
    scene.unwritten[5 * 60 + 40] = 1;       /* yellow */
    assert_int_equal(diagnose_picture(&scene.evidence, path), STATUS_OK);
    assert_int_equal(image_load(&picture, path, 3), STATUS_OK);
    assert_int_equal(picture.width, 8 * 60);
    assert_int_equal(picture.height, 8 * 40);

    pixel = (const uint8_t *)image_row(&picture, 8 * 5 + 7) + 3 * (8 * 10 + 7);
    assert_int_equal(pixel[0], 255);
    assert_int_equal(pixel[2], 0);
    pixel = (const uint8_t *)image_row(&picture, 8 * 5) + 3 * (8 * 20);
    assert_int_equal(pixel[0], 0);
    assert_int_equal(pixel[2], 255);
    pixel = (const uint8_t *)image_row(&picture, 8 * 5) + 3 * (8 * 30);
    assert_int_equal(pixel[0], pixel[1]);
    assert_int_equal(pixel[1], pixel[2]);
    assert_true(pixel[0] < 64);
    pixel = (const uint8_t *)image_row(&picture, 8 * 5) + 3 * (8 * 31);
    assert_true(pixel[0] >= 90 && pixel[0] < 255);
    assert_int_equal(pixel[2], 0);
    pixel = (const uint8_t *)image_row(&picture, 8 * 5) + 3 * (8 * 40);
    assert_int_equal(pixel[0], 255);
    assert_int_equal(pixel[1], 255);
    assert_int_equal(pixel[2], 0);

    image_free(&picture);
    close_scene(&scene);
    unlink(path);
    rmdir(folder);
}

static int32_t *number(const struct image *image, int x, int y)
{
    return (int32_t *)image_row(image, y) + x;
}

static void test_tables(void **state)
{
    static const char *const columns[] = {"label", "area", "middle", NULL};
    struct scene scene;

    (void)state;
    open_scene(&scene, 3, 20, 1, PIXEL_I32); /* 10 rows in use: label k, area 10 k, middle 100 k */
    scene.evidence.kind = SLOT_TABLE;
    scene.evidence.columns = columns;
    for (int y = 0; y < 20; y++)
        for (int x = 0; x < 3; x++)
            *number(&scene.expected, x, y) = y > 10 ? 0 : y > 0 ? y * (x == 0 ? 1 : x == 1 ? 10 : 100) : x ? 0 : 10;

    image_copy(&scene.actual, &scene.expected);
    *number(&scene.actual, 0, 0) = 8;
    look(&scene);
    assert_says(&scene, "counts 8, and there are 10: 2 rows missing, first (label 9, area 90, middle 900)");

    image_copy(&scene.actual, &scene.expected);
    for (int y = 1; y <= 10; y++)
        ++*number(&scene.actual, 1, y);
    look(&scene);
    assert_says(&scene, "area: off by +1 in every row");

    image_copy(&scene.actual, &scene.expected);
    --*number(&scene.actual, 2, 4);
    --*number(&scene.actual, 2, 7);
    look(&scene);
    assert_says(&scene, "middle: too small by 1 in 2 of 10 rows: rounding");

    *number(&scene.actual, 1, 4) -= 5;
    look(&scene);
    assert_says(&scene, "wrong in 2 of 10 rows: area too small, middle too small");

    image_copy(&scene.actual, &scene.expected);
    for (int x = 0; x < 3; x++) {
        *number(&scene.actual, x, 3) = *number(&scene.expected, x, 4);
        *number(&scene.actual, x, 4) = *number(&scene.expected, x, 3);
    }
    look(&scene);
    assert_says(&scene, "the right 10 rows in another order: 2 stand elsewhere");

    image_copy(&scene.actual, &scene.expected);
    for (int y = 10; y > 0; y--)
        for (int x = 0; x < 3; x++)
            *number(&scene.actual, x, y + 1) = *number(&scene.expected, x, y);
    for (int x = 0; x < 3; x++)
        *number(&scene.actual, x, 1) = 0;
    look(&scene);
    assert_says(&scene, "the right rows, each one place too far down: the index of the first is wrong");

    image_copy(&scene.actual, &scene.expected);
    for (int y = 1; y <= 10; y++)
        *number(&scene.actual, 0, y) -= 2;
    look(&scene);
    assert_says(&scene, "label: off by -2 in every row");

    image_copy(&scene.actual, &scene.expected);
    *number(&scene.actual, 1, 15) = 3;
    look(&scene);
    assert_says(&scene, "the 10 rows in use are right");
    close_scene(&scene);
}

/* Two vertical bars of width 4, 8 columns apart: labels 5 and 17 of an image 64 wide; the rest is background. */
static void test_labels(void **state)
{
    struct scene scene;

    (void)state;
    open_scene(&scene, 64, 64, 1, PIXEL_I32);
    scene.evidence.kind = SLOT_LABELS;
    for (int y = 0; y < 64; y++)
        for (int x = 0; x < 64; x++)
            *number(&scene.expected, x, y) = x >= 4 && x < 8 ? 5 : x >= 16 && x < 20 ? 17 : 0;

    image_copy(&scene.actual, &scene.expected);
    for (int y = 0; y < 64; y++)
        for (int x = 0; x < 64; x++)
            *number(&scene.actual, x, y) += 2 * (*number(&scene.expected, x, y) != 0);
    look(&scene);
    assert_says(&scene, "every label is off by +2");

    image_copy(&scene.actual, &scene.expected);
    *number(&scene.actual, 30, 9) = 5;
    look(&scene);
    assert_says(&scene, "0 pixels of the foreground are 0, 1 of the background are not");

    image_copy(&scene.actual, &scene.expected);
    for (int y = 16; y < 64; y++)
        for (int x = 4; x < 8; x++)
            *number(&scene.actual, x, y) = y / 16 * 16 * 64 + 5;
    look(&scene);
    assert_says(&scene, "components are split at every 16th row: what meets at the borders of tiles is not joined");
    assert_int_equal(scene.certainty, CERTAINTY_SURE);

    *number(&scene.actual, 5, 3) = 9;
    look(&scene);
    assert_says(&scene, "components are split: neighbours that belong together have two labels, first at (5,3)");

    for (int y = 0; y < 64; y++)
        for (int x = 0; x < 64; x++)
            *number(&scene.actual, x, y) = *number(&scene.expected, x, y) ? 5 : 0;
    look(&scene);
    assert_says(&scene, "different components have one label, first seen at (16,0)");

    for (int y = 0; y < 64; y++)
        for (int x = 0; x < 64; x++)
            *number(&scene.actual, x, y) = (*number(&scene.expected, x, y) + 11) / 12;
    look(&scene);
    assert_says(&scene, "the components are right, but not labelled by their first pixel");

    /* A diagonal whose pixels are strangers. */
    for (int y = 0; y < 64; y++)
        for (int x = 0; x < 64; x++) {
            *number(&scene.expected, x, y) = x == y;
            *number(&scene.actual, x, y) = x == y ? y * 64 + x + 1 : 0;
        }
    look(&scene);
    assert_says(&scene, "diagonals are not followed");
    close_scene(&scene);
}

static uint16_t *counter(const struct image *image, int x, int y, int c)
{
    return (uint16_t *)image_row(image, y) + (x * image->channels + c);
}

/* What is counted, and what is numbered: that they lie side by side means nothing, nor does the difference of two
 * numbers. */
static void test_counts_and_names(void **state)
{
    struct scene scene;

    (void)state;
    open_scene(&scene, 24, 24, 32, PIXEL_U16);
    scene.evidence.kind = SLOT_TENSOR;
    for (int y = 0; y < 24; y++)
        for (int x = 0; x < 24; x++)
            for (int c = 0; c < 32; c++)
                *counter(&scene.expected, x, y, c) = (uint16_t)(c == 7 ? 300 : 3);
    image_copy(&scene.actual, &scene.expected);
    for (int x = 0; x < 24; x++)
        for (int y = 0; y < 24; y += 2) {
            *counter(&scene.actual, x, y, 7) = 299;
            *counter(&scene.actual, x, y, 8) = 4;
        }
    look(&scene);
    assert_says(&scene, "the sums over the 32 channels are right: what is counted goes to a wrong one");
    image_copy(&scene.actual, &scene.expected);
    *counter(&scene.actual, 5, 5, 7) = 300 - 256;
    look(&scene);
    assert_says(&scene, "too small by multiples of 256: counted in 8 bits");
    close_scene(&scene);

    open_scene(&scene, 24, 24, 1, PIXEL_I32);
    scene.evidence.kind = SLOT_MATRIX;
    scene.evidence.names = true;
    for (int y = 0; y < 24; y++)
        for (int x = 0; x < 24; x++) {
            *number(&scene.expected, x, y) = 3;
            *number(&scene.actual, x, y) = x % 8 == 0 ? 5 : 3;
        }
    look(&scene);
    assert_says(&scene,
                "72 of 576 name another one, 5 in place of 3 72 times; always a higher one (which of equal ones?)");
    close_scene(&scene);
}

/* An accumulator: a row counts each of 300 points once, most places are 0. */
static void open_accumulator(struct scene *scene)
{
    uint64_t seed = 5;

    open_scene(scene, 200, 30, 1, PIXEL_I32);
    scene->evidence.kind = SLOT_MATRIX;
    image_fill(&scene->expected, 0);
    for (int y = 0; y < 30; y++)
        for (int i = 0; i < 300; i++)
            ++*number(&scene->expected, 70 + (int)(pattern_random(&seed) % 6 * (pattern_random(&seed) % 6)) + y, y);
    image_copy(&scene->actual, &scene->expected);
}

static void test_accumulators(void **state)
{
    struct scene scene;

    (void)state;
    open_accumulator(&scene);
    for (int y = 0; y < 30; y++)
        for (int lost = 0, x = 0; lost < 7; x++)
            if (*number(&scene.actual, x, y) > 0) {
                --*number(&scene.actual, x, y);
                lost++;
            }
    look(&scene);
    assert_says(&scene, "each of the 30 rows counts 7 too few, of 300: not all is looked at, or counts are lost");
    assert_int_equal(scene.certainty, CERTAINTY_SURE);

    image_copy(&scene.actual, &scene.expected);
    for (int y = 0; y < 30; y++)
        for (int x = 0; x < 200; x++)
            *number(&scene.actual, x, y) += y % 3 == 0 && x % 4 == 0;
    look(&scene);
    assert_says(&scene, "never too small, and 500 too many in all: counted twice, or not 0 in the beginning?");

    image_copy(&scene.actual, &scene.expected);
    for (int y = 0; y < 30; y += 2)
        for (int x = 0; x < 200; x++)
            *number(&scene.actual, x, y) = *number(&scene.expected, x, y) / 2;
    look(&scene);
    assert_says(&scene, "never too large, and ");
    assert_says(&scene, "% of what is to be counted is missing");

    image_copy(&scene.actual, &scene.expected);
    for (int y = 0; y < 30; y++) {
        *number(&scene.actual, 70 + y, y) -= 2;
        ++*number(&scene.actual, 71 + y, y);
        ++*number(&scene.actual, 90 + y, y);
    }
    look(&scene);
    assert_says(&scene, "each row has the right sum: what is counted goes to wrong places in its row");

    /* That most of it is 0 everywhere hides no shift. */
    image_fill(&scene.actual, 0);
    for (int y = 0; y < 30; y++)
        for (int x = 1; x < 200; x++)
            *number(&scene.actual, x, y) = *number(&scene.expected, x - 1, y);
    look(&scene);
    assert_says(&scene, "shifted by (1,0)");
    assert_int_equal(scene.certainty, CERTAINTY_SURE);

    /* Where the last row alone is wrong, that says more. */
    image_copy(&scene.actual, &scene.expected);
    for (int x = 0; x < 200; x++)
        *number(&scene.actual, x, 29) = 0;
    look(&scene);
    assert_says(&scene, "only the last of 30 rows, in which nothing is counted: a loop that ends too early?");

    image_copy(&scene.actual, &scene.expected);
    for (int y = 2; y < 30; y++) {
        --*number(&scene.actual, 70 + y, y);
        ++*number(&scene.actual, 71 + y, y);
    }
    look(&scene);
    assert_says(&scene, "each row has the right sum");

    /* What has another sum in each row, or is below 0, is no counter. */
    *number(&scene.expected, 100, 3) += 5;
    image_copy(&scene.actual, &scene.expected);
    *number(&scene.actual, 100, 3) -= 5;
    look(&scene);
    assert_null(strstr(scene.text, "counted"));
    image_copy(&scene.actual, &scene.expected);
    for (int y = 0; y < 30; y += 2)
        for (int x = y % 4; x < 200; x += 3)
            *number(&scene.actual, x, y) -= 1000;
    look(&scene);
    assert_null(strstr(scene.text, "counted"));
    close_scene(&scene);
}

/* A matrix of sums of products: each a little too small, by another share. */
static void test_sums_of_products(void **state)
{
    struct scene scene;

    (void)state;
    open_scene(&scene, 12, 12, 1, PIXEL_F64);
    scene.evidence.kind = SLOT_MATRIX;
    for (int y = 0; y < 12; y++)
        for (int x = 0; x < 12; x++) {
            double *right = (double *)image_row(&scene.expected, y) + x;

            *right = x == y ? 100 + x : (x * y) % 7 - 3;
            ((double *)image_row(&scene.actual, y))[x] = *right * (1 - 0.01 * ((x + y) % 5 + 1));
        }
    look(&scene);
    assert_says(&scene, "the diagonal is up to 5 % too small: sums leave something out");
    close_scene(&scene);
}

/* Twice what it should be, but where 0 is right there is 1: no factor makes that. */
static void test_no_factor_of_zero(void **state)
{
    struct scene scene;

    (void)state;
    open_scene(&scene, 12, 9, 1, PIXEL_F64);
    scene.evidence.kind = SLOT_MATRIX;
    for (int zeros = 0; zeros < 2; zeros++) {
        for (int y = 0; y < 9; y++)
            for (int x = 0; x < 12; x++) {
                double *right = (double *)image_row(&scene.expected, y) + x;

                *right = zeros && (x + y) % 3 == 0 ? 0 : 5 + x;
                ((double *)image_row(&scene.actual, y))[x] = *right == 0 ? 1 : 2 * *right;
            }
        look(&scene);
        assert_int_equal(strstr(scene.text, "every sample is 2 times what it should be") != NULL, !zeros);
    }
    close_scene(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_factor_of_zero),
        cmocka_unit_test(test_counts_and_names),
        cmocka_unit_test(test_sums_of_products),
        cmocka_unit_test(test_accumulators),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_a_few_pixels_prove_little),
        cmocka_unit_test(test_margin_does_not_count),
        cmocka_unit_test(test_never_written),
        cmocka_unit_test(test_displaced),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_floats),
        cmocka_unit_test(test_wider_types),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_picture),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
