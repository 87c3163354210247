/* Model files that are hostile or damaged, the hand-made model of the goldens, and what a training promises: the same
 * model whatever the threads, also when it goes on from a checkpoint. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka.h wants the three above first. */
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/algo/detect.h"
#include "common/core/file.h"
#include "common/core/paths.h"
#include "common/image/image_io.h"
#include "common/image/pattern.h"

static const struct algorithm *algorithm;
static char folder[] = "/tmp/rungs_detect_XXXXXX";

enum { WINDOW = 6, STAGES = 2, BINS = 17 };

struct hand {
    struct detect_model head;
    struct detect_stage stages[STAGES];
    float tables[STAGES][BINS];
};

static struct hand hand_model(void)
{
    struct hand hand = {.head = {.feature = DETECT_LRD, .window = WINDOW, .stages = STAGES, .bins = BINS}};

    for (int t = 0; t < STAGES; t++) {
        hand.stages[t] = (struct detect_stage){.width = 2, .height = 2, .a = 0, .b = 8};
        for (int bin = 0; bin < BINS; bin++)
            hand.tables[t][bin] = (float)(bin - 8) / (t ? 4 : 1);
    }
    return hand;
}

static const char *in_folder(const char *name)
{
    static char path[256];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* All bytes of a file, to be freed. */
static uint8_t *read_all(const char *path, size_t *size)
{
    uint64_t length = 0;
    FILE *stream = NULL;
    uint8_t *bytes;

    assert_int_equal(file_open(path, &stream, &length), STATUS_OK);
    bytes = malloc(length);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, length, stream), length);
    fclose(stream);
    *size = length;
    return bytes;
}

static void write_all(const char *path, const void *bytes, size_t size)
{
    FILE *stream = fopen(path, "wb");

    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, size, stream), size);
    fclose(stream);
}

/* Whether detect refuses these bytes as a model, with a message that names the file. */
static bool is_refused(const void *bytes, size_t size)
{
    const char *path = in_folder("hostile.model");
    size_t loaded = 0;
    void *data = NULL;
    enum status status;

    write_all(path, bytes, size);
    status = detect_load_model(path, &data, &loaded);
    free(data);
    return status == STATUS_BAD_INPUT && strstr(status_message(), path) && !strchr(status_message(), '\n');
}

static void the_hand_made_model(void **state)
{
    const struct hand hand = hand_model();
    char path[4096];
    size_t size, own_size, loaded = 0;
    uint8_t *bytes, *own;
    void *data = NULL;

    (void)state;
    snprintf(path, sizeof path, "%s/common/algo/detect/hand.model", paths_root());
    bytes = read_all(path, &size);
    assert_int_equal(detect_save_model(in_folder("own.model"), &hand.head), STATUS_OK);
    own = read_all(in_folder("own.model"), &own_size);
    assert_int_equal(size, own_size);
    assert_memory_equal(bytes, own, size);
    assert_int_equal(detect_load_model(path, &data, &loaded), STATUS_OK);
    assert_int_equal(loaded, sizeof hand);
    assert_memory_equal(data, &hand, sizeof hand);
    free(data);
    free(bytes);
    free(own);
}

static void damaged_models(void **state)
{
    const struct hand hand = hand_model();
    size_t size;
    uint8_t *bytes;

    (void)state;
    assert_int_equal(detect_save_model(in_folder("own.model"), &hand.head), STATUS_OK);
    bytes = read_all(in_folder("own.model"), &size);
    for (size_t i = 1; i < size; i++)
        assert_true(is_refused(bytes, i));
    for (size_t i = 0; i < size; i++)
        for (int bit = 0; bit < 8; bit++) {
            bytes[i] ^= (uint8_t)(1 << bit);
            assert_true(is_refused(bytes, size));
            bytes[i] ^= (uint8_t)(1 << bit);
        }
    bytes = realloc(bytes, size + 1);
    assert_non_null(bytes);
    bytes[size] = 0;
    assert_true(is_refused(bytes, size + 1));
    free(bytes);
    assert_true(is_refused("P5 2 2 255 abcd, a picture and no model of anything", 50));
}

/* Files with a right checksum whose content is impossible: detect_save_model() writes what it is given. */
static void hostile_models(void **state)
{
    enum { CASES = 17 };

    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct hand hand = hand_model();
        struct detect_stage *stage = &hand.stages[1];
        size_t size;
        uint8_t *bytes;

        switch (i) {
        case 0:
            hand.head.feature = DETECT_FEATURES;
            break;
        case 1:
            hand.head.feature = DETECT_LBP;
            break;
        case 2:
            hand.head.window = DETECT_MIN_WINDOW - 1;
            break;
        case 3:
            hand.head.window = DETECT_MAX_WINDOW + 1;
            break;
        case 4:
            hand.head.stages = 0;
            break;
        case 5:
            hand.head.bins = BINS - 1;
            break;
        case 6:
            stage->x = 1;
            break;
        case 7:
            stage->y = 255;
            break;
        case 8:
            stage->width = 0;
            break;
        case 9:
            stage->height = 3;
            break;
        case 10:
            stage->a = DETECT_CELLS;
            break;
        case 11:
            stage->b = 255;
            break;
        case 12:
            stage->threshold = NAN;
            break;
        case 13:
            stage->threshold = -INFINITY;
            break;
        case 14:
            hand.tables[1][16] = NAN;
            break;
        case 15:
            hand.tables[0][0] = 101;
            break;
        default:
            hand.tables[1][3] = INFINITY;
            break;
        }
        assert_int_equal(detect_save_model(in_folder("own.model"), &hand.head), STATUS_OK);
        bytes = read_all(in_folder("own.model"), &size);
        assert_true(is_refused(bytes, size));
        free(bytes);
    }
}

/* Of haar: a kind that there is not, another window than the model's, and rectangles that reach over its edge or are
 * empty. */
static void hostile_rectangles(void **state)
{
    enum { SOUND, CASES = 7 };
    char path[4096];

    (void)state;
    snprintf(path, sizeof path, "%s/common/algo/detect/rectangles.model", paths_root());
    for (int i = SOUND; i < CASES; i++) {
        struct detect_model *model = NULL;
        size_t size, loaded = 0;
        uint8_t *bytes;

        assert_int_equal(detect_load_model(path, (void **)&model, &loaded), STATUS_OK);
        assert_int_equal(model->feature, DETECT_HAAR);
        struct detect_stage *stage = (struct detect_stage *)detect_stages(model);
        stage->a = i == 1 ? DETECT_HAAR_KINDS : i == 2 ? 255 : stage->a;
        stage->b = i == 3 ? 5 : stage->b;
        stage->x = i == 4 ? 1 : stage->x;
        stage->height = i == 5 ? 7 : i == 6 ? 0 : stage->height;
        assert_int_equal(detect_save_model(in_folder("own.model"), model), STATUS_OK);
        free(model);
        bytes = read_all(in_folder("own.model"), &size);
        assert_int_equal(is_refused(bytes, size), i != SOUND);
        free(bytes);
    }
}

/* ------------------------------------------------------------------------------------------------- training */

/* Bright blobs of 12 x 12 pixels under much noise as positives, blocks under as much noise as photographs: no few
 * stages tell them apart. */
static void make_data(void)
{
    enum { BLOBS = 400, SIDE = 12, PHOTOGRAPHS = 4 };
    static const uint8_t head[] = {0, 0, 8, 3, 0, 0, BLOBS >> 8, BLOBS & 255, 0, 0, 0, SIDE, 0, 0, 0, SIDE};
    static uint8_t blobs[sizeof head + BLOBS * SIDE * SIDE];
    uint64_t random = 7;
    char path[256];

    memcpy(blobs, head, sizeof head);
    for (int i = 0; i < BLOBS * SIDE * SIDE; i++) {
        const int x = i % SIDE * 2 - SIDE + 1, y = i / SIDE % SIDE * 2 - SIDE + 1;
        blobs[sizeof head + i] = (uint8_t)((x * x + y * y < 70 ? 105 : 60) + (int)(pattern_random(&random) % 150));
    }
    write_all(in_folder("blobs.idx"), blobs, sizeof blobs);
    for (int k = 0; k < PHOTOGRAPHS; k++) {
        struct image picture = {0};

        assert_int_equal(image_create(&picture, 90, 70, 1, PIXEL_U8), STATUS_OK);
        for (int y = 0; y < picture.height; y++)
            for (int x = 0; x < picture.width; x++)
                ((uint8_t *)image_row(&picture, y))[x] =
                    (uint8_t)(60 + (x / (5 + k) * 57 + y / 6 * 91) % 50 + (int)(pattern_random(&random) % 140));
        snprintf(path, sizeof path, "%s/photograph_%d.pgm", folder, k);
        assert_int_equal(image_save(&picture, path), STATUS_OK);
        image_free(&picture);
    }
}

static enum status train(const char *name, const char *settings, int threads, bool resume)
{
    const struct trainer *trainer = algorithm->trainer;
    const struct algorithm parameters = {
        .name = "detect", .params_size = trainer->params_size, .parameters = trainer->parameters};
    char data[5][256], out[256];
    const char *names[5];
    struct training training = {.data = names, .data_count = 5, .out = out, .threads = threads, .resume = resume};
    void *params = calloc(1, trainer->params_size);
    enum status status;

    assert_non_null(params);
    snprintf(out, sizeof out, "%s", in_folder(name));
    for (int i = 0; i < 5; i++) {
        if (i == 0)
            snprintf(data[i], sizeof data[i], "%s/blobs.idx", folder);
        else
            snprintf(data[i], sizeof data[i], "%s/photograph_%d.pgm", folder, i - 1);
        names[i] = data[i];
    }
    assert_int_equal(params_parse_text(&parameters, settings, params), STATUS_OK);
    training.params = params;
    status = trainer->train(&training);
    free(params);
    return status;
}

static void assert_same_models(const char *left, const char *right)
{
    size_t sizes[2];
    uint8_t *bytes[2] = {read_all(in_folder(left), &sizes[0]), NULL};

    bytes[1] = read_all(in_folder(right), &sizes[1]);
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(bytes[0], bytes[1], sizes[0]);
    free(bytes[0]);
    free(bytes[1]);
}

#define SMALL " samples=300 features=240 alpha=0.1 "

static void same_model_whatever_the_threads(void **state)
{
    static const char *const features[] = {"feature=lrd", "feature=lrp", "feature=lbp", "feature=haar"};
    char settings[128], model[256];
    size_t size = 0;
    void *data = NULL;

    (void)state;
    for (int i = 0; i < 4; i++) {
        snprintf(settings, sizeof settings, "%s%sstages=6", features[i], SMALL);
        assert_int_equal(train("one.model", settings, 1, false), STATUS_OK);
        assert_int_equal(train("three.model", settings, 3, false), STATUS_OK);
        assert_same_models("one.model", "three.model");
    }
    snprintf(settings, sizeof settings, "feature=lbp%sstages=6 seed=2", SMALL);
    assert_int_equal(train("other.model", settings, 2, false), STATUS_OK);
    snprintf(model, sizeof model, "%s", in_folder("other.model"));
    assert_int_equal(detect_load_model(model, &data, &size), STATUS_OK);
    assert_int_equal(((struct detect_model *)data)->window, 12);
    free(data);
}

/* Makes the share of windows that pass, the last but one number of the head, none. */
static void spoil_share(const char *checkpoint)
{
    const double none = NAN;
    uint32_t head;
    FILE *file = fopen(checkpoint, "r+b");

    assert_non_null(file);
    assert_int_equal(fseek(file, 8, SEEK_SET), 0);
    assert_int_equal(fread(&head, sizeof head, 1, file), 1);
    assert_int_equal(fseek(file, (long)head - 16, SEEK_SET), 0);
    assert_int_equal(fwrite(&none, sizeof none, 1, file), 1);
    assert_int_equal(fclose(file), 0);
}

static void goes_on_from_a_checkpoint(void **state)
{
    (void)state;
    assert_int_equal(train("whole.model", "feature=lrd" SMALL "stages=24", 2, false), STATUS_OK);
    assert_int_equal(train("parts.model", "feature=lrd" SMALL "stages=10", 1, false), STATUS_OK);
    assert_int_equal(train("parts.model", "feature=lrd" SMALL "stages=24", 2, true), STATUS_OK);
    assert_same_models("whole.model", "parts.model");
    /* Another training's, and damaged ones. */
    assert_int_equal(train("parts.model", "feature=lrp" SMALL "stages=30", 2, true), STATUS_BAD_INPUT);
    assert_int_equal(train("parts.model", "feature=lrd" SMALL "stages=12", 2, true), STATUS_BAD_INPUT);
    spoil_share(in_folder("parts.model.checkpoint"));
    assert_int_equal(train("parts.model", "feature=lrd" SMALL "stages=30", 2, true), STATUS_BAD_INPUT);
    assert_int_equal(truncate(in_folder("parts.model.checkpoint"), 2000), 0);
    assert_int_equal(train("parts.model", "feature=lrd" SMALL "stages=30", 2, true), STATUS_BAD_INPUT);
    assert_int_equal(truncate(in_folder("parts.model.checkpoint"), 5), 0);
    assert_int_equal(train("parts.model", "feature=lrd" SMALL "stages=30", 2, true), STATUS_BAD_INPUT);
}

/* A trained detector finds a blob where one was put, and nothing in a picture that is smaller than its window. */
static void finds_blob(const char *feature)
{
    const struct version *version = NULL;
    struct image picture = {0}, out[ALGORITHM_MAX_OUTPUTS] = {{0}};
    struct detect_params params;
    char settings[512];
    void *kept;

    snprintf(settings, sizeof settings, "%s%sstages=16", feature, SMALL);
    assert_int_equal(train("blob.model", settings, 2, false), STATUS_OK);
    model_close_all();
    snprintf(settings, sizeof settings, "model=%s min_response=0 min_score=0", in_folder("blob.model"));
    assert_int_equal(params_parse_text(algorithm, settings, &params), STATUS_OK);
    assert_int_equal(registry_find_version(algorithm, "cpu/serial", &version), STATUS_OK);
    for (int small = 0; small < 2; small++) {
        assert_int_equal(image_create(&picture, small ? 11 : 50, 40, 1, PIXEL_U8), STATUS_OK);
        for (int y = 0; y < picture.height; y++)
            for (int x = 0; x < picture.width; x++)
                ((uint8_t *)image_row(&picture, y))[x] =
                    (uint8_t)(hypot(x - 25.5, y - 15.5) < 4.2 ? 200 + (x + y) % 3 : 85 + (x * y) % 7);
        assert_int_equal(algorithm->shape(&picture, &params, out), STATUS_OK);
        for (int slot = 0; slot < 2; slot++) {
            const struct image shape = out[slot];
            assert_int_equal(image_create_like(&out[slot], &shape), STATUS_OK);
        }
        kept = calloc(1, version->state_size);
        assert_int_equal(version->run(kept, &picture, out, &params), STATUS_OK);
        version->teardown(kept);
        free(kept);
        if (small) {
            assert_int_equal(slot_table_rows(&out[0]), 0);
            assert_int_equal(slot_table_rows(&out[1]), 0);
        } else {
            assert_true(slot_table_rows(&out[0]) >= 1);
            const float *row = image_row(&out[0], 1);
            assert_true(fabsf(row[0] + row[2] / 2 - 26) < 3 && fabsf(row[1] + row[3] / 2 - 16) < 3);
        }
        image_free(&picture);
        image_free(&out[0]);
        image_free(&out[1]);
    }
}

static void finds_what_it_was_trained_for(void **state)
{
    (void)state;
    finds_blob("feature=lbp");
    finds_blob("feature=haar");
}

static int remove_folder(void **state)
{
    char command[64];

    (void)state;
    model_close_all();
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_hand_made_model),
        cmocka_unit_test(damaged_models),
        cmocka_unit_test(hostile_models),
        cmocka_unit_test(hostile_rectangles),
        cmocka_unit_test(same_model_whatever_the_threads),
        cmocka_unit_test(goes_on_from_a_checkpoint),
        cmocka_unit_test(finds_what_it_was_trained_for),
    };

    if (registry_open() != STATUS_OK || !(algorithm = registry_find_algorithm("detect")) || !mkdtemp(folder))
        return 1;
    make_data();
    return cmocka_run_group_tests(tests, NULL, remove_folder);
}
