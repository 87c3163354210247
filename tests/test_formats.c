/* Files as other programs write them, byte for byte: every header and palette of BMP, all orientations of EXIF in both
 * orders of bytes, JPEGs of four colours, palettes of PNG, labels, ENVI cubes of every type and with whatever a header
 * may say, names in natural order. docs/FILES.md lists what is read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/algo/barcode/known.h"
#include "common/image/array_io.h"
#include "common/image/image_io.h"
#include "common/video/video.h"

/* ------------------------------------------------------------------------------------------------ helpers */

static char folder[64];

/* A path in the test's folder; valid until eight more were asked for. */
static const char *at(const char *name)
{
    static char paths[8][512];
    static int next;
    char *path = paths[next++ % 8];

    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "%s/rungs-test-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    return mkdtemp(folder) ? 0 : -1;
}

static void empty_folder(void)
{
    DIR *directory = opendir(folder);

    for (const struct dirent *entry; directory && (entry = readdir(directory));)
        if (entry->d_name[0] != '.')
            remove(at(entry->d_name));
    if (directory)
        closedir(directory);
}

static int tear_down(void **state)
{
    (void)state;
    empty_folder();
    return rmdir(folder);
}

static void put(const char *name, const void *bytes, size_t size)
{
    FILE *stream = fopen(at(name), "wb");

    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, size, stream), size);
    assert_int_equal(fclose(stream), 0);
}

static void put_number(uint8_t *bytes, uint32_t value, int count, bool big)
{
    for (int i = 0; i < count; i++)
        bytes[big ? count - 1 - i : i] = (uint8_t)(value >> 8 * i);
}

static size_t get(const char *name, uint8_t *bytes, size_t room)
{
    FILE *stream = fopen(at(name), "rb");
    size_t size;

    assert_non_null(stream);
    size = fread(bytes, 1, room, stream);
    fclose(stream);
    assert_true(size < room);
    return size;
}

static void assert_said(enum status status, const char *reason)
{
    if (status != STATUS_BAD_INPUT || !strstr(status_message(), reason) || strchr(status_message(), '\n'))
        fail_msg("status %d, '%s' where '%s' was expected", status, status_message(), reason);
}

static void assert_refused(const char *name, const char *reason)
{
    struct image image;

    assert_said(image_load(&image, at(name), 0), reason);
    assert_null(image.data);
}

/* Loads a file and compares its samples, each at most `most` off. */
static void assert_pixels(const char *name, int width, int height, int channels, const uint8_t *samples, int most)
{
    struct image image;

    if (image_load(&image, at(name), 0) != STATUS_OK)
        fail_msg("%s", status_message());
    assert_int_equal(image.width, width);
    assert_int_equal(image.height, height);
    assert_int_equal(image.channels, channels);
    assert_int_equal(image.type, PIXEL_U8);
    for (int y = 0; y < height; y++)
        for (int i = 0; i < width * channels; i++) {
            const uint8_t *row = image_row(&image, y);
            const int wanted = samples[y * width * channels + i];

            if (abs(row[i] - wanted) > most)
                fail_msg("%s: row %d, sample %d is %d instead of %d", name, y, i, row[i], wanted);
        }
    image_free(&image);
}

static void assert_labels(const char *name, int width, int height, const int32_t *labels)
{
    struct image image;

    if (image_load_labels(&image, at(name)) != STATUS_OK)
        fail_msg("%s", status_message());
    assert_int_equal(image.width, width);
    assert_int_equal(image.height, height);
    assert_int_equal(image.channels, 1);
    assert_int_equal(image.type, PIXEL_I32);
    for (int y = 0; y < height; y++)
        assert_memory_equal(image_row(&image, y), labels + y * width, sizeof(int32_t) * (size_t)width);
    image_free(&image);
}

/* ------------------------------------------------------------------------------------------------------- BMP */

enum { WIDTH = 5, HEIGHT = 3, FILE_HEADER = 14 };

static uint8_t colour(int number, int c, bool gray)
{
    return (uint8_t)(number * 37 + (gray ? 0 : 71 * c) + 5);
}

/* A BMP whose pixels are number 0, 1, 2 ... of its palette's `colours`, again and again. Returns its size. */
static size_t make_palette_bmp(uint8_t *bmp, int header, int bits, int colours, bool gray, bool top_down, int used)
{
    const int entry = header == 12 ? 3 : 4, offset = FILE_HEADER + header + colours * entry;
    const int row_bytes = (WIDTH * bits + 31) / 32 * 4, size = offset + row_bytes * HEIGHT;

    memset(bmp, 0, (size_t)size);
    memcpy(bmp, "BM", 2);
    put_number(bmp + 10, (uint32_t)offset, 4, false);
    put_number(bmp + 14, (uint32_t)header, 4, false);
    put_number(bmp + 18, WIDTH, header == 12 ? 2 : 4, false);
    put_number(bmp + (header == 12 ? 20 : 22), top_down ? (uint32_t)-HEIGHT : HEIGHT, header == 12 ? 2 : 4, false);
    put_number(bmp + (header == 12 ? 22 : 26), 1, 2, false);
    put_number(bmp + (header == 12 ? 24 : 28), (uint32_t)bits, 2, false);
    if (header >= 40)
        put_number(bmp + 46, (uint32_t)used, 4, false);
    for (int i = 0; i < colours; i++)
        for (int c = 0; c < 3; c++)
            bmp[FILE_HEADER + header + i * entry + 2 - c] = colour(i, c, gray);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            bmp[offset + (top_down ? y : HEIGHT - 1 - y) * row_bytes + x * bits / 8] |=
                (uint8_t)(((y * WIDTH + x) * 3 % (colours ? colours : 1)) << (8 - bits - x * bits % 8));
    return (size_t)size;
}

static void palettes_of_bmp(void **state)
{
    static const int headers[] = {12, 16, 40, 52, 56, 64, 108, 124};
    uint8_t bmp[4096], rgb[WIDTH * HEIGHT * 3], levels[WIDTH * HEIGHT];
    int32_t labels[WIDTH * HEIGHT];

    (void)state;
    for (size_t h = 0; h < sizeof headers / sizeof headers[0]; h++)
        for (int bits = 1; bits <= 8; bits *= 2)
            for (int fewer = 0; fewer < 2; fewer++) {
                const int colours = (1 << bits) - fewer;
                const bool top_down = headers[h] > 12 && bits == 4;

                for (int i = 0; i < WIDTH * HEIGHT; i++) {
                    labels[i] = i * 3 % colours;
                    levels[i] = colour(labels[i], 0, true);
                    for (int c = 0; c < 3; c++)
                        rgb[3 * i + c] = colour(labels[i], c, false);
                }
                put("a.bmp", bmp, make_palette_bmp(bmp, headers[h], bits, colours, false, top_down, 0));
                assert_pixels("a.bmp", WIDTH, HEIGHT, 3, rgb, 0);
                assert_labels("a.bmp", WIDTH, HEIGHT, labels);
                put("a.bmp", bmp, make_palette_bmp(bmp, headers[h], bits, colours, true, top_down, colours));
                assert_pixels("a.bmp", WIDTH, HEIGHT, 1, levels, 0);
            }
    /* A pixel of a colour that is not there, by the place of the pixels or by the number of colours. */
    put("a.bmp", bmp, make_palette_bmp(bmp, 12, 8, 5, false, false, 0));
    put_number(bmp + 10, FILE_HEADER + 12 + 4 * 3, 4, false);
    put("b.bmp", bmp, FILE_HEADER + 12 + 4 * 3 + 8 * HEIGHT);
    assert_refused("b.bmp", "of a palette of 4");
    put("b.bmp", bmp, make_palette_bmp(bmp, 40, 8, 16, false, false, 7));
    assert_refused("b.bmp", "of a palette of 7");
    put("b.bmp", bmp, make_palette_bmp(bmp, 40, 8, 0, false, false, 0));
    assert_refused("b.bmp", "its palette is empty");
    make_palette_bmp(bmp, 40, 8, 16, false, false, 0);
    put_number(bmp + 30, 1, 4, false);
    put("b.bmp", bmp, 2000);
    assert_refused("b.bmp", "a compressed BMP, which is not read");
    make_palette_bmp(bmp, 40, 8, 16, false, false, 0);
    put_number(bmp + 28, 5, 2, false);
    put("b.bmp", bmp, 2000);
    assert_refused("b.bmp", "5 bits a pixel");
}

/* One pixel of 16 or 32 bits; masks NULL: none are said. */
static void put_masked(int header, int bits, uint32_t compression, const uint32_t *masks, uint32_t pixel)
{
    const int offset = FILE_HEADER + (header == 40 && masks ? 52 : header);
    uint8_t bmp[256] = "BM";

    put_number(bmp + 10, (uint32_t)offset, 4, false);
    put_number(bmp + 14, (uint32_t)header, 4, false);
    put_number(bmp + 18, 1, 4, false);
    put_number(bmp + 22, 1, 4, false);
    put_number(bmp + 26, 1, 2, false);
    put_number(bmp + 28, (uint32_t)bits, 2, false);
    put_number(bmp + 30, compression, 4, false);
    for (int c = 0; masks && c < 3; c++)
        put_number(bmp + 54 + 4 * c, masks[c], 4, false);
    put_number(bmp + offset, pixel, 4, false);
    put("a.bmp", bmp, (size_t)offset + 4);
}

static void masks_of_bmp(void **state)
{
    static const int headers[] = {40, 52, 56, 108, 124};
    static const struct {
        int bits;
        uint32_t masks[3], pixel;
        uint8_t rgb[3];
    } kinds[] = {{32, {0xff0000, 0xff00, 0xff}, 0x80010203, {1, 2, 3}},         /* ARGB */
                 {32, {0xff, 0xff00, 0xff0000}, 0x80010203, {3, 2, 1}},         /* ABGR */
                 {32, {0xff000000, 0xff0000, 0xff00}, 0x01020380, {1, 2, 3}},   /* RGBA */
                 {32, {0x3ff00000, 0xffc00, 0x3ff}, 0x200003ff, {128, 0, 255}}, /* 10 bits each: 512 of 1023 */
                 {16, {0xf800, 0x7e0, 0x1f}, 0xffff1fe1, {25, 255, 8}},         /* 565: 3 of 31, 63 of 63, 1 of 31 */
                 {16, {0xf00, 0xf0, 0xf}, 0xf31f, {51, 17, 255}},               /* 444 */
                 {16, {0x7c00, 0x3e0, 0x1f}, 0x8c22, {25, 8, 16}}};             /* 1555: 3, 1, 2 of 31 */
    static const uint32_t holes[3] = {0xf0f0, 0x0f00, 0x0f}, none[3] = {0xff00, 0, 0xff};
    static const uint8_t plain[] = {25, 8, 16}, three[] = {1, 2, 3};

    (void)state;
    for (size_t h = 0; h < sizeof headers / sizeof headers[0]; h++)
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
            put_masked(headers[h], kinds[k].bits, 3, kinds[k].masks, kinds[k].pixel);
            assert_pixels("a.bmp", 1, 1, 3, kinds[k].rgb, 0);
        }
    put_masked(40, 16, 0, NULL, 0x8c22);
    assert_pixels("a.bmp", 1, 1, 3, plain, 0);
    put_masked(16, 32, 0, NULL, 0x80010203);
    assert_pixels("a.bmp", 1, 1, 3, three, 0);
    put_masked(124, 24, 0, NULL, 0x010203);
    assert_pixels("a.bmp", 1, 1, 3, three, 0);
    put_masked(40, 16, 3, holes, 0);
    assert_refused("a.bmp", "its masks are no runs of bits");
    put_masked(124, 32, 3, none, 0);
    assert_refused("a.bmp", "its masks are no runs of bits");
    put_masked(64, 32, 3, kinds[0].masks, 0);
    assert_refused("a.bmp", "a compressed BMP");
    assert_said(image_load_labels(&(struct image){0}, at("a.bmp")), "a compressed BMP");
    put_masked(40, 32, 0, NULL, 0);
    assert_said(image_load_labels(&(struct image){0}, at("a.bmp")), "a picture in colours");
}

/* ------------------------------------------------------------------------------------------------ PNG and EXIF */

static uint32_t crc_of(const uint8_t *bytes, size_t size)
{
    uint32_t crc = UINT32_MAX;

    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
    }
    return ~crc;
}

static size_t add_chunk(uint8_t *png, size_t size, const char *name, const void *data, size_t length)
{
    put_number(png + size, (uint32_t)length, 4, true);
    memcpy(png + size + 4, name, 4);
    memcpy(png + size + 8, data, length);
    put_number(png + size + 8 + length, crc_of(png + size + 4, length + 4), 4, true);
    return size + 12 + length;
}

/* A PNG with another chunk before its pixels, whose rows, with a filter's 0 before each, are stored as they are. */
static size_t make_png(uint8_t *png, int width, int height, int depth, int kind, const char *name, const void *extra,
                       size_t extra_size, const uint8_t *rows, size_t rows_size)
{
    uint8_t header[13] = {0}, zlib[256] = {0x78, 0x01, 1, (uint8_t)rows_size, 0, (uint8_t)~rows_size, 0xff};
    uint32_t a = 1, b = 0;
    size_t size = 8;

    memcpy(png, "\x89PNG\r\n\x1a\n", 8);
    put_number(header, (uint32_t)width, 4, true);
    put_number(header + 4, (uint32_t)height, 4, true);
    header[8] = (uint8_t)depth;
    header[9] = (uint8_t)kind;
    size = add_chunk(png, size, "IHDR", header, sizeof header);
    if (extra)
        size = add_chunk(png, size, name, extra, extra_size);
    memcpy(zlib + 7, rows, rows_size);
    for (size_t i = 0; i < rows_size; i++) {
        a = (a + rows[i]) % 65521;
        b = (b + a) % 65521;
    }
    put_number(zlib + 7 + rows_size, b << 16 | a, 4, true);
    size = add_chunk(png, size, "IDAT", zlib, 11 + rows_size);
    return add_chunk(png, size, "IEND", "", 0);
}

/* An EXIF block: another entry, then the orientation as a number of this type (3: 16 bits, 4: 32, 1: 8). */
static size_t make_exif(uint8_t *exif, bool big, int type, uint32_t orientation)
{
    enum { START = 10, ENTRY = 12 };

    memset(exif, 0, 64);
    memcpy(exif, big ? "MM\0*" : "II*\0", 4);
    put_number(exif + 4, START, 4, big);
    put_number(exif + START, 2, 2, big);
    put_number(exif + START + 2, 0x010f, 2, big);
    put_number(exif + START + 4, 2, 2, big);
    put_number(exif + START + 6, 4, 4, big);
    put_number(exif + START + 2 + ENTRY, 0x0112, 2, big);
    put_number(exif + START + 4 + ENTRY, (uint32_t)type, 2, big);
    put_number(exif + START + 6 + ENTRY, 1, 4, big);
    put_number(exif + START + 10 + ENTRY, orientation, type == 4 ? 4 : type == 3 ? 2 : 1, big);
    return START + 2 + 2 * ENTRY + 4;
}

/* Where the six parts of a picture, 1 2 3 over 4 5 6 as it is stored, are seen, by the words of Exif 2.32: the row 0 of
 * orientation 6, for one, is the right-hand side, and its column 0 the top. */
static const struct {
    int width, height;
    const char *seen;
} orientations[] = {[0] = {3, 2, "123456"}, [1] = {3, 2, "123456"}, [2] = {3, 2, "321654"}, [3] = {3, 2, "654321"},
                    [4] = {3, 2, "456123"}, [5] = {2, 3, "142536"}, [6] = {2, 3, "415263"}, [7] = {2, 3, "635241"},
                    [8] = {2, 3, "362514"}, [9] = {3, 2, "123456"}};

static void orientations_of_png(void **state)
{
    static const uint8_t rows[] = {0, '1', '2', '3', 0, '4', '5', '6'};
    static const int types[] = {3, 4, 1};
    uint8_t png[1024], exif[64];
    int32_t labels[6];

    (void)state;
    for (uint32_t o = 0; o <= 9; o++)
        for (int big = 0; big < 2; big++)
            for (int t = 0; t < 3; t++) {
                const size_t size = make_exif(exif, big, types[t], o);

                put("a.png", png, make_png(png, 3, 2, 8, 0, "eXIf", exif, size, rows, 8));
                assert_pixels("a.png", orientations[o].width, orientations[o].height, 1,
                              (const uint8_t *)orientations[o].seen, 0);
                for (int i = 0; i < 6; i++)
                    labels[i] = orientations[o].seen[i];
                assert_labels("a.png", orientations[o].width, orientations[o].height, labels);
            }
    /* Blocks that are cut short or lead out of themselves: as the pixels lie. */
    for (size_t size = make_exif(exif, false, 3, 6); size-- > 0;) {
        put("a.png", png, make_png(png, 3, 2, 8, 0, "eXIf", exif, size, rows, 8));
        assert_pixels("a.png", size < 36 ? 3 : 2, size < 36 ? 2 : 3, 1,
                      (const uint8_t *)orientations[size < 36 ? 1 : 6].seen, 0);
    }
    make_exif(exif, false, 3, 6);
    put_number(exif + 4, 0xfffffffe, 4, false);
    put("a.png", png, make_png(png, 3, 2, 8, 0, "eXIf", exif, 40, rows, 8));
    assert_pixels("a.png", 3, 2, 1, (const uint8_t *)orientations[1].seen, 0);
}

static void orientations_of_jpeg(void **state)
{
    enum { BLOCK = 16, ROOM = 16384 };
    static uint8_t jpeg[ROOM], stored[ROOM];
    struct image image;
    size_t size;

    (void)state;
    assert_int_equal(image_create(&image, 3 * BLOCK, 2 * BLOCK, 1, PIXEL_U8), STATUS_OK);
    for (int y = 0; y < image.height; y++)
        for (int x = 0; x < image.width; x++)
            ((uint8_t *)image_row(&image, y))[x] = (uint8_t)(40 * (1 + y / BLOCK * 3 + x / BLOCK));
    assert_int_equal(image_save(&image, at("a.jpg")), STATUS_OK);
    image_free(&image);
    size = get("a.jpg", stored, ROOM);
    for (uint32_t o = 0; o <= 9; o++)
        for (int big = 0; big < 2; big++) {
            uint8_t segment[128] = {0xff, 0xe1, 0, 0, 'E', 'x', 'i', 'f', 0, 0};
            const size_t length = 10 + make_exif(segment + 10, big, 3, o);
            const int width = orientations[o].width;

            put_number(segment + 2, (uint32_t)length - 2, 2, true);
            memcpy(jpeg, stored, 2);
            memcpy(jpeg + 2, segment, length);
            memcpy(jpeg + 2 + length, stored + 2, size - 2);
            put("a.jpg", jpeg, size + length);
            if (image_load(&image, at("a.jpg"), 1) != STATUS_OK)
                fail_msg("%s", status_message());
            assert_int_equal(image.width, width * BLOCK);
            assert_int_equal(image.height, orientations[o].height * BLOCK);
            for (int i = 0; i < 6; i++) {
                const uint8_t *row = image_row(&image, i / width * BLOCK + BLOCK / 2);

                assert_in_range(row[i % width * BLOCK + BLOCK / 2] + 3 - 40 * (orientations[o].seen[i] - '0'), 0, 6);
            }
            image_free(&image);
        }
    assert_said(image_load_labels(&image, at("a.jpg")), "a JPEG, whose samples are no labels");
}

static void palettes_of_png(void **state)
{
    static const uint8_t palette[] = {9, 8, 7, 4, 5, 6, 1, 2, 3};
    static const uint8_t eight[] = {0, 2, 0, 1}, two[] = {0, 0x84}, outside[] = {0, 2, 3, 1}, four[] = {0, 0x12, 0xf0};
    static const uint8_t colours[] = {1, 2, 3, 9, 8, 7, 4, 5, 6}, wide[] = {0, 0, 7, 1, 0, 0, 255};
    static const uint8_t two_bits[] = {0, 0x1b};
    static const int32_t numbers[] = {2, 0, 1}, grays[] = {1, 2, 15}, quarters[] = {0, 1, 2, 3},
                         words[] = {7, 256, 255};
    uint8_t png[2048];

    (void)state;
    put("a.png", png, make_png(png, 3, 1, 8, 3, "PLTE", palette, 9, eight, sizeof eight));
    assert_pixels("a.png", 3, 1, 3, colours, 0);
    assert_labels("a.png", 3, 1, numbers);
    put("a.png", png, make_png(png, 3, 1, 2, 3, "PLTE", palette, 9, two, sizeof two));
    assert_pixels("a.png", 3, 1, 3, colours, 0);
    assert_labels("a.png", 3, 1, numbers);
    put("a.png", png, make_png(png, 3, 1, 8, 3, "PLTE", palette, 9, outside, sizeof outside));
    assert_refused("a.png", "a pixel has colour 3 of a palette of 3");
    assert_said(image_load_labels(&(struct image){0}, at("a.png")), "a pixel has colour 3 of a palette of 3");
    put("a.png", png, make_png(png, 3, 1, 8, 3, "PLTE", palette, 8, eight, sizeof eight));
    assert_refused("a.png", "its palette is wrong");
    put("a.png", png, make_png(png, 3, 1, 8, 3, "tEXt", palette, 3, eight, sizeof eight));
    assert_refused("a.png", "PLTE");

    /* Labels in gray, of which few bits are not stretched. */
    put("a.png", png, make_png(png, 3, 1, 4, 0, NULL, NULL, 0, four, sizeof four));
    assert_labels("a.png", 3, 1, grays);
    put("a.png", png, make_png(png, 4, 1, 2, 0, NULL, NULL, 0, two_bits, sizeof two_bits));
    assert_labels("a.png", 4, 1, quarters);
    put("a.png", png, make_png(png, 3, 1, 16, 0, NULL, NULL, 0, wide, sizeof wide));
    assert_labels("a.png", 3, 1, words);
    put("a.png", png, make_png(png, 1, 1, 8, 2, NULL, NULL, 0, eight, sizeof eight));
    assert_said(image_load_labels(&(struct image){0}, at("a.png")), "a picture in colours");
}

static void labels_of_pgm_and_npy(void **state)
{
    static const char few[] = "P2 3 1 3 0 1 3", many[] = "P5 2 1 1000\n\x03\xe8\0\x07", colours[] = "P3 1 1 255 1 2 3";
    static const int32_t three[] = {0, 1, 3}, two[] = {1000, 7};
    struct image image;

    (void)state;
    put("a.pgm", few, sizeof few - 1);
    assert_labels("a.pgm", 3, 1, three);
    put("a.pgm", many, sizeof many - 1);
    assert_labels("a.pgm", 2, 1, two);
    put("a.ppm", colours, sizeof colours - 1);
    assert_said(image_load_labels(&image, at("a.ppm")), "a picture in colours");
    for (int type = PIXEL_U8; type <= PIXEL_I32; type++) {
        assert_int_equal(image_create(&image, 3, 1, 1, (enum pixel_type)type), STATUS_OK);
        for (int x = 0; x < 3; x++)
            image_set_sample(&image, x, 0, 0, three[x]);
        assert_int_equal(image_save(&image, at("a.npy")), STATUS_OK);
        image_free(&image);
        assert_labels("a.npy", 3, 1, three);
    }
}

/* ------------------------------------------------------------------------------------------- four colours */

struct bits {
    uint8_t *bytes;
    size_t count;
    uint32_t waiting;
    int held;
};

static void add_bits(struct bits *bits, uint32_t value, int count)
{
    for (int i = count - 1; i >= 0; i--) {
        bits->waiting = bits->waiting << 1 | (value >> i & 1);
        if (++bits->held < 8)
            continue;
        bits->bytes[bits->count++] = (uint8_t)bits->waiting;
        if ((bits->waiting & 0xff) == 0xff)
            bits->bytes[bits->count++] = 0;
        bits->held = 0;
    }
}

static size_t add_segment(uint8_t *jpeg, size_t size, int marker, const void *data, size_t length)
{
    jpeg[size] = 0xff;
    jpeg[size + 1] = (uint8_t)marker;
    put_number(jpeg + size + 2, (uint32_t)length + 2, 2, true);
    memcpy(jpeg + size + 4, data, length);
    return size + 4 + length;
}

/* A JPEG of 8x8 pixels, all of one colour of `count` samples. Its steps are 1, so each block is its mean: category and
 * bits of 8 (v - 128), and the end of the block. transform: Adobe's, -1 = its marker is not there. */
static size_t make_jpeg(uint8_t *jpeg, const uint8_t *samples, int count, int transform, int frame)
{
    uint8_t steps[65], header[32] = {8, 0, 8, 0, 8, (uint8_t)count}, scan[32] = {(uint8_t)count};
    uint8_t dc[29] = {0, 0, 0, 0, 12}, ac[18] = {0x10, 1}, adobe[12] = "Adobe\0\144";
    struct bits bits;
    size_t size = 2;

    memcpy(jpeg, "\xff\xd8", 2);
    memset(steps, 1, sizeof steps);
    steps[0] = 0;
    adobe[11] = (uint8_t)transform;
    for (int i = 0; i < 12; i++)
        dc[17 + i] = (uint8_t)i;
    for (int i = 0; i < count; i++) {
        memcpy(header + 6 + 3 * i, (const uint8_t[]){(uint8_t)(i + 1), 0x11, 0}, 3);
        memcpy(scan + 1 + 2 * i, (const uint8_t[]){(uint8_t)(i + 1), 0}, 2);
    }
    scan[1 + 2 * count + 1] = 63;
    if (transform >= 0)
        size = add_segment(jpeg, size, 0xee, adobe, sizeof adobe);
    size = add_segment(jpeg, size, 0xdb, steps, sizeof steps);
    size = add_segment(jpeg, size, frame, header, 6 + 3 * (size_t)count);
    size = add_segment(jpeg, size, 0xc4, dc, sizeof dc);
    size = add_segment(jpeg, size, 0xc4, ac, sizeof ac);
    size = add_segment(jpeg, size, 0xda, scan, 4 + 2 * (size_t)count);
    bits = (struct bits){.bytes = jpeg + size};
    for (int i = 0; i < count; i++) {
        const int mean = 8 * (samples[i] - 128), magnitude = abs(mean);
        int category = 0;

        while (magnitude >> category)
            category++;
        add_bits(&bits, (uint32_t)category, 4);
        add_bits(&bits, (uint32_t)(mean < 0 ? mean - 1 : mean), category);
        add_bits(&bits, 0, 1);
    }
    add_bits(&bits, 0x7f, 7);
    memcpy(jpeg + size + bits.count, "\xff\xd9", 2);
    return size + bits.count + 2;
}

static void assert_one_colour(const uint8_t rgb[3])
{
    uint8_t samples[8 * 8 * 3];

    for (size_t i = 0; i < sizeof samples; i++)
        samples[i] = rgb[i % 3];
    assert_pixels("a.jpg", 8, 8, 3, samples, 1);
}

static void colours_of_jpeg(void **state)
{
    static const uint8_t four[] = {200, 100, 50, 128}, ycck[] = {100, 128, 178, 204};
    /* Each ink times black, 0 being full: Adobe's way, which all take for the only one. */
    static const uint8_t cmyk_rgb[] = {100, 50, 25};
    /* R = Y + 1.402 (Cr - 128) = 170.1, G = Y - 0.714 (Cr - 128) = 64.3, B = Y = 100; 255 less that, times 204/255. */
    static const uint8_t ycck_rgb[] = {68, 153, 124};
    uint8_t jpeg[2048];
    size_t size;

    (void)state;
    put("a.jpg", jpeg, make_jpeg(jpeg, four, 4, -1, 0xc0));
    assert_one_colour(cmyk_rgb);
    put("a.jpg", jpeg, make_jpeg(jpeg, four, 4, 0, 0xc0));
    assert_one_colour(cmyk_rgb);
    for (int transform = 1; transform <= 2; transform++) {
        put("a.jpg", jpeg, make_jpeg(jpeg, ycck, 4, transform, 0xc0));
        assert_one_colour(ycck_rgb);
    }
    put("a.jpg", jpeg, make_jpeg(jpeg, (const uint8_t[]){100, 128, 178}, 3, -1, 0xc0));
    assert_one_colour((const uint8_t[]){170, 64, 100});
    put("a.jpg", jpeg, make_jpeg(jpeg, (const uint8_t[]){170, 64, 100}, 3, 0, 0xc0));
    assert_one_colour((const uint8_t[]){170, 64, 100});
    for (int frame = 0xc3; frame <= 0xcf; frame++) {
        if (frame == 0xc4 || frame == 0xc8 || frame == 0xcc) /* tables, and a marker that is not in use */
            continue;
        put("a.jpg", jpeg, make_jpeg(jpeg, four, 3, -1, frame));
        assert_refused("a.jpg", "a JPEG of a kind that is not read");
    }
    size = make_jpeg(jpeg, four, 3, -1, 0xc0);
    *(uint8_t *)memmem(jpeg, size, "\xff\xc0\0\x11\x08", 5) = 0xff;
    ((uint8_t *)memmem(jpeg, size, "\xff\xc0\0\x11\x08", 5))[4] = 12;
    put("a.jpg", jpeg, size);
    assert_refused("a.jpg", "a JPEG of a kind that is not read");
}

/* ------------------------------------------------------------------------------------------------------ ENVI */

enum { SAMPLES = 3, LINES = 2, BANDS = 4 };

static const struct {
    int code, size;
    enum pixel_type type;
    bool negative;
} envi_types[] = {{1, 1, PIXEL_U8, false}, {2, 2, PIXEL_F32, true},   {3, 4, PIXEL_I32, true},  {4, 4, PIXEL_F32, true},
                  {5, 8, PIXEL_F64, true}, {12, 2, PIXEL_U16, false}, {13, 4, PIXEL_U32, false}};

static double envi_value(int x, int y, int b, bool negative)
{
    const double value = 10 * b + 3 * y + x + 1;

    return negative && (x + y + b) % 2 ? -value : value;
}

/* The data of a cube: samples of one of the types. interleave: 0 BIP, 1 BIL, 2 BSQ. */
static void put_cube(const char *name, size_t kind, int interleave, bool big, size_t offset)
{
    uint8_t bytes[1024] = {0};
    size_t size = offset;

    for (int i = 0; i < SAMPLES * LINES * BANDS; i++, size += (size_t)envi_types[kind].size) {
        const int b = interleave == 0 ? i % BANDS : interleave == 1 ? i / SAMPLES % BANDS : i / (SAMPLES * LINES);
        const int x = interleave == 0 ? i / BANDS % SAMPLES : i % SAMPLES;
        const int y = interleave == 2 ? i / SAMPLES % LINES : i / (SAMPLES * BANDS);
        const double value = envi_value(x, y, b, envi_types[kind].negative);
        const int32_t whole = (int32_t)value;
        const float single = (float)value;
        uint8_t raw[8];

        memcpy(raw, &whole, 4);
        if (envi_types[kind].code == 4)
            memcpy(raw, &single, 4);
        if (envi_types[kind].code == 5)
            memcpy(raw, &value, 8);
        for (int k = 0; k < envi_types[kind].size; k++)
            bytes[size + (size_t)k] = raw[big ? envi_types[kind].size - 1 - k : k];
    }
    put(name, bytes, size);
}

static void put_text(const char *name, const char *text)
{
    put(name, text, strlen(text));
}

/* The cube of `name` is the one of put_cube(), without the bands that are not in `bands`. */
static void assert_cube(const char *name, size_t kind, const char *bands)
{
    struct image cube;

    if (array_load(&cube, at(name), NULL) != STATUS_OK)
        fail_msg("%s", status_message());
    assert_int_equal(cube.width, SAMPLES);
    assert_int_equal(cube.height, LINES);
    assert_int_equal(cube.channels, strlen(bands));
    assert_int_equal(cube.type, envi_types[kind].type);
    for (int y = 0; y < LINES; y++)
        for (int x = 0; x < SAMPLES; x++)
            for (int c = 0; c < cube.channels; c++)
                assert_true(image_sample(&cube, x, y, c) ==
                            envi_value(x, y, bands[c] - '0', envi_types[kind].negative));
    image_free(&cube);
}

static void cubes_of_every_type(void **state)
{
    static const char *const interleaves[] = {"bip", "BIL", "Bsq"};

    (void)state;
    for (size_t kind = 0; kind < sizeof envi_types / sizeof envi_types[0]; kind++)
        for (int interleave = 0; interleave < 3; interleave++)
            for (int order = 0; order < 2; order++)
                for (size_t offset = 0; offset <= 7; offset += 7)
                    for (int bad = 0; bad < 2; bad++) {
                        char text[512];

                        snprintf(text, sizeof text,
                                 "ENVI\nsamples = %d\nlines = %d\nbands = %d\ndata type = %d\ninterleave = %s\n"
                                 "byte order = %d\nheader offset = %zu\n%s",
                                 SAMPLES, LINES, BANDS, envi_types[kind].code, interleaves[interleave], order, offset,
                                 bad ? "bbl = {1, 0,\n 1.0, 0}\n" : "");
                        put_text("cube.hdr", text);
                        put_cube("cube.img", kind, interleave, order == 1, offset);
                        assert_cube("cube.img", kind, bad ? "02" : "0123");
                    }
}

static void headers_may_say_more(void **state)
{
    static const char *const same[] = {
        "\357\273\277ENVI\r\nsamples=3\r\nlines=2\r\nbands=4\r\ndata type=1\r\ninterleave=bsq\r\n",
        "\n ENVI \n\n; a comment with { and = and samples = 9\n\n  samples\t=   3  \n\nLines = 2\nBANDS = 4\n"
        "data  type = 1 ; bytes\ninterleave = bsq;\n\n",
        "ENVI\ndescription = {samples = 7\n ; a comment with }\n lines = 9}\nsamples = 3\nlines = 2\nbands = 4\n"
        "data type = 1\ninterleave = bsq\nband names = { a, b }\n",
        "ENVI\rdescription =\r{samples = 7}\rsamples = 3\rlines = 2\rbands = 4\rdata\ttype = 1\rinterleave = bsq",
        "ENVI\nwavelength =\n\n { 1,2,\n\n3,4 } behind it samples = 5\nsamples = 3\nlines = 2\nbands = 4\n"
        "data type = 1\ninterleave = bsq\nbbl =\n{ 1 ,1, 1 1 }\ndata ignore value = -1",
        "ENVI\nfile type =\nsamples = 3\nlines = 2\nbands = 4\nno equals sign\ndata type = 1\ninterleave = bsq\n",
    };
    static const char plain[] = "ENVI\nsamples = 3\nlines = 2\nbands = 4\ndata type = 1\ninterleave = bsq\n";
    static const struct {
        const char *line, *reason;
    } wrong[] = {{"bbl = {1, 1, 1}", "bbl must be"},
                 {"bbl = {1, 1, 1, 1, 1}", "bbl must be"},
                 {"bbl = {1, 1, x, 1}", "bbl must be"},
                 {"bbl = 1", "bbl must be"},
                 {"bbl = {0, 0, 0, 0}", "its bbl leaves out all bands"},
                 {"data ignore value = none", "is no number"},
                 {"data ignore value = ", "is no number"},
                 {"data ignore value = 5", "1 of 6 pixels have its data ignore value, and here all are needed"},
                 {"samples = 3", "it says 'samples' twice"},
                 {"description = {", "a { without its }"},
                 {"file compression = 1", "a compressed ENVI file"}};
    char text[512];

    (void)state;
    put_cube("cube.img", 0, 2, false, 0);
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        put_text("cube.hdr", same[i]);
        assert_cube("cube.hdr", 0, "0123");
    }
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct image cube;

        snprintf(text, sizeof text, "%s%s\n", plain, wrong[i].line);
        put_text("cube.hdr", text);
        assert_said(array_load(&cube, at("cube.hdr"), NULL), wrong[i].reason);
        assert_null(cube.data);
    }
}

static void headers_and_data_find_each_other(void **state)
{
    static const char u8[] = "ENVI\nsamples = 3\nlines = 2\nbands = 4\ndata type = 1\ninterleave = bsq\n";
    static const char u16[] = "ENVI\nsamples = 3\nlines = 2\nbands = 4\ndata type = 12\ninterleave = bip\n";
    static const char named[] = "ENVI\nsamples = 3\nlines = 2\nbands = 4\ndata type = 1\ninterleave = bsq\n"
                                "data file = Scene.DAT\n";
    static const struct {
        const char *header, *data;
    } pairs[] = {{"a.hdr", "a.img"}, {"A.HDR", "A.IMG"},        {"a.Hdr", "a.dat"},
                 {"a.hdr", "a.Dat"}, {"a.dat.HDR", "a.dat"},    {"a.img.hdr", "a.img"},
                 {"a.hdr", "a"},     {"a.b.hdr", "a.b.raw"},    {"a.hdr", "a.BSQ"},
                 {"a.HDR", "a.bin"}, {"a.b.BIL.hdr", "a.b.BIL"}};
    struct image cube;

    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        empty_folder();
        put_text(pairs[i].header, u8);
        put_cube(pairs[i].data, 0, 2, false, 0);
        assert_cube(pairs[i].header, 0, "0123");
        assert_cube(pairs[i].data, 0, "0123");
    }
    /* scene.hdr is scene.dat's: scene.img has its own. */
    empty_folder();
    put_text("scene.hdr", u8);
    put_cube("scene.dat", 0, 2, false, 0);
    put_text("scene.img.Hdr", u16);
    put_cube("scene.img", 5, 0, false, 0);
    assert_cube("scene.img", 5, "0123");
    assert_cube("scene.img.Hdr", 5, "0123");
    assert_cube("scene.dat", 0, "0123");
    assert_cube("scene.hdr", 0, "0123");
    remove(at("scene.img.Hdr"));
    assert_said(array_load(&cube, at("scene.hdr"), NULL), "two data files beside it");
    assert_said(array_load(&cube, at("scene.img"), NULL), "48 bytes where its header");
    put_text("scene.hdr", named);
    assert_said(array_load(&cube, at("scene.img"), NULL), "scene.hdr says that it is of Scene.DAT");
    assert_cube("scene.dat", 0, "0123");
    put_text("scene.HDR", u8);
    remove(at("scene.hdr"));
    put_text("scene.Hdr", u8);
    assert_said(array_load(&cube, at("scene.dat"), NULL), "; name one");
    remove(at("scene.HDR"));
    remove(at("scene.Hdr"));
    assert_said(array_load(&cube, at("scene.dat"), NULL), "there is no");
}

/* What has the value is left out, whatever the type; what is made of the others goes back to where they lay. */
static void ignored_pixels_are_left_out(void **state)
{
    static const struct {
        const char *line;
        size_t kind;
        int left; /* raster index, -1 = none */
    } cases[] = {{"data ignore value = 2", 0, 1},      {"data ignore value = -2", 1, 1},
                 {"data ignore value = -2.0", 2, 1},   {"data ignore value = -2", 3, 1},
                 {"data ignore value = -2", 4, 1},     {"data ignore value = 14", 5, 3},
                 {"data ignore value = 36", 6, 5},     {"data ignore value = 2", 1, -1},
                 {"data ignore value = -9999", 0, -1}, {"data ignore value = nan", 3, -1},
                 {"data ignore value = -1e34", 3, -1}, {"data ignore value = -2\nbbl = {0, 1, 1, 1}", 3, -1}};
    const float fill[] = {NAN, -3.4028235e38f, -9999};
    static const char *const values[] = {"NaN", "-3.40282347e+38", "-9.999e3"};
    char text[512];
    struct image cube, whole;
    struct kept_pixels kept;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int n = 0;

        snprintf(text, sizeof text,
                 "ENVI\nsamples = %d\nlines = %d\nbands = %d\ndata type = %d\ninterleave = bil\n%s\n", SAMPLES, LINES,
                 BANDS, envi_types[cases[i].kind].code, cases[i].line);
        put_text("cube.hdr", text);
        put_cube("cube.img", cases[i].kind, 1, false, 0);
        assert_int_equal(array_load(&cube, at("cube.img"), &kept), STATUS_OK);
        if (cases[i].left < 0) {
            assert_null(kept.places);
            assert_int_equal(cube.width * cube.height, SAMPLES * LINES);
            image_free(&cube);
            continue;
        }
        assert_int_equal(kept.width, SAMPLES);
        assert_int_equal(kept.height, LINES);
        assert_int_equal(kept.count, SAMPLES * LINES - 1);
        assert_int_equal(cube.width * cube.height, SAMPLES * LINES - 1);
        for (int p = 0; p < SAMPLES * LINES; p++) {
            if (p == cases[i].left)
                continue;
            assert_int_equal(kept.places[n], p);
            assert_true(image_sample(&cube, n % cube.width, n / cube.width, 2) ==
                        envi_value(p % SAMPLES, p / SAMPLES, 2, envi_types[cases[i].kind].negative));
            n++;
        }
        assert_int_equal(kept_spread(&whole, &cube, &kept), STATUS_OK);
        for (int p = 0; p < SAMPLES * LINES; p++) {
            const double sample = image_sample(&whole, p % SAMPLES, p / SAMPLES, 1);

            if (p != cases[i].left)
                assert_true(sample == envi_value(p % SAMPLES, p / SAMPLES, 1, envi_types[cases[i].kind].negative));
            else if (whole.type == PIXEL_F32 || whole.type == PIXEL_F64)
                assert_true(isnan(sample));
            else
                assert_true(sample == (whole.type == PIXEL_I32 ? -1 : 0));
        }
        image_free(&whole);
        image_free(&cube);
        kept_free(&kept);
        assert_said(array_load(&cube, at("cube.img"), NULL), "1 of 6 pixels have its data ignore value");
    }
    for (size_t i = 0; i < sizeof fill / sizeof fill[0]; i++) {
        float samples[2][2] = {{1, fill[i]}, {3, 4}}; /* two pixels of two bands: one band is enough */

        snprintf(text, sizeof text,
                 "ENVI\nsamples = 2\nlines = 1\nbands = 2\ndata type = 4\ninterleave = bip\ndata ignore value = %s\n",
                 values[i]);
        put_text("cube.hdr", text);
        put("cube.img", samples, sizeof samples);
        assert_int_equal(array_load(&cube, at("cube.hdr"), &kept), STATUS_OK);
        assert_int_equal(kept.count, 1);
        assert_true(image_sample(&cube, 0, 0, 0) == 3 && cube.width == 1 && cube.height == 1);
        image_free(&cube);
        kept_free(&kept);
        samples[1][0] = fill[i];
        put("cube.img", samples, sizeof samples);
        assert_said(array_load(&cube, at("cube.hdr"), &kept), "2 of 2 pixels have its data ignore value");
        assert_null(kept.places);
    }
}

/* ---------------------------------------------------------------------------------------------------- names, CSV */

struct list {
    char text[512];
};

static void take_name(void *argument, const char *path)
{
    struct list *list = argument;
    const char *slash = strrchr(path, '/');

    snprintf(list->text + strlen(list->text), sizeof list->text - strlen(list->text), "%s ", slash + 1);
}

static void names_are_in_natural_order(void **state)
{
    static const char *const orders[] = {"08.p 09.p 010.p 011.p ",
                                         "1.p 2.p 10.p 20.p 100.p ",
                                         "1.p 01.p 001.p 2.p 02.p ",
                                         "a.p a1.p a1b.p a1b2.p a1b10.p a2.p b.p ",
                                         "0.p 00.p 0.q 1.p ",
                                         "f9_s10.p f09_s9.p f9_s011.p f10_s1.p ",
                                         "99999999999999999998.p 99999999999999999999.p ",
                                         "007a010.p 7a11.p 07a12.p "};

    (void)state;
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        char names[512], *rest = names, *name;
        struct list list = {""};

        empty_folder();
        snprintf(names, sizeof names, "%s", orders[i]);
        while ((name = strsep(&rest, " ")) && *name)
            put(name, "x", 1);
        video_each_file(at("*"), take_name, &list);
        if (i == 5) /* 9 before 10 in the second number decides, and zeros only where nothing else does */
            assert_string_equal(list.text, "f09_s9.p f9_s10.p f9_s011.p f10_s1.p ");
        else
            assert_string_equal(list.text, orders[i]);
    }
}

static void boxes_of_spreadsheets(void **state)
{
    static const char *const same[] = {
        "file,xmin,ymin,xmax,ymax\na,b.png,1,2,3\n", /* which has one comma too many */
        "\357\273\277file,xmin,ymin,xmax,ymax\r\n\"a,b.png\",1,2,30,40\r\n",
        "\357\273\277\"file\",\"xmin\",\"ymin\",\"xmax\",\"ymax\"\n\"shots/a,b.png\",\"1\",\"2\",\"30\",\"40\"\n",
        "\"note\",\"file\",\"xmin\",\"ymin\",\"xmax\",\"ymax\"\n\"says \"\"no\"\", twice\",\"a,b.png\",1,2,30,40\n"};
    static const char *const wrong[] = {"file,xmin,ymin,xmax,ymax\n\"a.png,1,2,30,40\n",
                                        "file,xmin,ymin,xmax,ymax\n\"a.png\"x,1,2,30,40\n"};

    (void)state;
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        struct barcode_known known = {0};
        const enum status status = (put_text("boxes.csv", same[i]), barcode_read_known(at("boxes.csv"), &known));

        if (i == 0) {
            assert_said(status, "no whole number of pixels");
            continue;
        }
        assert_int_equal(status, STATUS_OK);
        assert_int_equal(known.count, 1);
        assert_string_equal(known.items[0].file, "a,b.png");
        assert_true(known.items[0].x_min == 1 && known.items[0].y_max == 40);
        free(known.items);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct barcode_known known = {0};

        put_text("boxes.csv", wrong[i]);
        assert_said(barcode_read_known(at("boxes.csv"), &known), "boxes.csv:2: a quotation mark without its end");
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(palettes_of_bmp),
        TEST(masks_of_bmp),
        TEST(orientations_of_png),
        TEST(orientations_of_jpeg),
        TEST(palettes_of_png),
        TEST(labels_of_pgm_and_npy),
        TEST(colours_of_jpeg),
        TEST(cubes_of_every_type),
        TEST(headers_may_say_more),
        TEST(headers_and_data_find_each_other),
        TEST(ignored_pixels_are_left_out),
        TEST(names_are_in_natural_order),
        TEST(boxes_of_spreadsheets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
