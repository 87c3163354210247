/* Tests of what the command line stands on: models that are read once (model.h), marks on images (draw.h), arrays from
 * files (array_io.h, npy.h), whether two paths are one file and files that appear together (file.h), messages behind
 * long paths (status.h). The command line itself on slots of every kind: tests/test_run.sh. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/contract/registry.h"
#include "common/core/file.h"
#include "common/core/json_file.h"
#include "common/core/paths.h"
#include "common/core/text.h"
#include "common/image/array_io.h"
#include "common/image/draw.h"
#include "common/image/image_io.h"
#include "common/image/npy.h"

static char folder[64];

static const char *at(const char *name)
{
    static char paths[8][256];
    static int next;
    char *path = paths[next++ % 8];

    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void put(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/rungs-test-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    return system(command);
}

/* ------------------------------------------------------------------------------------------------------ models */

static int loads; /* of both loaders */

static enum status load_text(const char *path, void **data, size_t *size)
{
    enum status status = STATUS_OK;
    FILE *stream = NULL;
    uint64_t file_size = 0;

    loads++;
    TRY(file_open(path, &stream, &file_size));
    *size = (size_t)file_size;
    *data = malloc(*size);
    assert_non_null(*data);
    assert_int_equal(fread(*data, 1, *size, stream), *size);
    if (((char *)*data)[0] == '!')
        status = status_set(STATUS_BAD_INPUT, "%s: damaged", path);
out:
    if (stream)
        fclose(stream);
    return status;
}

static enum status load_otherwise(const char *path, void **data, size_t *size)
{
    return load_text(path, data, size);
}

static enum status load_nothing(const char *path, void **data, size_t *size)
{
    (void)path;
    (void)data;
    *size = 0;
    return STATUS_OK;
}

static void models_are_read_once(void **state)
{
    struct model first, again, other;

    (void)state;
    loads = 0;
    put(at("model"), "content", 7);
    assert_int_equal(model_open(&first, at("model"), load_text), STATUS_OK);
    assert_string_equal(first.path, at("model"));
    assert_int_equal(first.size, 7);
    assert_memory_equal(first.data, "content", 7);
    assert_int_equal((uintptr_t)first.data % 64, 0);
    assert_int_equal(model_open(&again, at("model"), load_text), STATUS_OK);
    assert_ptr_equal(again.data, first.data);
    assert_int_equal(loads, 1);
    assert_int_equal(model_open(&other, at("model"), load_otherwise), STATUS_OK); /* another reading of it */
    assert_ptr_not_equal(other.data, first.data);
    assert_int_equal(loads, 2);

    put(at("model"), "changes", 7);
    assert_int_equal(utimensat(AT_FDCWD, at("model"), (struct timespec[2]){{.tv_sec = 7}, {.tv_sec = 7}}, 0), 0);
    assert_int_equal(model_open(&again, at("model"), load_text), STATUS_OK);
    assert_memory_equal(again.data, "changes", 7);
    assert_memory_equal(first.data, "content", 7); /* who holds the old one keeps it */
    assert_int_equal(loads, 3);
    model_close_all();
}

static void bad_models(void **state)
{
    struct model model;
    char path[400];

    (void)state;
    assert_int_equal(model_open(&model, at("none"), load_text), STATUS_BAD_INPUT);
    assert_non_null(strstr(status_message(), "none: No such file"));
    assert_null(model.data);
    assert_string_equal(model.path, "");
    put(at("bad"), "!", 1);
    for (int i = 0; i < 2; i++) { /* what could not be read is not kept */
        assert_int_equal(model_open(&model, at("bad"), load_text), STATUS_BAD_INPUT);
        assert_non_null(strstr(status_message(), "bad: damaged"));
        assert_null(model.data);
    }
    assert_int_equal(model_open(&model, at("bad"), load_nothing), STATUS_BAD_INPUT);
    assert_non_null(strstr(status_message(), "bad: "));
    memset(path, 'x', sizeof path);
    path[sizeof path - 1] = '\0';
    assert_int_equal(model_open(&model, path, load_text), STATUS_BAD_INPUT);
    assert_non_null(strstr(status_message(), "more than 255 characters"));
    model_close_all();
}

struct model_params {
    struct model model, without;
};

static void default_models(void **state)
{
    static const char *const words[] = {"LICENSE"};
    static const struct parameter parameters[] = {{.name = "model",
                                                   .kind = PARAMETER_MODEL,
                                                   .offset = offsetof(struct model_params, model),
                                                   .words = words,
                                                   .load = load_text},
                                                  {.name = "without",
                                                   .kind = PARAMETER_MODEL,
                                                   .offset = offsetof(struct model_params, without),
                                                   .load = load_text},
                                                  {0}};
    const struct algorithm algorithm = {
        .name = "a", .params_size = sizeof(struct model_params), .parameters = parameters};
    struct model_params params;
    char text[300], path[4096];

    (void)state;
    assert_int_equal(params_parse_text(&algorithm, "", &params), STATUS_OK);
    snprintf(path, sizeof path, "%s/LICENSE", paths_root());
    struct stat named, meant; /* wherever the program was called; below the working folder it is named from there */
    assert_int_equal(stat(params.model.path, &named), 0);
    assert_int_equal(stat(path, &meant), 0);
    assert_true(named.st_ino == meant.st_ino && named.st_dev == meant.st_dev);
    assert_true(params.model.size > 0);
    assert_null(params.without.data);
    assert_string_equal(params.without.path, "");

    put(at("own"), "own", 3);
    loads = 0;
    snprintf(text, sizeof text, "model=%s without=%s", at("own"), at("own"));
    assert_int_equal(params_parse_text(&algorithm, text, &params), STATUS_OK);
    assert_memory_equal(params.model.data, "own", 3);
    assert_ptr_equal(params.without.data, params.model.data);
    assert_int_equal(loads, 1);
    assert_int_equal(params_parse_text(&algorithm, "without=", &params), STATUS_BAD_INPUT);
    assert_string_equal(status_message(), "parameter without: names no file");
    model_close_all();
}

/* ------------------------------------------------------------------------------------------------------- marks */

/* Draws on a window of an image: nothing outside may change. The picture is compared with rows of . and #. */
enum { SIDE = 9, MARGIN = 3 };

static void check_drawing(void (*draw)(struct image *image), const char *const rows[SIDE])
{
    struct image outer, image;

    assert_int_equal(image_create(&outer, SIDE + 2 * MARGIN, SIDE + 2 * MARGIN, 1, PIXEL_U8), STATUS_OK);
    image_fill(&outer, 7);
    image = outer;
    image.width = image.height = SIDE;
    image.data = (uint8_t *)image_row(&outer, MARGIN) + MARGIN;
    draw(&image);
    for (int y = 0; y < outer.height; y++)
        for (int x = 0; x < outer.width; x++) {
            const int ix = x - MARGIN, iy = y - MARGIN;
            const bool inside = ix >= 0 && iy >= 0 && ix < SIDE && iy < SIDE;

            if (image_sample(&outer, x, y, 0) != (inside && rows[iy][ix] == '#' ? 200 : 7))
                fail_msg("pixel %d,%d", ix, iy);
        }
    image_free(&outer);
}

static const uint8_t ink[] = {200};

static void lines(struct image *image)
{
    draw_line(image, 0, 0, 8, 4, ink);
    draw_line(image, 1, 8, 1, 6, ink);
    draw_line(image, 1e9, 1e9, 1e9 + 5, 3, ink); /* far away */
    draw_line(image, -1e9, 5, 1e9, 5, ink);      /* across: only what is seen is walked */
    draw_line(image, NAN, 0, 3, 3, ink);         /* nowhere */
    draw_line(image, 4, 7, 4, 7, ink);           /* a point */
}

static void crosses(struct image *image)
{
    draw_cross(image, 4, 4, 2, ink);
    draw_cross(image, 0, 8, 1, ink);
    draw_cross(image, INT32_MAX, INT32_MIN, INT32_MAX, ink);
}

static void circles(struct image *image)
{
    draw_circle(image, 4, 4, 3, ink);
    draw_circle(image, 8, 8, 0, ink);
    draw_circle(image, INT32_MIN, INT32_MAX, INT32_MAX, ink);
}

static void letters(struct image *image)
{
    draw_text(image, 0, 1, "1", ink);
    draw_text(image, 6, 1, "l\xff", ink); /* an L, cut by the edge */
    draw_text(image, INT32_MAX, INT32_MAX, "far away", ink);
}

static void marks_are_exact(void **state)
{
    static const char *const line_rows[SIDE] = {"#........", ".##......", "...##....", ".....##..", ".......##",
                                                "#########", ".#.......", ".#..#....", ".#......."};
    static const char *const cross_rows[SIDE] = {".........", ".........", "....#....", "....#....", "..#####..",
                                                 "....#....", "....#....", "#........", "##......."};
    static const char *const circle_rows[SIDE] = {".........", "...###...", "..#...#..", ".#.....#.", ".#.....#.",
                                                  ".#.....#.", "..#...#..", "...###...", "........#"};
    static const char *const letter_rows[SIDE] = {".........", "..#...#..", ".##...#..", "..#...#..", "..#...#..",
                                                  "..#...#..", "..#...#..", ".###..###", "........."};

    (void)state;
    check_drawing(lines, line_rows);
    check_drawing(crosses, cross_rows);
    check_drawing(circles, circle_rows);
    check_drawing(letters, letter_rows);
}

static void canvases(void **state)
{
    struct image picture, canvas;

    (void)state;
    assert_int_equal(image_create(&picture, 3, 1, 1, PIXEL_F32), STATUS_OK);
    image_set_sample(&picture, 0, 0, 0, -1);
    image_set_sample(&picture, 1, 0, 0, NAN);
    image_set_sample(&picture, 2, 0, 0, 3);
    assert_int_equal(draw_canvas(&canvas, &picture), STATUS_OK);
    assert_memory_equal(canvas.data, "\0\0\0\0\0\0\xff\xff\xff", 9);
    image_free(&canvas);
    image_free(&picture);
    assert_int_equal(image_create(&picture, 1, 1, 3, PIXEL_U16), STATUS_OK);
    for (int c = 0; c < 3; c++)
        image_set_sample(&picture, 0, 0, c, 256 * c + 255);
    assert_int_equal(draw_canvas(&canvas, &picture), STATUS_OK);
    assert_memory_equal(canvas.data, "\0\1\2", 3);
    image_free(&canvas);
    image_free(&picture);
    assert_int_equal(image_create(&picture, 1, 1, 2, PIXEL_U8), STATUS_OK);
    assert_int_equal(draw_canvas(&canvas, &picture), STATUS_BAD_INPUT);
    image_free(&picture);
}

/* ------------------------------------------------------------------------------------------------------ arrays */

static void arrays_come_back(void **state)
{
    (void)state;
    for (int type = 0; type < PIXEL_TYPE_COUNT; type++) {
        struct image array, back;

        assert_int_equal(array_create(&array, 2, 70000, 3, (enum pixel_type)type), STATUS_OK);
        for (int y = 0; y < array.height; y++)
            for (int i = 0; i < 6; i++)
                image_set_sample(&array, i / 3, y, i % 3, y + i);
        assert_int_equal(npy_save(&array, at("a.npy")), STATUS_OK);
        assert_int_equal(array_load(&back, at("a.npy"), NULL), STATUS_OK);
        assert_true(image_same_shape(&array, &back));
        for (int y = 0; y < array.height; y++)
            assert_memory_equal(image_row(&array, y), image_row(&back, y), image_row_bytes(&array));
        image_free(&back);
        assert_int_equal(array_load_matrix(&back, at("a.npy")), STATUS_OK);
        assert_int_equal(back.width, 6);
        assert_int_equal(back.channels, 1);
        assert_true(image_sample(&back, 5, 200, 0) == 205);
        image_free(&back);
        assert_int_equal(image_load(&back, at("a.npy"), 0), STATUS_BAD_INPUT); /* taller than a picture */
        image_free(&array);
    }
}

static void samples_are_rounded(void **state)
{
    struct image image;

    (void)state;
    assert_int_equal(image_create(&image, 1, 1, 1, PIXEL_U8), STATUS_OK);
    image_set_sample(&image, 0, 0, 0, 300);
    assert_true(image_sample(&image, 0, 0, 0) == 255);
    image_set_sample(&image, 0, 0, 0, -INFINITY);
    assert_true(image_sample(&image, 0, 0, 0) == 0);
    image_set_sample(&image, 0, 0, 0, 2.6);
    assert_true(image_sample(&image, 0, 0, 0) == 3);
    image_set_sample(&image, 0, 0, 0, NAN);
    assert_true(image_sample(&image, 0, 0, 0) == 0);
    image_free(&image);
}

/* ------------------------------------------------------------------------------------------------------- files */

static void same_files(void **state)
{
    (void)state;
    put(at("a"), "a", 1);
    put(at("b"), "a", 1);
    assert_int_equal(symlink("a", at("soft")), 0);
    assert_int_equal(link(at("a"), at("hard")), 0);
    assert_true(file_is_same(at("a"), at("./a")));
    assert_true(file_is_same(at("a"), at("soft")));
    assert_true(file_is_same(at("hard"), at("soft")));
    assert_false(file_is_same(at("a"), at("b")));
    assert_false(file_is_same(at("a"), at("new")));
    assert_false(file_is_same(at("new"), at("a")));
    assert_true(file_is_same(at("new"), at("./new")));
    assert_false(file_is_same(at("new"), at("newer")));
    assert_false(file_is_same(at("new"), at("nowhere/new")));
    assert_false(file_is_same(at("new"), "new"));
}

static void files_appear_together(void **state)
{
    struct output_file one, other;

    (void)state;
    assert_int_equal(file_create(&one, at("one")), STATUS_OK);
    assert_int_equal(file_create(&other, at("other")), STATUS_OK);
    file_write(&one, "1", 1);
    assert_int_equal(file_complete(&one), STATUS_OK);
    assert_int_equal(access(at("one"), F_OK), -1);
    file_discard(&other);
    file_discard(&one);
    assert_int_equal(rmdir(folder), 0); /* nothing is left */
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(file_create(&one, at("one")), STATUS_OK);
    file_write(&one, "1", 1);
    assert_int_equal(file_complete(&one), STATUS_OK);
    assert_int_equal(file_commit(&one), STATUS_OK);
    assert_int_equal(access(at("one"), F_OK), 0);
}

static void reasons_behind_long_paths(void **state)
{
    char path[4000];

    (void)state;
    memset(path, 'p', sizeof path);
    path[0] = 'a';
    path[sizeof path - 1] = '\0';
    status_set(STATUS_BAD_INPUT, "%s: the reason", path);
    assert_true(strlen(status_message()) < 1024);
    assert_int_equal(status_message()[0], 'a');
    assert_non_null(strstr(status_message(), "p ... p"));
    assert_string_equal(status_message() + strlen(status_message()) - 12, ": the reason");
    status_set(STATUS_BAD_INPUT, "again: %s", status_message());
    assert_non_null(strstr(status_message(), ": the reason"));
}

/* A file is written and read; false when it is refused. */
static bool reads_json(const char *text, json_t **document)
{
    FILE *stream = fopen(at("a.json"), "wb");

    fputs(text, stream);
    fclose(stream);
    return json_file_read(document, at("a.json"), 1 << 20, "a test") == STATUS_OK;
}

static void documents_are_plain(void **state)
{
    json_t *document;

    (void)state;
    assert_true(reads_json("{\"a\\u001b[31m\": [\"\\u009b\\n\", 1.5, true, null], \"\u00fc\": \"\u00e4\"}", &document));
    assert_string_equal(json_string_value(json_array_get(json_object_get(document, "a\\x1b[31m"), 0)),
                        "\\xc2\\x9b\\x0a");
    assert_true(json_real_value(json_array_get(json_object_get(document, "a\\x1b[31m"), 1)) == 1.5);
    assert_string_equal(json_string_value(json_object_get(document, "\u00fc")), "\u00e4");
    json_decref(document);
    /* The parser quotes what it does not understand, line ends and all: found by fuzz_tuned. */
    assert_false(reads_json("{\"a\": 1 \"b\n\033]0;title\007\": 2}", &document));
    assert_null(document);
    assert_true(text_is_plain(status_message()));
    assert_non_null(strstr(status_message(), "not valid JSON"));
}

static void texts_are_made_plain(void **state)
{
    static const char *const pairs[][2] = {
        {"plain \u00e4 \u20ac \U0001f600", "plain \u00e4 \u20ac \U0001f600"},
        {"\033[2J\n\177", "\\x1b[2J\\x0a\\x7f"},
        {"\377\300\200", "\\xff\\xc0\\x80"},          /* no UTF-8; too long a spelling of 0 */
        {"\355\240\200", "\\xed\\xa0\\x80"},          /* a surrogate */
        {"\364\220\200\200", "\\xf4\\x90\\x80\\x80"}, /* beyond the last character */
        {"\302", "\\xc2"},
    };
    char text[64], small[6] = "";

    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        snprintf(text, sizeof text, "%s", pairs[i][0]);
        text_make_plain(text, sizeof text);
        assert_string_equal(text, pairs[i][1]);
        assert_true(text_is_plain(text));
    }
    text_append_plain(small, sizeof small, "abc\u20acd"); /* half a character would be no UTF-8 */
    assert_string_equal(small, "abc");
    small[0] = '\0';
    text_append_plain(small, sizeof small, "ab\033");
    assert_string_equal(small, "ab");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(documents_are_plain, set_up, tear_down),
        cmocka_unit_test(texts_are_made_plain),
        cmocka_unit_test_setup_teardown(models_are_read_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bad_models, set_up, tear_down),
        cmocka_unit_test_setup_teardown(default_models, set_up, tear_down),
        cmocka_unit_test(marks_are_exact),
        cmocka_unit_test(canvases),
        cmocka_unit_test_setup_teardown(arrays_come_back, set_up, tear_down),
        cmocka_unit_test(samples_are_rounded),
        cmocka_unit_test_setup_teardown(same_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files_appear_together, set_up, tear_down),
        cmocka_unit_test(reasons_behind_long_paths),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
