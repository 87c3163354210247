/* Tests of image.h and status.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/image/image.h"

static void sizes_of_types(void **state)
{
    (void)state;
    assert_int_equal(pixel_size(PIXEL_U8), 1);
    assert_int_equal(pixel_size(PIXEL_U16), 2);
    assert_int_equal(pixel_size(PIXEL_I32), 4);
    assert_int_equal(pixel_size(PIXEL_F32), 4);
    assert_string_equal(pixel_name(PIXEL_U8), "u8");
    assert_string_equal(pixel_name(PIXEL_U16), "u16");
    assert_string_equal(pixel_name(PIXEL_I32), "i32");
    assert_string_equal(pixel_name(PIXEL_F32), "f32");
}

static void rows_are_aligned_and_writable_to_the_stride(void **state)
{
    static const int widths[] = {1, 2, 5, 21, 22, 63, 64, 65, 127, 128, 1000};
    static const int channel_counts[] = {1, 2, 3, 17};

    (void)state;
    for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
        for (size_t c = 0; c < sizeof channel_counts / sizeof channel_counts[0]; c++) {
            for (enum pixel_type type = PIXEL_U8; type <= PIXEL_F32; type++) {
                struct image image;
                const size_t row = (size_t)widths[w] * (size_t)channel_counts[c] * pixel_size(type);

                assert_int_equal(image_create(&image, widths[w], 3, channel_counts[c], type), STATUS_OK);
                assert_int_equal(image_row_bytes(&image), row);
                assert_int_equal(image_pixel_bytes(&image), 3 * row);
                assert_int_equal(image.stride, image_minimal_stride(&image));
                assert_int_equal(image.stride % IMAGE_ALIGNMENT, 0);
                assert_true(image.stride >= row && image.stride < row + IMAGE_ALIGNMENT);
                for (int y = 0; y < 3; y++) {
                    assert_int_equal((uintptr_t)image_row(&image, y) % IMAGE_ALIGNMENT, 0);
                    memset(image_row(&image, y), y, image.stride); /* under ASan: all of it is ours */
                }
                image_free(&image);
                assert_null(image.data);
                assert_int_equal(image.width, 0);
            }
        }
    }
}

static void illegal_shapes_are_refused(void **state)
{
    static const struct {
        int width, height, channels;
    } shapes[] = {{0, 1, 1},
                  {1, 0, 1},
                  {-1, 1, 1},
                  {1, -5, 1},
                  {65536, 1, 1},
                  {1, 65536, 1},
                  {1, 1, 0},
                  {1, 1, -1},
                  {1, 1, 4097},
                  {INT32_MAX, INT32_MAX, INT32_MAX},
                  {INT32_MIN, INT32_MIN, INT32_MIN},
                  {65535, 65535, 4096}}; /* legal sides, but 64 TiB */

    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        struct image image = {.width = 7, .data = &image};

        assert_int_equal(image_create(&image, shapes[i].width, shapes[i].height, shapes[i].channels, PIXEL_F32),
                         STATUS_BAD_INPUT);
        assert_true(strlen(status_message()) > 10);
        assert_null(image.data);
        assert_int_equal(image.width, 0);
        image_free(&image);
    }
}

static void freeing_twice_is_fine(void **state)
{
    struct image image = {0};

    (void)state;
    image_free(&image);
    assert_int_equal(image_create(&image, 4, 4, 1, PIXEL_U8), STATUS_OK);
    image_free(&image);
    image_free(&image);
}

/* Fill and copy reach every pixel of a window and nothing around it. */
static void windows_are_respected(void **state)
{
    enum { WIDTH = 9, HEIGHT = 5, CHANNELS = 3, LEFT = 4, TOP = 2 };
    struct image outer, from, window;

    (void)state;
    assert_int_equal(image_create(&outer, WIDTH + 8, HEIGHT + 4, CHANNELS, PIXEL_U16), STATUS_OK);
    memset(outer.data, 0xaa, outer.stride * (size_t)outer.height);
    window = outer;
    window.width = WIDTH;
    window.height = HEIGHT;
    window.data = (char *)image_row(&outer, TOP) + LEFT * CHANNELS * sizeof(uint16_t);
    assert_int_equal(image_create_like(&from, &window), STATUS_OK);
    assert_true(image_same_shape(&from, &window));
    assert_true(from.stride != window.stride);
    for (int y = 0; y < HEIGHT; y++) {
        uint16_t *row = image_row(&from, y);
        for (int i = 0; i < WIDTH * CHANNELS; i++)
            row[i] = (uint16_t)(y * 1000 + i);
    }

    for (int round = 0; round < 2; round++) {
        const size_t left = LEFT * CHANNELS * sizeof(uint16_t), right = left + image_row_bytes(&window);

        if (round == 0)
            image_copy(&window, &from);
        else
            image_fill(&window, 0x5c);
        for (int y = 0; y < outer.height; y++) {
            const uint8_t *row = image_row(&outer, y);

            for (size_t i = 0; i < outer.stride; i++) {
                if (y < TOP || y >= TOP + HEIGHT || i < left || i >= right)
                    assert_int_equal(row[i], 0xaa);
                else if (round == 0)
                    assert_int_equal(row[i], ((const uint8_t *)image_row(&from, y - TOP))[i - left]);
                else
                    assert_int_equal(row[i], 0x5c);
            }
        }
    }
    image_free(&from);
    image_free(&outer);
}

static void shapes_are_compared_whole(void **state)
{
    const struct image a = {.width = 4, .height = 3, .channels = 2, .type = PIXEL_U16, .stride = 64};
    struct image b = a;

    (void)state;
    b.stride = 128;
    assert_true(image_same_shape(&a, &b));
    b.width = 5;
    assert_false(image_same_shape(&a, &b));
    b = a;
    b.height = 5;
    assert_false(image_same_shape(&a, &b));
    b = a;
    b.channels = 3;
    assert_false(image_same_shape(&a, &b));
    b = a;
    b.type = PIXEL_I32;
    assert_false(image_same_shape(&a, &b));
}

static void messages_can_be_wrapped_and_are_cut(void **state)
{
    char *long_text = malloc(100001);

    (void)state;
    assert_int_equal(status_set(STATUS_BAD_INPUT, "width is %d", 0), STATUS_BAD_INPUT);
    assert_int_equal(status_set(STATUS_FAILED, "a.png: %s", status_message()), STATUS_FAILED);
    assert_string_equal(status_message(), "a.png: width is 0");
    assert_non_null(long_text);
    memset(long_text, 'x', 100000);
    long_text[100000] = '\0';
    status_set(STATUS_FAILED, "%s", long_text);
    assert_true(strlen(status_message()) >= 255 && strlen(status_message()) < 100000);
    free(long_text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_of_types),
        cmocka_unit_test(rows_are_aligned_and_writable_to_the_stride),
        cmocka_unit_test(illegal_shapes_are_refused),
        cmocka_unit_test(freeing_twice_is_fine),
        cmocka_unit_test(windows_are_respected),
        cmocka_unit_test(shapes_are_compared_whole),
        cmocka_unit_test(messages_can_be_wrapped_and_are_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
