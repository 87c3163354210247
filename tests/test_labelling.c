/* All labellings give the same for 500 random masks: odd sizes, densities from 2 to 98 %, squares of 1 to 4 pixels, both
 * connectivities, with numbers and statistics where a version knows them. As a unit test it has the versions on the CPU;
 * `make labelling-masks` links it with all of them, which takes minutes in the emulator. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka.h wants the three above first. */
#include <cmocka.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "common/algo/labelling.h"
#include "common/image/pattern.h"

enum { MASKS = 500, ROWS = 40 };

static const struct algorithm *algorithm;

/* A number from 0 to below. */
static int any(uint64_t *random, int below)
{
    return (int)(pattern_random(random) % (uint64_t)below);
}

/* Every second mask is wide, so that a row has several words of 64 pixels and ends in the middle of one. */
static void draw(struct image *mask, uint64_t *random, int number)
{
    const int width = 1 + 2 * any(random, number % 2 ? 150 : 40), height = 1 + 2 * any(random, number % 2 ? 20 : 40);
    const int density = 2 + any(random, 97), grain = 1 + any(random, 4);

    assert_int_equal(image_create(mask, width, height, 1, PIXEL_U8), STATUS_OK);
    image_fill(mask, 0);
    for (int top = 0; top < height; top += grain)
        for (int left = 0; left < width; left += grain) {
            const int value = any(random, 100) < density ? 1 + any(random, 255) : 0;
            for (int y = top; y < top + grain && y < height; y++)
                for (int x = left; x < left + grain && x < width; x++)
                    ((uint8_t *)image_row(mask, y))[x] = (uint8_t)value;
        }
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

static void assert_same(const char *id, int number, const struct image *expected, const struct image *got)
{
    for (int y = 0; expected->data && y < expected->height; y++)
        if (memcmp(image_row(expected, y), image_row(got, y), (size_t)expected->width * sizeof(int32_t)) != 0)
            fail_msg("%s: mask %d, %dx%d, differs in row %d", id, number, expected->width, expected->height, y);
}

static void run_version(const struct version *version, const struct image *mask, struct image got[2],
                        const struct labelling_params *params)
{
    void *state = calloc(1, version->state_size + 1);

    assert_non_null(state);
    if (version->run(state, mask, got, params) != STATUS_OK)
        fail_msg("%s: %s", version->source->id, status_message());
    if (version->teardown)
        version->teardown(state);
    free(state);
}

/* Peers number in another way. */
static bool is_rung(const struct version *version)
{
    return strncmp(version->source->id, "peer/", 5) != 0;
}

static void versions_agree_on_random_masks(void **state)
{
    struct version *const *versions;
    uint64_t random = 500;
    size_t count, compared = 0;

    (void)state;
    registry_versions(algorithm, &versions, &count);
    assert_string_equal(versions[0]->source->id, "cpu/serial");
    for (int number = 0; number < MASKS; number++) {
        const struct labelling_params params = {.connectivity = number % 4 < 2 ? 8 : 4,
                                                .consecutive = number % 3 == 0,
                                                .statistics = number % 5 == 0,
                                                .max_components = ROWS};
        struct image mask, expected[2], got[2];

        omp_set_num_threads(number % 10 == 0 ? 3 : 1); /* one has four bands, too, and waits for nobody */
        draw(&mask, &random, number);
        create_outputs(&mask, &params, expected);
        assert_int_equal(versions[0]->run(NULL, &mask, expected, &params), STATUS_OK);
        for (size_t v = 1; v < count; v++) {
            if (!is_rung(versions[v]) || (versions[v]->declines && versions[v]->declines(&mask, &params)))
                continue;
            create_outputs(&mask, &params, got);
            run_version(versions[v], &mask, got, &params);
            assert_same(versions[v]->source->id, number, &expected[0], &got[0]);
            assert_same(versions[v]->source->id, number, &expected[1], &got[1]);
            free_outputs(got);
            compared++;
        }
        free_outputs(expected);
        image_free(&mask);
    }
    assert_true(compared > MASKS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(versions_agree_on_random_masks)};

    if (registry_open() != STATUS_OK || !(algorithm = registry_find_algorithm("labelling")))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
