/* All labellings give the same for 500 random masks (odd sizes, densities from 2 to 98 %, squares of 1 to 4 pixels) and
 * for the shapes whose labels have furthest to travel, of both connectivities, with numbers and statistics where a
 * version knows them; on the CPU also for pictures whose labels go past the caches.
 * As a unit test it has the versions on the CPU; `make labelling-masks` links it with all of them, which takes minutes
 * in the emulator, and says what each has done.
 * usage: labelling-masks [VERSION...]    cuda/v2.4, or cuda, which stands for all that begin with it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka.h wants the three above first. */
#include <cmocka.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/algo/labelling.h"
#include "common/contract/device_info.h"
#include "common/image/pattern.h"

enum { MASKS = 500, ROWS = 40 };

static const struct algorithm *algorithm;
static char **wanted; /* the versions that were asked for, NULL-terminated; NULL: all, without a word */

/* A number from 0 to below. */
static int any(uint64_t *random, int below)
{
    return (int)(pattern_random(random) % (uint64_t)below);
}

/* Squares of grain pixels, so many of a hundred not 0. */
static void fill(struct image *mask, uint64_t *random, int density, int grain)
{
    const int width = mask->width, height = mask->height;

    image_fill(mask, 0);
    for (int top = 0; top < height; top += grain)
        for (int left = 0; left < width; left += grain) {
            const int value = any(random, 100) < density ? 1 + any(random, 255) : 0;
            for (int y = top; y < top + grain && y < height; y++)
                for (int x = left; x < left + grain && x < width; x++)
                    ((uint8_t *)image_row(mask, y))[x] = (uint8_t)value;
        }
}

/* Every second mask is wide, so that a row has several words of 64 pixels and ends in the middle of one. */
static void draw(struct image *mask, uint64_t *random, int number)
{
    const int width = 1 + 2 * any(random, number % 2 ? 150 : 40), height = 1 + 2 * any(random, number % 2 ? 20 : 40);
    const int density = 2 + any(random, 97), grain = 1 + any(random, 4);

    assert_int_equal(image_create(mask, width, height, 1, PIXEL_U8), STATUS_OK);
    fill(mask, random, density, grain);
}

static void create_outputs(const struct image *mask, const struct labelling_params *params, struct image out[2])
{
    memset(out, 0, 2 * sizeof *out);
    assert_int_equal(image_create(&out[0], mask->width, mask->height, 1, PIXEL_I32), STATUS_OK);
    if (params->statistics)
        assert_int_equal(image_create(&out[1], BOXES_COLUMNS, ROWS + 1, 1, PIXEL_I32), STATUS_OK);
}

static void free_outputs(struct image out[2])
{
    image_free(&out[0]);
    image_free(&out[1]);
}

static bool run_version(const struct version *version, const struct image *mask, struct image got[2],
                        const struct labelling_params *params)
{
    void *state = calloc(1, version->state_size + 1);
    enum status status;

    assert_non_null(state);
    status = version->run(state, mask, got, params);
    if (version->teardown)
        version->teardown(state);
    free(state);
    return status == STATUS_OK;
}

/* The first row that differs, or -1. */
static int different_row(const struct image *expected, const struct image *got)
{
    for (int y = 0; expected->data && y < expected->height; y++)
        if (memcmp(image_row(expected, y), image_row(got, y), (size_t)expected->width * sizeof(int32_t)) != 0)
            return y;
    return -1;
}

/* What one version has done. */
struct record {
    const struct version *version;
    int masks, shapes, calls, failed, numbered; /* numbered: calls with numbers or statistics */
    const char *declined;                       /* why it passed one over */
};

/* Compares a version with cpu/serial on one mask, of both connectivities: with these numbers and statistics where it
 * knows them, without elsewhere. */
static bool try_mask(struct record *record, const struct image *mask, const char *name, bool consecutive,
                     bool statistics)
{
    struct version *const *versions;
    size_t count;
    bool tried = false;

    registry_versions(algorithm, &versions, &count);
    for (int connectivity = 4; connectivity <= 8; connectivity += 4) {
        struct labelling_params params = {connectivity, consecutive, statistics, ROWS};
        const char *(*const declines)(const struct image in[], const void *params) = record->version->declines;
        const char *reason = NULL;
        struct image expected[2], got[2];
        int row, table_row;

        if (declines && declines(mask, &params))
            params.consecutive = params.statistics = 0;
        if (declines && (reason = declines(mask, &params))) {
            record->declined = reason;
            continue;
        }
        create_outputs(mask, &params, expected);
        create_outputs(mask, &params, got);
        assert_int_equal(versions[0]->run(NULL, mask, expected, &params), STATUS_OK);
        tried = true;
        record->calls++;
        record->numbered += params.consecutive || params.statistics;
        if (!run_version(record->version, mask, got, &params)) {
            record->failed++;
            print_error("FAIL %s: %s: %s\n", record->version->source->id, name, status_message());
        } else if ((row = different_row(&expected[0], &got[0])) >= 0 ||
                   (table_row = different_row(&expected[1], &got[1])) >= 0) {
            record->failed++;
            print_error("FAIL %s: %s, %dx%d, connectivity=%d consecutive=%d statistics=%d: other %s in row %d\n",
                        record->version->source->id, name, mask->width, mask->height, connectivity, params.consecutive,
                        params.statistics, row >= 0 ? "labels" : "statistics", row >= 0 ? row : table_row);
        }
        free_outputs(expected);
        free_outputs(got);
    }
    return tried;
}

static void try_masks(struct record *record)
{
    uint64_t random = 500;

    for (int number = 0; number < MASKS; number++) {
        struct image mask;
        char name[32];

        snprintf(name, sizeof name, "mask %d", number);
        omp_set_num_threads(number % 10 == 0 ? 3 : 1); /* one has four bands, too, and waits for nobody */
        draw(&mask, &random, number);
        record->masks += try_mask(record, &mask, name, number % 3 == 0, number % 5 == 0);
        image_free(&mask);
    }
}

/* Emulated, a label that moves a pixel a pass takes minutes through a large snake. The unit test leaves large ones to
 * check. */
static void try_shapes(struct record *record)
{
    static const int sizes[][2] = {{43, 37}, {7, 65}, {131, 15}, {301, 259}, {2177, 33}, {41, 2113}};
    const int count = !wanted || (version_is_cuda(record->version) && device_is_emulated()) ? 3 : 6;
    const struct hard_case *last = NULL;

    for (const struct hard_case *hard = algorithm->hard_cases; hard->name; last = hard++)
        for (int i = 0; i < count && !(last && strcmp(last->name, hard->name) == 0); i++) {
            struct input_request request = {
                .width = sizes[i][0], .height = sizes[i][1], .channels = 1, .seed = 500, .hard_case = hard->name};
            struct image mask;

            omp_set_num_threads(i % 2 ? 3 : 1);
            assert_int_equal(algorithm->make_inputs(&request, &mask), STATUS_OK);
            record->shapes += try_mask(record, &mask, hard->name, i % 3 == 0, i % 2 == 0);
            image_free(&mask);
        }
}

/* Columns, of which the last row joins so many of a hundred to the next one: what all bands but the last took for two
 * components is one. They are 1 to 5 pixels wide and 1 to 3 apart, so that some lie in two words of 64 pixels. */
static void draw_comb(struct image *mask, uint64_t *random, int joined)
{
    image_fill(mask, 0);
    for (int x = any(random, 3), next; x < mask->width; x = next) {
        const int end = x + 1 + any(random, 5), bottom = any(random, 100) < joined ? mask->height - 1 : mask->height;

        next = end + 1 + any(random, 3);
        for (int y = 0; y < mask->height; y++)
            for (int i = x; i < (y < bottom ? end : next) && i < mask->width; i++)
                ((uint8_t *)image_row(mask, y))[i] = 1;
    }
}

/* More than 1 MiB of labels in rows that begin with a vector: they are written past the caches
 * (cpu/labelling/shared/lanes.h). */
static void try_large(struct record *record)
{
    static const struct {
        const char *name;
        bool comb;
        int threads, density, grain;
    } larges[] = {{"large comb", true, 2, 100, 0},
                  {"large comb of few joints", true, 3, 8, 0},
                  {"another large comb of few joints", true, 2, 8, 0},
                  {"large noise of 41 %", false, 2, 41, 1},
                  {"large noise of 59 %", false, 3, 59, 1},
                  {"large noise in squares of 9", false, 2, 50, 9}};
    uint64_t random = 500;

    for (size_t i = 0; i < sizeof larges / sizeof *larges; i++) {
        struct image mask;

        assert_int_equal(image_create(&mask, 1152, 273, 1, PIXEL_U8), STATUS_OK);
        if (larges[i].comb)
            draw_comb(&mask, &random, larges[i].density);
        else
            fill(&mask, &random, larges[i].density, larges[i].grain);
        omp_set_num_threads(larges[i].threads);
        for (int kind = 0; kind < 2; kind++)
            record->shapes += try_mask(record, &mask, larges[i].name, kind == 1, kind == 1);
        image_free(&mask);
    }
}

/* Peers number in another way. */
static bool is_asked_for(const struct version *version)
{
    bool found = !wanted;

    for (char **prefix = wanted; prefix && *prefix; prefix++)
        found |= strncmp(version->source->id, *prefix, strlen(*prefix)) == 0;
    return found && strncmp(version->source->id, "peer/", 5) != 0;
}

static void say(const struct record *record)
{
    const char *id = record->version->source->id;

    if (!record->failed)
        print_message(
            "%s: %d random masks and %d worst cases in %d calls of connectivity 4 and 8, %d of them with numbers or "
            "statistics, all equal%s%s\n",
            id, record->masks, record->shapes, record->calls, record->numbered,
            record->declined ? "; of the others it says: " : "", record->declined ? record->declined : "");
    fflush(stdout);
}

static void versions_agree(void **state)
{
    struct version *const *versions;
    size_t count;
    int tried = 0, failed = 0;

    (void)state;
    registry_versions(algorithm, &versions, &count);
    assert_string_equal(versions[0]->source->id, "cpu/serial");
    for (size_t v = 1; v < count; v++) {
        struct record record = {.version = versions[v]};

        if (!is_asked_for(versions[v]))
            continue;
        try_masks(&record);
        try_shapes(&record);
        if (!version_is_cuda(versions[v]))
            try_large(&record);
        if (wanted)
            say(&record);
        tried += record.masks == MASKS;
        failed += record.failed > 0;
    }
    if (wanted)
        print_message("beside cpu/serial %d version%s, %d failed\n", tried, tried == 1 ? "" : "s", failed);
    assert_int_equal(failed, 0);
    assert_true(tried > 0);
}

/* An i32 holds the label of the last pixel, and there are no more pixels: whatever the sides, nothing is allocated
 * before. */
static void more_pixels_than_labels_are_refused(void **state)
{
    static const struct {
        int width, height;
        bool fits;
    } sizes[] = {{65535, 65535, false}, {46341, 46341, false}, {65535, 32769, false}, {32769, 65535, false},
                 {65535, 32768, true},  {32768, 65535, true},  {46340, 46341, true},  {1, 65535, true}};
    const struct labelling_params params = {.connectivity = 8, .statistics = 1, .max_components = ROWS};

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const struct image in = {.width = sizes[i].width, .height = sizes[i].height, .channels = 1, .type = PIXEL_U8};
        struct image out[2] = {{0}, {0}};
        const enum status status = algorithm->shape(&in, &params, out);

        assert_int_equal(status, sizes[i].fits ? STATUS_OK : STATUS_BAD_INPUT);
        if (sizes[i].fits)
            assert_true(out[0].width == in.width && out[0].height == in.height && out[0].type == PIXEL_I32);
        else
            assert_string_equal(status_message(),
                                "labelling takes at most 2^31-1 pixels, so that an i32 holds every label");
    }
}

/* Labels of more than 1 MB, which some versions write past the caches where rows lie at whole lines: in an image of its
 * own, and as a window that begins 4 bytes behind a line, with what lies around it left as it was. */
static void large_labels_stay_in_their_window(void **state)
{
    const struct labelling_params params = {.connectivity = 8};
    struct version *const *versions;
    struct image mask, wide, expected;
    uint64_t random = 7;
    size_t count;

    (void)state;
    assert_int_equal(image_create(&mask, 577, 463, 1, PIXEL_U8), STATUS_OK);
    assert_int_equal(image_create(&wide, 601, 463, 1, PIXEL_I32), STATUS_OK);
    assert_int_equal(image_create(&expected, 577, 463, 1, PIXEL_I32), STATUS_OK);
    for (int y = 0; y < mask.height; y++)
        for (int x = 0; x < mask.width; x++)
            ((uint8_t *)image_row(&mask, y))[x] = (x / 70 + y / 70) % 3 ? any(&random, 9) > 0 : any(&random, 9) == 0;
    registry_versions(algorithm, &versions, &count);
    assert_int_equal(versions[0]->run(NULL, &mask, &expected, &params), STATUS_OK);
    for (size_t v = 1; v < count; v++) {
        if (strncmp(versions[v]->source->id, "cpu/", 4) != 0 ||
            (versions[v]->declines && versions[v]->declines(&mask, &params)))
            continue;
        for (int shift = 0; shift < 2; shift++) {
            struct image window[2] = {wide, {0}};

            window->width = mask.width;
            window->data = (int32_t *)wide.data + shift;
            image_fill(&wide, 0xab);
            omp_set_num_threads(1 + shift);
            assert_true(run_version(versions[v], &mask, window, &params));
            if (different_row(&expected, window) >= 0)
                fail_msg("%s: other labels in row %d", versions[v]->source->id, different_row(&expected, window));
            for (int y = 0; y < wide.height; y++)
                for (int x = 0; x < wide.width; x++)
                    if ((x < shift || x >= shift + mask.width) && ((uint32_t *)image_row(&wide, y))[x] != 0xabababab)
                        fail_msg("%s writes beside its window, at %d,%d", versions[v]->source->id, x - shift, y);
        }
    }
    image_free(&mask);
    image_free(&wide);
    image_free(&expected);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(versions_agree),
                                       cmocka_unit_test(more_pixels_than_labels_are_refused),
                                       cmocka_unit_test(large_labels_stay_in_their_window)};

    if (registry_open() != STATUS_OK || !(algorithm = registry_find_algorithm("labelling")))
        return 1;
    wanted = argc > 1 ? argv + 1 : NULL;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
