/* What a training computes block by block, in vectors and from sums, against the definition of detect.h, window by
 * window: tables and normalisers of boosting, weights, and which windows of photographs the stages so far do not
 * reject. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka.h wants the three above first. */
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/image/pattern.h"
#include "common/train/detect_boost.h"
#include "common/train/detect_negatives.h"

enum { MOST_BINS = 256, LARGEST = DETECT_MAX_WINDOW * DETECT_MAX_WINDOW };

static uint64_t seed; /* each test sets it, so that none depends on another */

static int below(int limit)
{
    return (int)(pattern_random(&seed) % (uint64_t)limit);
}

/* --------------------------------------------------------------------------------------------------- windows */

/* Noise; few different values, so that many cells are equal; one value, which has no deviation; dark and bright halves,
 * which differ by more than the outermost bins; a ramp. */
static void draw_window(int window, uint8_t *pixels)
{
    const int kind = below(6), base = below(256), edge = 1 + below(window - 1), slope = 1 + below(8);

    for (int i = 0; i < window * window; i++) {
        const int x = i % window, y = i / window;

        pixels[i] = (uint8_t)(kind == 0   ? below(256)
                              : kind == 1 ? 100 + below(3)
                              : kind == 2 ? base
                              : kind == 3 ? (base % 2 ? x : y) < edge ? 0 : 255
                              : kind == 4 ? (x + y) * slope
                                          : base / 2 + below(20));
    }
}

static void add_windows(struct samples *samples, int count)
{
    uint8_t pixels[LARGEST];

    for (int i = 0; i < count; i++) {
        draw_window(samples->window, pixels);
        samples_add(samples, pixels, (size_t)samples->window, i % 3 == 0);
    }
}

/* Shares of 2^31 that differ by up to 2^36, so that some are 0 and some are nearly all. */
static void draw_weights(struct samples *samples)
{
    double parts[512], sum = 0;

    for (int i = 0; i < samples->count; i++)
        sum += parts[i] = ldexp(1 + below(1000) / 1000.0, -below(37));
    for (int i = 0; i < samples->count; i++)
        samples->weights[i] = (uint32_t)(parts[i] / sum * 0x1p31);
}

/* `count` windows behind which others were, whose planes and weights are still there. */
static void fill(struct samples *samples, int window, int count, int feature)
{
    const int dropped = below(150);

    assert_int_equal(samples_create(samples, window, count + dropped, feature), STATUS_OK);
    add_windows(samples, count + dropped);
    samples_transpose(samples, 2);
    for (int i = 0; i < samples->count; i++)
        samples->weights[i] = 1u << 30;
    for (int i = 0; i < dropped; i++) {
        int one = below(samples->count);

        while (!samples->alive[one])
            one = (one + 1) % samples->count;
        samples->alive[one] = false;
    }
    samples_drop(samples);
    assert_int_equal(samples->count, count);
    samples_transpose(samples, 3);
    draw_weights(samples);
}

/* -------------------------------------------------------------------------------------------------- boosting */

/* Weights by bin of one stage, by the definition. */
static void weigh_bins(const struct samples *samples, int feature, const struct detect_stage *stage, double *sums)
{
    const size_t area = (size_t)samples->window * (size_t)samples->window;

    for (int bin = 0; bin < MOST_BINS; bin++)
        sums[bin] = 0;
    for (int i = 0; i < samples->count; i++)
        sums[detect_stage_bin(feature, stage, samples->pixels + (size_t)i * area, (size_t)samples->window)] +=
            samples->weights[i];
}

/* The normaliser, and the table if it is asked for. */
static double evaluate(const struct samples sets[2], int feature, const struct detect_stage *stage, double *table)
{
    const double smoothing = 1.0 / (sets[0].count + sets[1].count);
    double sums[2][MOST_BINS], total[2] = {0, 0}, z = 0;

    for (int class = 0; class < 2; class ++) {
        weigh_bins(&sets[class], feature, stage, sums[class]);
        for (int bin = 0; bin < MOST_BINS; bin++)
            total[class] += sums[class][bin];
    }
    for (int bin = 0; bin < detect_feature_bins[feature]; bin++) {
        z += sqrt(sums[0][bin] / total[0] * (sums[1][bin] / total[1]));
        if (table)
            table[bin] = 0.5 * log((sums[0][bin] / total[0] + smoothing) / (sums[1][bin] / total[1] + smoothing));
    }
    return z;
}

struct choice {
    struct detect_stage stage;
    float table[MOST_BINS];
    double z;
};

static struct choice choose(const struct samples sets[2], int feature, int features, uint64_t of, int threads)
{
    struct choice choice;

    memset(&choice, 0, sizeof choice);
    assert_int_equal(
        boost_choose(&sets[0], &sets[1], feature, features, of, threads, &choice.stage, choice.table, &choice.z),
        STATUS_OK);
    return choice;
}

static void assert_as_defined(const struct samples sets[2], int feature, const struct choice *choice)
{
    double table[MOST_BINS];
    const double z = evaluate(sets, feature, &choice->stage, table);

    assert_true(detect_is_feature(feature, &choice->stage, sets[0].window));
    assert_true(fabs(choice->z - z) < 1e-9);
    for (int bin = 0; bin < detect_feature_bins[feature]; bin++)
        assert_true(fabs(choice->table[bin] - table[bin]) < 1e-5);
}

/* What the chosen features were: none of it may be left untried. */
struct seen {
    bool sizes[SAMPLES_CELLS], first[DETECT_CELLS], second[DETECT_CELLS], kinds[DETECT_HAAR_KINDS];
};

static void note(struct seen *seen, int feature, const struct detect_stage *stage)
{
    if (feature == DETECT_HAAR) {
        seen->kinds[stage->a] = true;
        return;
    }
    seen->sizes[samples_cell_kind(stage->width, stage->height)] = true;
    seen->first[stage->a] = seen->second[stage->b] = true;
}

static void assert_seen_all(const struct seen *seen, int feature)
{
    for (int i = 0; i < DETECT_HAAR_KINDS && feature == DETECT_HAAR; i++)
        assert_true(seen->kinds[i]);
    for (int i = 0; i < SAMPLES_CELLS && feature != DETECT_HAAR; i++)
        assert_true(seen->sizes[i]);
    for (int i = 0; i < DETECT_CELLS && (feature == DETECT_LRD || feature == DETECT_LRP); i++)
        assert_true(seen->first[i + (feature == DETECT_LRD && i == 8 ? -1 : 0)] &&
                    seen->second[i + (feature == DETECT_LRD && i == 0)]); /* of differences a < b */
}

/* Blocks that are full, that lack one sample or have one more, one place and more than a part of them, one thread and
 * more than there are parts. */
static void tables_are_those_of_the_definition(void **state)
{
    static const int counts[][2] = {{1, 127}, {128, 129}, {300, 1}, {127, 300}, {129, 128}, {1, 1}};
    static const int windows[] = {6, 7, 24};

    (void)state;
    seed = 1;
    for (int feature = 0; feature < DETECT_FEATURES; feature++) {
        struct seen seen = {0};

        for (int k = 0; k < (int)(sizeof counts / sizeof *counts); k++)
            for (int w = 0; w < (int)(sizeof windows / sizeof *windows); w++) {
                const int window = w == 0 && k == 0 ? DETECT_MAX_WINDOW : windows[w];
                struct samples sets[2];

                for (int class = 0; class < 2; class ++)
                    fill(&sets[class], window, counts[k][class], feature);
                for (int i = 0; i < 10; i++) {
                    const int features = i == 0 ? 400 : 1 + below(12);
                    const uint64_t of = pattern_random(&seed);
                    const struct choice one = choose(sets, feature, features, of, 1);

                    assert_as_defined(sets, feature, &one);
                    note(&seen, feature, &one.stage);
                    for (int threads = 2; threads <= 7 && i < 2; threads += 5) {
                        const struct choice other = choose(sets, feature, features, of, threads);

                        assert_memory_equal(&one, &other, sizeof one);
                    }
                }
                for (int class = 0; class < 2; class ++)
                    samples_free(&sets[class]);
            }
        assert_seen_all(&seen, feature);
    }
}

/* Of all places of a window of six pixels the best is chosen; LBP has no parameters but its place. More features of one
 * seed are those of before and others, so the normaliser never grows. */
static void the_best_is_chosen(void **state)
{
    enum { WINDOW = 6, PLACES = 25 };

    (void)state;
    seed = 2;
    for (int feature = 0; feature < DETECT_FEATURES; feature++) {
        struct samples sets[2];
        double before = INFINITY;
        int better = 0;

        for (int class = 0; class < 2; class ++)
            fill(&sets[class], WINDOW, 150, feature);
        for (int features = 1; features <= 20 * PLACES; features += features < 12 ? 1 : 24) {
            const struct choice choice = choose(sets, feature, features, 5, 2);

            assert_as_defined(sets, feature, &choice);
            assert_true(choice.z <= before);
            better += choice.z < before;
            before = choice.z;
        }
        assert_true(better > 0);
        double best = INFINITY;
        for (int place = 0; place < SAMPLES_CELLS * WINDOW * WINDOW; place++) {
            const struct detect_stage stage = {.width = (uint8_t)(1 + place % 2),
                                               .height = (uint8_t)(1 + place / 2 % 2),
                                               .x = (uint8_t)(place / 4 % WINDOW),
                                               .y = (uint8_t)(place / 4 / WINDOW)};
            if (detect_is_feature(DETECT_LBP, &stage, WINDOW))
                best = fmin(best, evaluate(sets, DETECT_LBP, &stage, NULL));
        }
        for (uint64_t of = 0; of < 100 && feature == DETECT_LBP; of++) /* each place is now the first, now the last */
            assert_true(fabs(choose(sets, feature, PLACES, of, 2).z - best) < 1e-9);
        for (int class = 0; class < 2; class ++)
            samples_free(&sets[class]);
    }
}

/* Responses from -30 to 30, so that weights differ by e^60 and most of them are 0. */
static void weights_are_exponentials(void **state)
{
    enum { COUNT = 200 };
    struct samples samples;

    (void)state;
    seed = 3;
    assert_int_equal(samples_create(&samples, DETECT_MIN_WINDOW, COUNT, DETECT_LBP), STATUS_OK);
    add_windows(&samples, COUNT);
    samples_transpose(&samples, 1);
    for (int i = 0; i < COUNT; i++) {
        samples.responses[i] = (float)(below(601) - 300) / 10;
        samples.alive[i] = below(4) > 0;
    }
    for (int sign = -1; sign <= 1; sign += 2) {
        double all = 0, whole = 0;

        samples_weigh(&samples, sign);
        for (int i = 0; i < COUNT; i++)
            all += samples.alive[i] ? exp(-sign * (double)samples.responses[i]) : 0;
        for (int i = 0; i < COUNT; i++) {
            const double share = samples.alive[i] ? exp(-sign * (double)samples.responses[i]) / all : 0;

            assert_true(fabs(samples.weights[i] - share * 0x1p31) <= 1);
            whole += samples.weights[i];
        }
        assert_true(whole <= 0x1p31 && whole > 0x1p31 - COUNT);
        for (int i = COUNT; i < samples_blocks(&samples) * SAMPLES_BLOCK; i++)
            assert_int_equal(samples.weights[i], 0);
    }
    samples_free(&samples);
}

/* ---------------------------------------------------------------------------------------------------- mining */

enum { MODEL_STAGES = 12, MODEL_WINDOW = 9, JOBS = 32, ROOM = 4096 };

/* Stages anywhere in the window, of which each rejects some. */
static struct detect_model *draw_model(int feature)
{
    const int bins = detect_feature_bins[feature], window = MODEL_WINDOW;
    struct detect_model *model =
        calloc(1, sizeof *model + MODEL_STAGES * (sizeof(struct detect_stage) + (size_t)bins * sizeof(float)));

    assert_non_null(model);
    *model = (struct detect_model){(uint32_t)feature, MODEL_WINDOW, MODEL_STAGES, (uint32_t)bins};
    for (int t = 0; t < MODEL_STAGES; t++) {
        struct detect_stage *stage = (struct detect_stage *)&detect_stages(model)[t];

        do
            *stage = (struct detect_stage){.x = (uint8_t)below(window),
                                           .y = (uint8_t)below(window),
                                           .width = (uint8_t)(1 + below(feature == DETECT_HAAR ? window : 2)),
                                           .height = (uint8_t)(1 + below(feature == DETECT_HAAR ? window : 2)),
                                           .a = (uint8_t)(feature == DETECT_HAAR  ? t % DETECT_HAAR_KINDS
                                                          : feature == DETECT_LBP ? 0
                                                                                  : below(DETECT_CELLS)),
                                           .b = (uint8_t)(feature == DETECT_HAAR  ? window
                                                          : feature == DETECT_LBP ? 0
                                                                                  : below(DETECT_CELLS))};
        while (!detect_is_feature(feature, stage, window));
        stage->threshold = (float)(-0.4 - 0.1 * t);
        for (int bin = 0; bin < bins; bin++)
            ((float *)detect_tables(model))[t * bins + bin] = (float)(below(2001) - 1000) / 1000;
    }
    return model;
}

/* Noise over blocks, of sizes and shapes of which some are hardly larger than the window. */
static void draw_photographs(struct photographs *photographs)
{
    static const int sizes[][2] = {{60, 41}, {11, 90}, {75, 12}, {64, 64}, {8, 70}};
    enum { COUNT = sizeof sizes / sizeof *sizes };

    *photographs =
        (struct photographs){.items = calloc(COUNT, sizeof *photographs->items), .count = COUNT, .capacity = COUNT};
    assert_non_null(photographs->items);
    for (int k = 0; k < COUNT; k++) {
        struct image *picture = &photographs->items[k];

        assert_int_equal(image_create(picture, sizes[k][0], sizes[k][1], 1, PIXEL_U8), STATUS_OK);
        for (int y = 0; y < picture->height; y++)
            for (int x = 0; x < picture->width; x++)
                ((uint8_t *)image_row(picture, y))[x] = (uint8_t)(x / (3 + k) * 57 % 90 + y / 4 * 31 % 80 + below(80));
    }
}

/* One batch of jobs, each of which looks at less than 48 windows and so keeps all that pass. */
static void mine_batch(const struct photographs *photographs, const struct detect_model *model, int stages, int threads,
                       struct mining *mining, struct samples *samples)
{
    struct samples held = {.window = MODEL_WINDOW};

    *mining = (struct mining){.passing = 1};
    assert_int_equal(samples_create(samples, MODEL_WINDOW, ROOM, SAMPLES_NO_SEARCH), STATUS_OK);
    assert_int_equal(mine(photographs, model, stages, 77, threads, JOBS, ROOM, mining, samples, &held), STATUS_OK);
    assert_int_equal(mining->jobs, JOBS);
    assert_true(samples->count < ROOM);
}

/* With no stage all windows pass that are looked at. With some, those and no others that samples_evaluate() leaves
 * alive, in order. */
static void mined_windows_pass(void **state)
{
    const size_t area = MODEL_WINDOW * MODEL_WINDOW;
    struct photographs photographs;

    (void)state;
    seed = 4;
    draw_photographs(&photographs);
    for (int feature = 0; feature < DETECT_FEATURES; feature++) {
        struct detect_model *model = draw_model(feature);
        struct samples all;
        struct mining mining;

        mine_batch(&photographs, model, 0, 2, &mining, &all);
        assert_true(all.count > 300);
        assert_true(mining.windows == all.count && mining.stages == 0);
        for (int stages = 1; stages <= MODEL_STAGES; stages++) {
            struct samples passed;
            double went_through = 0;
            int next = 0;

            mine_batch(&photographs, model, stages, stages % 4 + 1, &mining, &passed);
            for (int t = 1; t <= stages; t++) { /* those that are left after t - 1 stages see stage t */
                samples_evaluate(&all, 0, model, t - 1, 2);
                went_through += samples_alive(&all);
            }
            samples_evaluate(&all, 0, model, stages, 2);
            for (int i = 0; i < all.count; i++)
                if (all.alive[i]) {
                    assert_true(next < passed.count);
                    assert_memory_equal(all.pixels + (size_t)i * area, passed.pixels + (size_t)next++ * area, area);
                }
            assert_int_equal(next, passed.count);
            assert_true(stages > 3 || passed.count > 20);
            assert_true(stages < MODEL_STAGES || passed.count < all.count);
            assert_true(mining.windows == all.count && mining.stages == went_through);
            assert_true(fabs(mining.passing - (passed.count + 1.0) / all.count) < 1e-12);
            samples_free(&passed);
        }
        samples_free(&all);
        free(model);
    }
    photographs_free(&photographs);
}

/* When few pass, all windows are looked at, in all levels, and of more than a job may give each is as likely to stay;
 * still, all that stay must pass. Every third is held out while there is room. */
static void mined_windows_are_alive(void **state)
{
    enum { THIRD = 3, HELD = 40 };
    struct photographs photographs;

    (void)state;
    seed = 5;
    draw_photographs(&photographs);
    for (int feature = 0; feature < DETECT_FEATURES; feature++) {
        struct detect_model *model = draw_model(feature);
        struct samples samples[2], held[2];

        for (int i = 0; i < 2; i++) {
            struct mining mining = {.passing = 1e-4};

            assert_int_equal(samples_create(&samples[i], MODEL_WINDOW, 500, feature), STATUS_OK);
            assert_int_equal(samples_create(&held[i], MODEL_WINDOW, HELD, SAMPLES_NO_SEARCH), STATUS_OK);
            assert_int_equal(
                mine(&photographs, model, 3, 9, 1 + 2 * i, 4 * JOBS, THIRD, &mining, &samples[i], &held[i]), STATUS_OK);
            assert_int_equal(samples[i].count, 500);
            assert_int_equal(held[i].count, HELD);
            assert_true(mining.windows > 20000);
            samples_evaluate(&samples[i], 0, model, 3, 2);
            samples_evaluate(&held[i], 0, model, 3, 2);
            assert_int_equal(samples_alive(&samples[i]), 500);
            assert_int_equal(samples_alive(&held[i]), HELD);
        }
        assert_memory_equal(samples[0].pixels, samples[1].pixels, 500 * MODEL_WINDOW * MODEL_WINDOW);
        assert_memory_equal(held[0].pixels, held[1].pixels, HELD * MODEL_WINDOW * MODEL_WINDOW);
        for (int i = 0; i < 2; i++) {
            samples_free(&samples[i]);
            samples_free(&held[i]);
        }
        free(model);
    }
    photographs_free(&photographs);
}

/* A photograph that grows brighter by as much to the right as downwards does so in each window of it, whatever the
 * level, towards one of four corners. */
static void windows_are_of_the_photograph(void **state)
{
    enum {
        SIDE = 80,
        SLOPE = 2,
        LAST = MODEL_WINDOW - 2
    }; /* the outermost pixel of a level is nearly a copy of its neighbour */
    struct photographs photographs = {.items = calloc(1, sizeof(struct image)), .count = 1, .capacity = 1};
    struct detect_model *model = draw_model(DETECT_LBP);
    struct samples samples;
    struct mining mining;
    int towards[4] = {0};

    (void)state;
    seed = 6;
    assert_non_null(photographs.items);
    assert_int_equal(image_create(photographs.items, SIDE, SIDE / 2, 1, PIXEL_U8), STATUS_OK);
    for (int y = 0; y < SIDE / 2; y++)
        for (int x = 0; x < SIDE; x++)
            ((uint8_t *)image_row(photographs.items, y))[x] = (uint8_t)(SLOPE * (x + y));
    mine_batch(&photographs, model, 0, 2, &mining, &samples);
    for (int i = 0; i < samples.count; i++) {
        const uint8_t *pixels = samples.pixels + (size_t)i * MODEL_WINDOW * MODEL_WINDOW;
        const uint8_t *first = pixels + MODEL_WINDOW + 1;
        const int right = first[LAST - 1] - first[0], down = first[(LAST - 1) * MODEL_WINDOW] - first[0];

        towards[(right > 0) * 2 + (down > 0)]++;
        assert_true(abs(right) >= SLOPE * (LAST - 1) && abs(abs(right) - abs(down)) <= 3);
        for (int y = 1; y <= LAST; y++)
            for (int x = 1; x <= LAST; x++) {
                const double expected = first[0] + (right * (x - 1) + down * (y - 1)) / (LAST - 1.0);

                assert_true(fabs(pixels[y * MODEL_WINDOW + x] - expected) <= 3);
            }
    }
    for (int k = 0; k < 4; k++)
        assert_true(towards[k] > 20);
    samples_free(&samples);
    photographs_free(&photographs);
    free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_those_of_the_definition),
        cmocka_unit_test(the_best_is_chosen),
        cmocka_unit_test(weights_are_exponentials),
        cmocka_unit_test(mined_windows_pass),
        cmocka_unit_test(mined_windows_are_alive),
        cmocka_unit_test(windows_are_of_the_photograph),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
