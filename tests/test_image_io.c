/* Tests of image_io.h, npy.h and file.h: round trips, files made by hand byte for byte, and everything that can be
 * wrong with a file or a disk. Each test has a folder of its own, which at its end must hold no temporary file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/core/file.h"
#include "common/image/image_io.h"
#include "common/image/npy.h"
#include "common/image/pattern.h"

enum { NOBODY = 65534 }; /* a user without rights, to lose root's */

/* AddressSanitizer's own memory is above any limit on it. */
#if defined(__SANITIZE_ADDRESS__)
enum { SANITIZED = 1 };
#elif defined(__has_feature)
enum { SANITIZED = __has_feature(address_sanitizer) };
#else
enum { SANITIZED = 0 };
#endif

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
    /* In memory where that can be: thousands of small files, each of which ext4 would write out at once. */
    snprintf(folder, sizeof folder, "%s/rungs-test-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    return mkdtemp(folder) && chmod(folder, 0755) == 0 ? 0 : -1;
}

static int temporary_files(const char *path)
{
    DIR *directory = opendir(path);
    int found = 0;

    if (!directory)
        return -1;
    for (const struct dirent *entry; (entry = readdir(directory));)
        found += strstr(entry->d_name, "rungs") != NULL || strstr(entry->d_name, ".tmp") != NULL;
    closedir(directory);
    return found;
}

static int tear_down(void **state)
{
    const int left = temporary_files(folder);
    DIR *directory = opendir(folder);

    (void)state;
    chmod(folder, 0755);
    if (directory) {
        for (const struct dirent *entry; (entry = readdir(directory));) {
            if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
                remove(at(entry->d_name));
        }
        closedir(directory);
    }
    if (left != 0)
        print_error("%d temporary files left in %s\n", left, folder);
    return rmdir(folder) == 0 && left == 0 ? 0 : -1;
}

static void put(const char *path, const void *bytes, size_t size)
{
    FILE *stream = fopen(path, "wb");

    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, size, stream), size);
    assert_int_equal(fclose(stream), 0);
}

static uint8_t *get(const char *path, size_t *size)
{
    FILE *stream = fopen(path, "rb");
    uint8_t *bytes;

    assert_non_null(stream);
    fseek(stream, 0, SEEK_END);
    *size = (size_t)ftell(stream);
    rewind(stream);
    bytes = malloc(*size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, stream), *size);
    fclose(stream);
    return bytes;
}

/* The last message is one line that starts with the path and holds `reason`. */
static void assert_message(const char *path, const char *reason)
{
    const char *message = status_message();

    if (strncmp(message, path, strlen(path)) != 0 || message[strlen(path)] != ':' || strchr(message, '\n') ||
        !strstr(message, reason))
        fail_msg("message \"%s\" for %s should hold \"%s\"", message, path, reason);
}

static void assert_refused(const char *path, const char *reason)
{
    struct image image = {.width = 1};
    const enum status status = image_load(&image, path, 0);

    if (status != STATUS_BAD_INPUT)
        fail_msg("%s loaded with status %d (%s)", path, status, status_message());
    assert_message(path, reason);
    assert_null(image.data);
    assert_int_equal(image.width, 0);
}

static void assert_not_saved(const struct image *image, const char *path, const char *reason)
{
    const enum status status = image_save(image, path);

    if (status != STATUS_BAD_INPUT)
        fail_msg("%s saved with status %d", path, status);
    assert_message(path, reason);
}

static void assert_equal_images(const struct image *a, const struct image *b)
{
    assert_int_equal(a->width, b->width);
    assert_int_equal(a->height, b->height);
    assert_int_equal(a->channels, b->channels);
    assert_int_equal(a->type, b->type);
    for (int y = 0; y < a->height; y++)
        assert_memory_equal(image_row(a, y), image_row(b, y), image_row_bytes(a));
}

enum { CHILD_DONE = 0, CHILD_CANNOT = 77 };

/* Runs body in a child, for rights, mounts and limits that must not outlive it; its exit code is what body returns.
 * The body must not use cmocka's assertions: after a failure the child would run the tests that follow. */
static int in_child(int (*body)(const struct image *image), const struct image *image)
{
    int ended;
    const pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        const int code = body(image);

        fflush(stderr);
        _exit(code);
    }
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_true(WIFEXITED(ended));
    return WEXITSTATUS(ended);
}

/* 0 when the status is "bad input" and the message is "path: reason". */
static int check_in_child(enum status status, const char *path, const char *reason)
{
    char expected[1024];

    snprintf(expected, sizeof expected, "%s: %s", path, reason);
    if (status == STATUS_BAD_INPUT && strcmp(status_message(), expected) == 0)
        return CHILD_DONE;
    fprintf(stderr, "status %d, message \"%s\" where \"%s\" was expected\n", status, status_message(), expected);
    return 1;
}

/* Gives up root's rights; for good, so in a child. */
static bool become_nobody(void)
{
    return geteuid() != 0 || (setgid(NOBODY) == 0 && setuid(NOBODY) == 0);
}

/* A random image that is a window into a larger one: `outer` is what has to be freed. */
static struct image window_of(struct image *outer, int width, int height, int channels, enum pixel_type type)
{
    struct image window;

    assert_int_equal(image_create(outer, width + 70, height + 3, channels, type), STATUS_OK);
    pattern_fill(outer, PATTERN_RANDOM, (uint64_t)width * 1000003 + (uint64_t)height * 1009 + (uint64_t)channels);
    window = *outer;
    window.width = width;
    window.height = height;
    window.data = (char *)image_row(outer, 2) + 5 * (size_t)channels * pixel_size(type);
    return window;
}

/* Loads a file and compares its samples with those given row by row without padding. */
static void assert_loads(const char *path, int channels, int width, int height, int found, enum pixel_type type,
                         const void *samples)
{
    struct image image;

    if (image_load(&image, path, channels) != STATUS_OK)
        fail_msg("%s", status_message());
    assert_int_equal(image.width, width);
    assert_int_equal(image.height, height);
    assert_int_equal(image.channels, found);
    assert_int_equal(image.type, type);
    for (int y = 0; y < height; y++)
        assert_memory_equal(image_row(&image, y), (const char *)samples + (size_t)y * image_row_bytes(&image),
                            image_row_bytes(&image));
    image_free(&image);
}

/* ---------------------------------------------------------------------------------------------- round trips */

static void what_is_saved_is_loaded(void **state)
{
    static const struct {
        const char *name;
        int channels;
        enum pixel_type type;
    } kinds[] = {{"a.png", 1, PIXEL_U8},  {"a.png", 3, PIXEL_U8},    {"a.bmp", 1, PIXEL_U8},    {"a.bmp", 3, PIXEL_U8},
                 {"a.pgm", 1, PIXEL_U8},  {"a.ppm", 3, PIXEL_U8},    {"a.pgm", 1, PIXEL_U16},   {"a.ppm", 3, PIXEL_U16},
                 {"a.npy", 1, PIXEL_U8},  {"a.npy", 3, PIXEL_U8},    {"a.npy", 1, PIXEL_U16},   {"a.npy", 4, PIXEL_U16},
                 {"a.npy", 1, PIXEL_I32}, {"a.npy", 2, PIXEL_I32},   {"a.npy", 1, PIXEL_F32},   {"a.npy", 3, PIXEL_F32},
                 {"a.PNG", 3, PIXEL_U8},  {"a.NpY", 100, PIXEL_F32}, {"a b.c.Pgm", 1, PIXEL_U8}};
    static const int sizes[][2] = {{1, 1}, {1, 9}, {9, 1}, {2, 2}, {3, 5}, {13, 11}, {64, 3}, {65, 2}, {131, 67}};

    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            const char *path = at(kinds[k].name);
            struct image outer, window, loaded;

            window = window_of(&outer, sizes[s][0], sizes[s][1], kinds[k].channels, kinds[k].type);
            assert_int_equal(image_save_check(path), STATUS_OK);
            assert_int_equal(image_save(&window, path), STATUS_OK);
            if (image_load(&loaded, path, 0) != STATUS_OK)
                fail_msg("%s", status_message());
            assert_equal_images(&window, &loaded);
            assert_int_equal(loaded.stride, image_minimal_stride(&loaded));
            image_free(&loaded);
            image_free(&outer);
        }
    }
}

/* The format comes from the content, so a name that lies about it does not matter. */
static void content_decides_when_reading(void **state)
{
    struct image outer, window, loaded;

    (void)state;
    window = window_of(&outer, 17, 9, 3, PIXEL_U8);
    assert_int_equal(image_save(&window, at("a.bmp")), STATUS_OK);
    assert_int_equal(rename(at("a.bmp"), at("a.jpg")), 0);
    assert_int_equal(image_load(&loaded, at("a.jpg"), 0), STATUS_OK);
    assert_equal_images(&window, &loaded);
    image_free(&loaded);
    assert_int_equal(image_save(&window, at("a.npy")), STATUS_OK);
    assert_int_equal(rename(at("a.npy"), at("a.png")), 0);
    assert_refused(at("a.png"), "a NumPy array; its name must end in .npy");
    image_free(&outer);
}

static void jpeg_is_close(void **state)
{
    static const char *const names[] = {"a.jpg", "a.jpeg", "a.JPG"};

    (void)state;
    for (int i = 0; i < 6; i++) {
        const int channels = i % 2 ? 3 : 1;
        struct image image, loaded;

        assert_int_equal(image_create(&image, 45, 37, channels, PIXEL_U8), STATUS_OK);
        for (int y = 0; y < 37; y++) {
            uint8_t *row = image_row(&image, y);
            for (int x = 0; x < 45 * channels; x++)
                row[x] = (uint8_t)(40 + 3 * y + 2 * (x / channels));
        }
        assert_int_equal(image_save(&image, at(names[i / 2])), STATUS_OK);
        assert_int_equal(image_load(&loaded, at(names[i / 2]), 0), STATUS_OK);
        assert_int_equal(loaded.channels, 3);
        image_free(&loaded);
        assert_int_equal(image_load(&loaded, at(names[i / 2]), channels), STATUS_OK);
        assert_true(image_same_shape(&image, &loaded));
        for (int y = 0; y < 37; y++) {
            const uint8_t *a = image_row(&image, y), *b = image_row(&loaded, y);
            for (int x = 0; x < 45 * channels; x++)
                assert_in_range(a[x] - b[x] + 3, 0, 6);
        }
        image_free(&loaded);
        image_free(&image);
    }
}

static void channels_are_converted(void **state)
{
    static const uint8_t rgb_8[] = {255, 255, 255, 255, 0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 1, 2, 3};
    static const uint8_t gray_8[] = {255, 76, 150, 29, 0, 2};
    static const uint16_t rgb_16[] = {65535, 65535, 65535, 65535, 0, 0};
    static const uint16_t gray_16[] = {65535, 19596};
    static const int32_t rgb_32[] = {INT32_MAX, INT32_MAX, INT32_MAX, INT32_MIN, INT32_MIN, INT32_MIN, -1000, 0, 0};
    static const int32_t gray_32[] = {INT32_MAX, INT32_MIN, -299};
    static const uint8_t tripled[] = {255, 255, 255, 76, 76, 76, 150, 150, 150, 29, 29, 29, 0, 0, 0, 2, 2, 2};
    struct image image = {.width = 6, .height = 1, .channels = 3, .type = PIXEL_U8, .stride = 64};
    struct image loaded;

    (void)state;
    image.data = (void *)(uintptr_t)rgb_8;
    assert_int_equal(image_save(&image, at("a.ppm")), STATUS_OK);
    assert_loads(at("a.ppm"), 1, 6, 1, 1, PIXEL_U8, gray_8);
    assert_loads(at("a.ppm"), 3, 6, 1, 3, PIXEL_U8, rgb_8);
    image.channels = 1;
    image.data = (void *)(uintptr_t)gray_8;
    assert_int_equal(image_save(&image, at("a.pgm")), STATUS_OK);
    assert_loads(at("a.pgm"), 3, 6, 1, 3, PIXEL_U8, tripled);
    image = (struct image){.width = 2, .height = 1, .channels = 3, .type = PIXEL_U16, .stride = 64};
    image.data = (void *)(uintptr_t)rgb_16;
    assert_int_equal(image_save(&image, at("a.ppm")), STATUS_OK);
    assert_loads(at("a.ppm"), 1, 2, 1, 1, PIXEL_U16, gray_16);
    image = (struct image){.width = 3, .height = 1, .channels = 3, .type = PIXEL_I32, .stride = 64};
    image.data = (void *)(uintptr_t)rgb_32;
    assert_int_equal(image_save(&image, at("a.npy")), STATUS_OK);
    assert_loads(at("a.npy"), 1, 3, 1, 1, PIXEL_I32, gray_32);

    assert_int_equal(image_create(&image, 2, 2, 5, PIXEL_F32), STATUS_OK);
    image_fill(&image, 0);
    assert_int_equal(image_save(&image, at("a.npy")), STATUS_OK);
    assert_int_equal(image_load(&loaded, at("a.npy"), 3), STATUS_BAD_INPUT);
    assert_message(at("a.npy"), "has 5 channels where 3 are needed");
    assert_null(loaded.data);
    image_free(&image);
}

/* ---------------------------------------------------------------------------------------- files made by hand */

static void hand_made_pnm(void **state)
{
    static const uint8_t plain[] = {0, 1, 2, 3, 254, 255};
    static const uint8_t fifteenths[] = {0, 17, 119, 255};
    static const uint16_t wide[] = {0, 1, 256, 65535};
    static const uint16_t scaled[] = {0, 16, 65535};
    static const uint8_t rgb[] = {10, 20, 35, 40, 50, 60};

    (void)state;
#define PUT(name, text) put(at(name), text, sizeof(text) - 1)
    PUT("a.pgm", "P2 # a comment 9 9\n#another\n3\t2\r\n255\n0 1 2\n3 # one more\n254 255\n");
    assert_loads(at("a.pgm"), 0, 3, 2, 1, PIXEL_U8, plain);
    PUT("a.pgm", "P5#c\n2 2 15\n\0\1\7\17");
    assert_loads(at("a.pgm"), 0, 2, 2, 1, PIXEL_U8, fifteenths);
    PUT("a.pgm", "P5\n2 2\n65535\n\0\0\0\1\1\0\377\377");
    assert_loads(at("a.pgm"), 0, 2, 2, 1, PIXEL_U16, wide);
    PUT("a.pgm", "P2 3 1 4095 0 1 4095");
    assert_loads(at("a.pgm"), 0, 3, 1, 1, PIXEL_U16, scaled);
    /* 35 is '#': in the data it starts no comment, and the blank after 255 is the only one that is skipped. */
    PUT("a.ppm", "P6 2 1 255\n\12\24#(2<");
    assert_loads(at("a.ppm"), 0, 2, 1, 3, PIXEL_U8, rgb);
    PUT("a.ppm", "P3 2 1 255 10 20 35 40 50 60");
    assert_loads(at("a.ppm"), 0, 2, 1, 3, PIXEL_U8, rgb);
}

static void hand_made_bmp(void **state)
{
    static const uint8_t bottom_up[] = {'B', 'M', 70, 0, 0, 0, 0, 0, 0, 0, 54, 0,  0,  0,  40, 0, 0,  0,
                                        2,   0,   0,  0, 2, 0, 0, 0, 1, 0, 24, 0,  0,  0,  0,  0, 16, 0,
                                        0,   0,   0,  0, 0, 0, 0, 0, 0, 0, 0,  0,  0,  0,  0,  0, 0,  0,
                                        1,   2,   3,  4, 5, 6, 0, 0, 7, 8, 9,  10, 11, 12, 0,  0};
    static const uint8_t rgb[] = {9, 8, 7, 12, 11, 10, 3, 2, 1, 6, 5, 4};
    static const uint8_t flipped[] = {3, 2, 1, 6, 5, 4, 9, 8, 7, 12, 11, 10};
    uint8_t bytes[sizeof bottom_up];

    (void)state;
    put(at("a.bmp"), bottom_up, sizeof bottom_up);
    assert_loads(at("a.bmp"), 0, 2, 2, 3, PIXEL_U8, rgb);
    memcpy(bytes, bottom_up, sizeof bytes);
    memset(bytes + 22, 0xff, 4); /* height -2 */
    bytes[22] = 0xfe;
    put(at("a.bmp"), bytes, sizeof bytes);
    assert_loads(at("a.bmp"), 0, 2, 2, 3, PIXEL_U8, flipped);
    memcpy(bytes + 22, "\0\0\0\x80", 4); /* height -2^31, whose absolute value no int holds */
    put(at("a.bmp"), bytes, sizeof bytes);
    assert_refused(at("a.bmp"), "2x2147483648 pixels: larger than 65535 a side");
}

static void big_endian(uint8_t *bytes, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(value >> (24 - 8 * i));
}

/* Bit by bit, unlike the table in picture_probe.c. */
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
    big_endian(png + size, (uint32_t)length);
    memcpy(png + size + 4, name, 4);
    memcpy(png + size + 8, data, length);
    big_endian(png + size + 8 + length, crc_of(png + size + 4, length + 4));
    return size + 12 + length;
}

/* A PNG whose filtered rows are stored without compression. `palette` may be NULL. Returns its size. */
static size_t make_png(uint8_t *png, uint32_t width, uint32_t height, int depth, int kind, const uint8_t *palette,
                       size_t palette_size, const uint8_t *rows, size_t rows_size)
{
    uint8_t header[13] = {0}, zlib[256] = {0x78, 0x01, 1};
    uint32_t a = 1, b = 0;
    size_t size = 8;

    memcpy(png, "\x89PNG\r\n\x1a\n", 8);
    big_endian(header, width);
    big_endian(header + 4, height);
    header[8] = (uint8_t)depth;
    header[9] = (uint8_t)kind;
    size = add_chunk(png, size, "IHDR", header, sizeof header);
    if (palette)
        size = add_chunk(png, size, "PLTE", palette, palette_size);
    zlib[3] = (uint8_t)rows_size;
    zlib[5] = (uint8_t)~zlib[3];
    zlib[6] = 0xff;
    memcpy(zlib + 7, rows, rows_size);
    for (size_t i = 0; i < rows_size; i++) {
        a = (a + rows[i]) % 65521;
        b = (b + a) % 65521;
    }
    big_endian(zlib + 7 + rows_size, b << 16 | a);
    size = add_chunk(png, size, "IDAT", zlib, 11 + rows_size);
    return add_chunk(png, size, "IEND", "", 0);
}

static void hand_made_png(void **state)
{
    static const uint8_t gray_16_rows[] = {0, 0x12, 0x34, 0xff, 0xfe, 0, 0x00, 0x01, 0x80, 0x00};
    static const uint16_t gray_16[] = {0x1234, 0xfffe, 1, 0x8000};
    static const uint8_t gray_alpha_rows[] = {0, 10, 255, 20, 0};
    static const uint8_t gray_8[] = {10, 20};
    static const uint8_t rgba_rows[] = {0, 1, 2, 3, 0, 4, 5, 6, 128};
    static const uint8_t rgb[] = {1, 2, 3, 4, 5, 6};
    static const uint8_t rgba_16_rows[] = {0, 1, 2, 3, 4, 5, 6, 0, 0};
    static const uint16_t rgb_16[] = {0x0102, 0x0304, 0x0506};
    static const uint8_t palette[] = {9, 9, 9, 4, 5, 6, 1, 2, 3};
    static const uint8_t palette_rows[] = {0, 2, 1};
    static const uint8_t bit_rows[] = {0, 0xa0};
    static const uint8_t bits[] = {255, 0, 255};
    uint8_t png[1024];

    (void)state;
    put(at("a.png"), png, make_png(png, 2, 2, 16, 0, NULL, 0, gray_16_rows, sizeof gray_16_rows));
    assert_loads(at("a.png"), 0, 2, 2, 1, PIXEL_U16, gray_16);
    put(at("a.png"), png, make_png(png, 2, 1, 8, 4, NULL, 0, gray_alpha_rows, sizeof gray_alpha_rows));
    assert_loads(at("a.png"), 0, 2, 1, 1, PIXEL_U8, gray_8);
    put(at("a.png"), png, make_png(png, 2, 1, 8, 6, NULL, 0, rgba_rows, sizeof rgba_rows));
    assert_loads(at("a.png"), 0, 2, 1, 3, PIXEL_U8, rgb);
    put(at("a.png"), png, make_png(png, 1, 1, 16, 6, NULL, 0, rgba_16_rows, sizeof rgba_16_rows));
    assert_loads(at("a.png"), 0, 1, 1, 3, PIXEL_U16, rgb_16);
    put(at("a.png"), png, make_png(png, 2, 1, 8, 3, palette, sizeof palette, palette_rows, sizeof palette_rows));
    assert_loads(at("a.png"), 0, 2, 1, 3, PIXEL_U8, rgb);
    put(at("a.png"), png, make_png(png, 3, 1, 1, 0, NULL, 0, bit_rows, sizeof bit_rows));
    assert_loads(at("a.png"), 0, 3, 1, 1, PIXEL_U8, bits);
}

/* Puts a .npy file of format version `version` with this header text (as it is) and data. */
static void put_npy(const char *path, int version, const char *header, const void *data, size_t size)
{
    uint8_t bytes[2048] = {0x93, 'N', 'U', 'M', 'P', 'Y', (uint8_t)version};
    const size_t length = strlen(header);
    size_t start = 8;

    bytes[start++] = (uint8_t)length;
    bytes[start++] = (uint8_t)(length >> 8);
    if (version > 1)
        start += 2;
    assert_true(start + length + size <= sizeof bytes);
    memcpy(bytes + start, header, length);
    if (size > 0)
        memcpy(bytes + start + length, data, size);
    put(path, bytes, start + length + size);
}

static void hand_made_npy(void **state)
{
    static const uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    static const uint16_t big_16[] = {0x0102, 0x0304, 0x0506, 0x0708, 0x090a, 0x0b0c};
    static const uint16_t little_16[] = {0x0201, 0x0403, 0x0605, 0x0807, 0x0a09, 0x0c0b};
    static const int32_t big_32[] = {0x01020304, 0x05060708, 0x090a0b0c};
    static const double reals[] = {1.5, -0.0, 1e300, -1e300, NAN, 1.0 + 1e-12};
    static const uint8_t big_double[] = {0xbf, 0xe0, 0, 0, 0, 0, 0, 0}, big_float[] = {0xc0, 0x20, 0, 0};
    static const float minus_half[] = {-0.5f}, minus_two_and_half[] = {-2.5f};
    static const char *const same[] = {
        "{'descr': '|u1', 'fortran_order': False, 'shape': (3, 4), }          \n",
        "{'descr':'|u1','fortran_order':False,'shape':(3,4)}\n",
        "{\"shape\" : ( 3 , 4 , ) , \"descr\" : \"<u1\" , \"fortran_order\" : False , }",
        "  {  'fortran_order'  :False,\n\t'shape': (3L, 4L), 'descr': '>u1'}  \n",
        "{'descr': '=u1', 'fortran_order': False, 'shape': (3, 4, 1), }\n",
    };
    struct image image;

    (void)state;
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        for (int version = 1; version <= 3; version++) {
            put_npy(at("a.npy"), version, same[i], bytes, sizeof bytes);
            assert_loads(at("a.npy"), 0, 4, 3, 1, PIXEL_U8, bytes);
        }
    }
    put_npy(at("a.npy"), 1, "{'descr': '>u2', 'fortran_order': False, 'shape': (1, 2, 3), }\n", bytes, 12);
    assert_loads(at("a.npy"), 0, 2, 1, 3, PIXEL_U16, big_16);
    put_npy(at("a.npy"), 1, "{'descr': '<u2', 'fortran_order': False, 'shape': (1, 2, 3), }\n", bytes, 12);
    assert_loads(at("a.npy"), 0, 2, 1, 3, PIXEL_U16, little_16);
    put_npy(at("a.npy"), 1, "{'descr': '>i4', 'fortran_order': False, 'shape': (3, 1), }\n", bytes, 12);
    assert_loads(at("a.npy"), 0, 1, 3, 1, PIXEL_I32, big_32);
    put_npy(at("a.npy"), 1, "{'descr': '>f4', 'fortran_order': False, 'shape': (1, 1), }\n", big_float, 4);
    assert_loads(at("a.npy"), 0, 1, 1, 1, PIXEL_F32, minus_two_and_half);
    put_npy(at("a.npy"), 1, "{'descr': '>f8', 'fortran_order': False, 'shape': (1, 1), }\n", big_double, 8);
    assert_loads(at("a.npy"), 0, 1, 1, 1, PIXEL_F32, minus_half);

    put_npy(at("a.npy"), 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }\n", reals, sizeof reals);
    assert_int_equal(npy_load(&image, at("a.npy")), STATUS_OK);
    assert_int_equal(image.type, PIXEL_F32);
    const float *row_0 = image_row(&image, 0), *row_1 = image_row(&image, 1);
    assert_true(row_0[0] == 1.5f && row_0[1] == 0 && signbit(row_0[1]) && row_0[2] == INFINITY);
    assert_true(row_1[0] == -INFINITY && isnan(row_1[1]) && row_1[2] == 1.0f);
    image_free(&image);
}

static void npy_is_written_to_the_byte(void **state)
{
    /* 118 bytes of header: with the 10 before them, the data starts at 128. */
    static const char start[] = "\x93NUMPY\x01\x00\x76\x00{'descr': '<u2', 'fortran_order': False, 'shape': (2, 3), }";
    static const char start_rgb[] =
        "\x93NUMPY\x01\x00\x76\x00{'descr': '|u1', 'fortran_order': False, 'shape': (1, 2, 3), }";
    static const uint16_t samples[] = {1, 2, 3, 0x1234, 65535, 0};
    struct image image = {.width = 3, .height = 2, .channels = 1, .type = PIXEL_U16, .stride = 6};
    uint8_t expected[140], *bytes;
    size_t size;

    (void)state;
    image.data = (void *)(uintptr_t)samples;
    assert_int_equal(npy_save(&image, at("a.npy")), STATUS_OK);
    memset(expected, ' ', 128);
    memcpy(expected, start, sizeof start - 1);
    expected[127] = '\n';
    memcpy(expected + 128, "\1\0\2\0\3\0\x34\x12\xff\xff\0\0", 12);
    bytes = get(at("a.npy"), &size);
    assert_int_equal(size, sizeof expected);
    assert_memory_equal(bytes, expected, size);
    free(bytes);

    image = (struct image){.width = 2, .height = 1, .channels = 3, .type = PIXEL_U8, .stride = 6};
    image.data = (void *)(uintptr_t)samples;
    assert_int_equal(npy_save(&image, at("a.npy")), STATUS_OK);
    bytes = get(at("a.npy"), &size);
    assert_int_equal(size, 128 + 6);
    assert_memory_equal(bytes, start_rgb, sizeof start_rgb - 1);
    assert_memory_equal(bytes + 128, "\1\0\2\0\3\0", 6);
    free(bytes);
}

/* NumPy itself, where it is installed: its files are read, and it reads ours. */
static void numpy_agrees(void **state)
{
    static const char *const dtypes[] = {"|u1", "<u2", ">u2", "<i4", ">i4", "<f4", ">f4", "<f8", ">f8"};
    char command[2048];

    (void)state;
    if (system("python3 -c 'import numpy' >/dev/null 2>&1") != 0)
        skip();
    for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++) {
        struct image image;

        for (int channels = 1; channels <= 3; channels += 2) {
            snprintf(command, sizeof command,
                     "cd %s && python3 -c \"import numpy as n; a = n.arange(5 * 7 * %d).reshape((5, 7, %d)[:%d])"
                     ".astype('%s'); n.save('a.npy', a)\"",
                     folder, channels, channels, channels == 1 ? 2 : 3, dtypes[i]);
            assert_int_equal(system(command), 0);
            assert_int_equal(image_load(&image, at("a.npy"), 0), STATUS_OK);
            assert_int_equal(image.height, 5);
            assert_int_equal(image.width, 7);
            assert_int_equal(image.channels, channels);
            assert_int_equal(image_save(&image, at("b.npy")), STATUS_OK);
            snprintf(command, sizeof command,
                     "cd %s && python3 -c \"import numpy as n; a = n.load('a.npy'); b = n.load('b.npy');"
                     "assert a.shape == b.shape and (a == b).all() and b.dtype == '%s'\"",
                     folder,
                     image.type == PIXEL_F32   ? "<f4"
                     : image.type == PIXEL_I32 ? "<i4"
                     : image.type == PIXEL_U16 ? "<u2"
                                               : "|u1");
            assert_int_equal(system(command), 0);
            image_free(&image);
        }
    }
}

/* ------------------------------------------------------------------------------------------------- bad input */

static int load_secret_as_nobody(const struct image *image)
{
    struct image loaded;

    (void)image;
    if (!become_nobody())
        return 1;
    return check_in_child(image_load(&loaded, at("secret.png"), 0), at("secret.png"), "Permission denied");
}

static void bad_paths(void **state)
{
    struct image outer, window;

    (void)state;
    assert_refused(at("missing.png"), "No such file or directory");
    assert_refused(at("missing.npy"), "No such file or directory");
    assert_refused(folder, "Is a directory");
    put(at("empty.png"), "", 0);
    assert_refused(at("empty.png"), "empty file");
    put(at("empty.npy"), "", 0);
    assert_refused(at("empty.npy"), "empty file");
    assert_refused("/dev/null", "not a regular file");
    assert_refused("/dev/zero", "not a regular file");
    assert_int_equal(mkfifo(at("pipe.png"), 0600), 0);
    assert_refused(at("pipe.png"), "not a regular file");
    assert_int_equal(symlink("nowhere", at("link.png")), 0);
    assert_refused(at("link.png"), "No such file or directory");
    assert_refused(at("empty.png/x.png"), "Not a directory");

    window = window_of(&outer, 5, 4, 1, PIXEL_U8);
    assert_int_equal(image_save(&window, at("secret.png")), STATUS_OK);
    image_free(&outer);
    assert_int_equal(chmod(at("secret.png"), 0), 0);
    assert_int_equal(in_child(load_secret_as_nobody, NULL), CHILD_DONE);
}

static void bad_pictures(void **state)
{
    static const struct {
        const char *name;
        const char *bytes;
        size_t size;
        const char *reason;
    } files[] = {
#define FILE_OF(name, text, reason) {name, text, sizeof(text) - 1, reason}
        FILE_OF("text.png", "This is no picture.\n", "not a PNG, JPEG, BMP, PGM or PPM picture"),
        FILE_OF("one.png", "x", "not a PNG, JPEG, BMP, PGM or PPM picture"),
        FILE_OF("gif.png", "GIF89a\1\0\1\0\0\0\0;", "not a PNG, JPEG, BMP, PGM or PPM picture"),
        /* The headers of TGA and of Radiance, which stb would take. */
        FILE_OF("a.tga", "\0\0\2\0\0\0\0\0\0\0\0\0\1\0\1\0\30\0abc", "not a PNG"),
        FILE_OF("a.hdr", "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 1\nabcd", "not a PNG"),
        FILE_OF("bitmap.pbm", "P4 8 1\n\xff", "not a PNG"),
        FILE_OF("short.bmp", "BM", "not a PNG"),
        FILE_OF("bm.bmp", "BMW builds cars and motorcycles", "not a PNG"),
        FILE_OF("a.pgm", "P5", "not a PNG"),
        FILE_OF("a.pgm", "P5 ", "header is not complete"),
        FILE_OF("a.pgm", "P5 3 2 255", "header is not complete"),
        FILE_OF("a.pgm", "P5 three 2 255\n", "header is not complete"),
        FILE_OF("a.pgm", "P5 -3 2 255\n", "header is not complete"),
        FILE_OF("a.pgm", "P5 3 2 255\nabcde", "5 bytes are too few for 3x2 pixels"),
        FILE_OF("a.pgm", "P5 3 2 256\nabcdefghijk", "11 bytes are too few for 3x2 pixels"),
        FILE_OF("a.pgm", "P5 0 2 255\n", "width or height is 0"),
        FILE_OF("a.pgm", "P5 3 0 255\n", "width or height is 0"),
        FILE_OF("a.pgm", "P5 3 2 0\nabcdef", "maximum value"),
        FILE_OF("a.pgm", "P5 3 2 65536\nabcdef", "maximum value"),
        FILE_OF("a.pgm", "P5 3 1 98\nabc", "above the maximum"),
        FILE_OF("a.pgm", "P5 100000 100000 255\n", "100000x100000 pixels: larger than 65535 a side"),
        FILE_OF("a.pgm", "P5 99999999999999999999999999 1 255\n", "larger than 65535 a side"),
        FILE_OF("a.pgm", "P5 65535 65535 255\n", "larger than 1 GiB"),
        FILE_OF("a.ppm", "P6 30000 30000 255\n", "larger than 1 GiB"),
        FILE_OF("a.pgm", "P2 3 1 255 1 2", "too few"),
        FILE_OF("a.pgm", "P2 3 1 255 100 200", "a sample is missing"),
        FILE_OF("a.pgm", "P2 3 1 255 1 2 x", "a sample is missing"),
        FILE_OF("a.pgm", "P2 3 1 255 1 2 256", "above the maximum"),
        FILE_OF("a.pgm", "P2 1 1 255 99999999999999999999999999", "above the maximum"),
        FILE_OF("a.jpg", "\xff\xd8\xff\xd9", "JPEG: it does not reach its end mark"),
        FILE_OF("a.jpg", "\xff\xd8\xff\xe0\xff\xff", "JPEG: it does not reach its end mark"),
        FILE_OF("a.jpg", "\xff\xd8\xff\xc0\0\11\10\xff\xff\xff\xff\1\0\xff\xd9", "larger than 1 GiB"),
        FILE_OF("a.jpg", "\xff\xd8\xff\xc0\0\11\10\0\0\0\1\1\0\xff\xd9", "width or height is 0"),
        FILE_OF("a.jpg", "\xff\xd8\xff\xc0\0\11\10\7\xd0\7\xd0\1\0\xff\xd9", "too few for 2000x2000 pixels"),
        FILE_OF("a.jpg", "\xff\xd8\xff\xc0\0\13\10\0\1\0\1\1\1\x11\0\xff\xd9", "its pixels are not there"),
        FILE_OF("a.jpg", "\xff\xd8\xff\xc3\0\13\10\0\1\0\1\1\1\x11\0\xff\xd9", "a JPEG of a kind that is not read"),
        FILE_OF("a.png", "\x89PNG", "PNG: no header"),
        FILE_OF("a.png", "\x89PNG\r\n\x1a\n", "PNG: no header"),
    };

    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        put(at(files[i].name), files[i].bytes, files[i].size);
        assert_refused(at(files[i].name), files[i].reason);
    }
}

/* The headers claim pictures that the files do not hold; nothing of that size may be allocated. */
static void lying_headers(void **state)
{
    static const uint8_t row[] = {0, 1, 2, 3};
    static const struct {
        uint32_t width, height;
        int depth, kind;
        const char *reason;
    } claims[] = {{100000, 100000, 8, 2, "100000x100000 pixels: larger than 65535 a side"},
                  {0xffffffff, 0xffffffff, 8, 2, "4294967295x4294967295 pixels: larger than 65535 a side"},
                  {1, 65536, 8, 0, "larger than 65535 a side"},
                  {65535, 65535, 8, 2, "larger than 1 GiB"},
                  {65535, 65535, 1, 0, "larger than 1 GiB"},
                  {20000, 20000, 16, 2, "larger than 1 GiB"},
                  {30000, 30000, 8, 0, "too few for 30000x30000 pixels"},
                  {0, 5, 8, 0, "width or height is 0"},
                  {5, 0, 8, 0, "width or height is 0"},
                  {3, 3, 8, 0, "(stb: "},  /* data for one row */
                  {3, 1, 7, 0, "(stb: "},  /* no such depth */
                  {3, 1, 8, 5, "(stb: "},  /* no such colour type */
                  {3, 1, 8, 3, "(stb: "}}; /* a palette that is not there */
    struct rlimit before, small;
    uint8_t png[1024];

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_DATA, &before), 0);
    small = before;
    if (!SANITIZED)
        small.rlim_cur = 256 << 20;
    assert_int_equal(setrlimit(RLIMIT_DATA, &small), 0);
    for (size_t i = 0; i < sizeof claims / sizeof claims[0]; i++) {
        put(at("a.png"), png,
            make_png(png, claims[i].width, claims[i].height, claims[i].depth, claims[i].kind, NULL, 0, row,
                     sizeof row));
        assert_refused(at("a.png"), claims[i].reason);
    }
    assert_int_equal(setrlimit(RLIMIT_DATA, &before), 0);
}

/* Puts the right checksum into every chunk, so that mutations reach the decoder. */
static void repair_png(uint8_t *bytes, size_t size)
{
    for (size_t i = 8; i + 12 <= size;) {
        const size_t length =
            (size_t)bytes[i] << 24 | (size_t)bytes[i + 1] << 16 | (size_t)bytes[i + 2] << 8 | bytes[i + 3];

        if (length > size - i - 12)
            return;
        big_endian(bytes + i + 8 + length, crc_of(bytes + i + 4, length + 4));
        i += 12 + length;
    }
}

static void damaged_png(void **state)
{
    static const uint8_t row[] = {0, 1, 2, 3};
    uint8_t png[1024];
    const size_t size = make_png(png, 3, 1, 8, 0, NULL, 0, row, sizeof row);

    (void)state;
    /* A chunk that must be understood but is not, whose name would break the message into two lines. */
    memcpy(png + 33 + 4, "IDA\n", 4);
    repair_png(png, size);
    put(at("a.png"), png, size);
    assert_refused(at("a.png"), "stb: IDA?");
    memcpy(png + 33 + 4, "IDAT", 4);
    repair_png(png, size);

    /* Any single bit of a chunk, its checksum included, and of the signature. */
    for (size_t i = 0; i < size; i++) {
        for (int bit = 0; bit < 8; bit++) {
            struct image image;

            png[i] ^= (uint8_t)(1 << bit);
            put(at("a.png"), png, size);
            assert_int_equal(image_load(&image, at("a.png"), 0), STATUS_BAD_INPUT);
            png[i] ^= (uint8_t)(1 << bit);
        }
    }
    put(at("a.png"), png, size);
    assert_loads(at("a.png"), 0, 3, 1, 1, PIXEL_U8, row + 1);
}

/* stb trusts the tables of a JPEG to be there and to be sound. */
static void jpeg_tables(void **state)
{
    enum { DHT = 0xc4, DQT = 0xdb, SOS = 0xda };
    uint8_t *bytes, *copy, table[4 + 17 + 256] = {0xff, DHT, (2 + 17 + 256) >> 8, (2 + 17 + 256) & 255, 0x10};
    struct image image, outer, window = window_of(&outer, 20, 12, 3, PIXEL_U8);
    int removed = 0;
    size_t size;

    (void)state;
    assert_int_equal(image_save(&window, at("a.jpg")), STATUS_OK);
    image_free(&outer);
    bytes = get(at("a.jpg"), &size);
    copy = malloc(size + sizeof table);
    assert_non_null(copy);
    for (size_t segment = 2; bytes[segment + 1] != SOS;) {
        const size_t length = 2 + ((size_t)bytes[segment + 2] << 8 | bytes[segment + 3]);

        if (bytes[segment + 1] == DHT || bytes[segment + 1] == DQT) {
            memcpy(copy, bytes, segment);
            memcpy(copy + segment, bytes + segment + length, size - segment - length);
            put(at("b.jpg"), copy, size - length);
            if (image_load(&image, at("b.jpg"), 0) == STATUS_OK)
                image_free(&image);
            removed++;
        }
        segment += length;
    }
    assert_true(removed >= 2);

    /* 256 codes, then 257. */
    for (int more = 0; more < 2; more++) {
        table[4 + 8] = 255;
        table[4 + 9] = (uint8_t)(1 + more);
        memcpy(copy, bytes, 2);
        memcpy(copy + 2, table, sizeof table);
        memcpy(copy + 2 + sizeof table, bytes + 2, size - 2);
        put(at("b.jpg"), copy, size + sizeof table);
        assert_refused(at("b.jpg"), "a Huffman table is wrong");
    }
    free(copy);
    free(bytes);
}

static void bad_npy(void **state)
{
#define HEADER(dtype, order, shape) "{'descr': " dtype ", 'fortran_order': " order ", 'shape': " shape ", }\n"
    static const struct {
        const char *header, *reason;
    } files[] = {
        {HEADER("'|O'", "False", "(2, 3)"), "dtype '|O' (Python objects)"},
        {HEADER("'<i8'", "False", "(2, 3)"), "dtype '<i8'"},
        {HEADER("'|b1'", "False", "(2, 3)"), "dtype '|b1'"},
        {HEADER("'|i1'", "False", "(2, 3)"), "dtype '|i1'"},
        {HEADER("'<c8'", "False", "(2, 3)"), "dtype '<c8'"},
        {HEADER("'|u2'", "False", "(2, 3)"), "dtype '|u2'"},
        {HEADER("'u1'", "False", "(2, 3)"), "dtype 'u1'"},
        {HEADER("''", "False", "(2, 3)"), "dtype ''"},
        {HEADER("[('x', '<f4'), ('y', '<f4')]", "False", "(2, 3)"), "structured"},
        {HEADER("'\x1b[31m'", "False", "(2, 3)"), "unusual characters"},
        {HEADER("'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'", "False", "(2, 3)"), "too long"},
        {HEADER("u1", "False", "(2, 3)"), "a quoted string was expected"},
        {HEADER("'|u1'", "True", "(2, 3)"), "Fortran order"},
        {HEADER("'|u1'", "0", "(2, 3)"), "neither True nor False"},
        {HEADER("'|u1'", "False", "()"), "an array of 0 dimensions"},
        {HEADER("'|u1'", "False", "(6,)"), "an array of 1 dimensions"},
        {HEADER("'|u1'", "False", "(1, 1, 2, 3)"), "an array of 4 dimensions"},
        {HEADER("'|u1'", "False", "(1, 1, 1, 1, 1, 1, 1, 1, 1, 6)"), "an array of 10 dimensions"},
        {HEADER("'|u1'", "False", "(6)"), "not a tuple"},
        {HEADER("'|u1'", "False", "6"), "not a tuple"},
        {HEADER("'|u1'", "False", "[2, 3]"), "not a tuple"},
        {HEADER("'|u1'", "False", "(2, 3.0)"), "not a tuple of whole numbers"},
        {HEADER("'|u1'", "False", "(2, , 3)"), "not a tuple of whole numbers"},
        {HEADER("'|u1'", "False", "(2 3)"), "not a tuple of whole numbers"},
        {HEADER("'|u1'", "False", "(-2, -3)"), "negative"},
        {HEADER("'|u1'", "False", "(0, 3)"), "3x0 pixels, 1 channels: must be 1 to 65535"},
        {HEADER("'|u1'", "False", "(2, 0)"), "must be 1 to 65535"},
        {HEADER("'|u1'", "False", "(2, 3, 0)"), "0 channels"},
        {HEADER("'|u1'", "False", "(65536, 1)"), "must be 1 to 65535"},
        {HEADER("'|u1'", "False", "(1, 1, 4097)"), "1 to 4096 channels"},
        {HEADER("'|u1'", "False", "(4294967296, 4294967296)"), "must be 1 to 65535"},
        {HEADER("'|u1'", "False", "(18446744073709551618, 3)"), "too large"},
        {HEADER("'|u1'", "False", "(99999999999999999999999999999, 3)"), "too large"},
        {HEADER("'<f8'", "False", "(65535, 65535, 4096)"), "cut short: 6 bytes of data"},
        {HEADER("'|u1'", "False", "(2, 4)"), "cut short: 6 bytes of data where the header says 8"},
        {HEADER("'|u1'", "False", "(2, 2)"), "too long: 6 bytes of data where the header says 4"},
        {HEADER("'<u2'", "False", "(2, 3)"), "cut short: 6 bytes of data where the header says 12"},
        {"{'descr': '|u1', 'descr': '|u1', 'fortran_order': False, 'shape': (2, 3)}", "a key twice"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), 'more': 1}", "a key besides"},
        {"{'descr': '|u1', 'fortran_order': False}", "is missing"},
        {"{'descr': '|u1', 'shape': (2, 3)}", "is missing"},
        {"{'fortran_order': False, 'shape': (2, 3)}", "is missing"},
        {"{}", "is missing"},
        {"", "does not start with {"},
        {"   ", "does not start with {"},
        {"[1]", "does not start with {"},
        {"{", "quoted string"},
        {"{'descr", "does not end"},
        {"{'descr'", "a : is missing"},
        {"{'descr':", "quoted string"},
        {"{'descr': '|u1' 'shape': (2, 3)}", "a , or } is missing"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3", "not a tuple"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3)", "a , or } is missing"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3)} x", "something follows"},
    };
    static const uint8_t data[] = {1, 2, 3, 4, 5, 6};

    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        for (int version = 1; version <= 3; version++) {
            put_npy(at("a.npy"), version, files[i].header, data, sizeof data);
            assert_refused(at("a.npy"), files[i].reason);
        }
    }
    put(at("a.npy"), "hello, this is text", 19);
    assert_refused(at("a.npy"), "not a .npy file");
    put(at("a.npy"), "hello", 5);
    assert_refused(at("a.npy"), "not a .npy file");
    put(at("a.npy"), "\x93NUM", 4);
    assert_refused(at("a.npy"), "cut short in its header");
    put(at("a.npy"), "\x93NUMPY\1\0\xff\xff{", 11);
    assert_refused(at("a.npy"), "cut short in its header");
    put(at("a.npy"), "\x93NUMPY\2\0\1", 9);
    assert_refused(at("a.npy"), "cut short in its header");
    put(at("a.npy"), "\x93NUMPY\2\0\1\0\0", 11);
    assert_refused(at("a.npy"), "cut short in its header");
    put(at("a.npy"), "\x93NUMPY\2\0\xff\xff\xff\xff{", 13);
    assert_refused(at("a.npy"), "cut short in its header");
    put(at("a.npy"), "\x93NUMPY\4\0\1\0{", 11);
    assert_refused(at("a.npy"), "version 4.0");
    put(at("a.npy"), "\x93NUMPY\0\0\1\0{", 11);
    assert_refused(at("a.npy"), "version 0.0");
    put(at("a.npy"), "\x93NUMPY\1\1\1\0{", 11);
    assert_refused(at("a.npy"), "version 1.1");
}

/* A small valid file of each kind. */
static const char *const samples[] = {"s.png", "t.png", "u.png", "s.jpg", "s.bmp", "t.bmp",
                                      "s.pgm", "s.ppm", "t.pgm", "s.npy", "t.npy"};
enum { SAMPLES = sizeof samples / sizeof samples[0] };

static void make_samples(void)
{
    struct image gray, rgb, wide, outer[3];
    uint8_t png[1024], rows[32] = {0};

    gray = window_of(&outer[0], 8, 5, 1, PIXEL_U8);
    rgb = window_of(&outer[1], 8, 5, 3, PIXEL_U8);
    wide = window_of(&outer[2], 8, 5, 1, PIXEL_U16);
    assert_int_equal(image_save(&gray, at("s.png")), STATUS_OK);
    assert_int_equal(image_save(&rgb, at("t.png")), STATUS_OK);
    put(at("u.png"), png, make_png(png, 3, 4, 16, 0, NULL, 0, rows, 4 * 7));
    assert_int_equal(image_save(&rgb, at("s.jpg")), STATUS_OK);
    assert_int_equal(image_save(&gray, at("s.bmp")), STATUS_OK);
    assert_int_equal(image_save(&rgb, at("t.bmp")), STATUS_OK);
    assert_int_equal(image_save(&gray, at("s.pgm")), STATUS_OK);
    assert_int_equal(image_save(&rgb, at("s.ppm")), STATUS_OK);
    assert_int_equal(image_save(&wide, at("t.pgm")), STATUS_OK);
    assert_int_equal(image_save(&rgb, at("s.npy")), STATUS_OK);
    put_npy(at("t.npy"), 1, HEADER("'>f8'", "False", "(1, 2)"), rows, 16);
    for (int i = 0; i < 3; i++)
        image_free(&outer[i]);
}

/* No file loads when anything is missing at its end. */
static void every_cut_shows(void **state)
{
    (void)state;
    make_samples();
    for (size_t s = 0; s < SAMPLES; s++) {
        const char *cut = file_has_extension(samples[s], ".npy") ? "cut.npy" : "cut.png";
        struct image image;
        size_t size;
        uint8_t *bytes = get(at(samples[s]), &size);

        put(at(cut), bytes, size);
        assert_int_equal(image_load(&image, at(cut), 0), STATUS_OK);
        image_free(&image);
        for (size_t length = 0; length < size; length++) {
            put(at(cut), bytes, length);
            if (image_load(&image, at(cut), 0) != STATUS_BAD_INPUT)
                fail_msg("%s cut to %zu of %zu bytes: not refused", samples[s], length, size);
            assert_message(at(cut), "");
            assert_null(image.data);
        }
        free(bytes);
    }
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Thousands of damaged files: each loads or is refused with a message, and nothing else happens (see the sanitizers).
 */
static void mutations_do_no_harm(void **state)
{
    static const uint8_t boundaries[] = {0, 1, 0x7f, 0x80, 0xff};
    enum { MUTATIONS = 6000 };
    const double limit = 3;
    const double start = seconds();
    uint64_t seed = 20240607;
    int loaded = 0, refused = 0;

    (void)state;
    make_samples();
    for (int m = 0; m < MUTATIONS && seconds() - start < limit; m++) {
        const char *name = samples[m % SAMPLES];
        const bool npy = file_has_extension(name, ".npy"), png = file_has_extension(name, ".png");
        const char *path = at(npy ? "m.npy" : "m.png");
        struct image image;
        size_t size;
        uint8_t *bytes = get(at(name), &size);
        const int edits = 1 + (int)(pattern_random(&seed) % 4);

        for (int e = 0; e < edits && size > 0; e++) {
            /* Two thirds in the first 64 bytes, where the headers are. */
            const size_t reach = pattern_random(&seed) % 3 && size > 64 ? 64 : size;
            const size_t where = pattern_random(&seed) % reach;

            switch (pattern_random(&seed) % 5) {
            case 0:
                bytes[where] ^= (uint8_t)(1u << pattern_random(&seed) % 8);
                break;
            case 1:
                bytes[where] = (uint8_t)pattern_random(&seed);
                break;
            case 2:
                bytes[where] = boundaries[pattern_random(&seed) % sizeof boundaries];
                break;
            case 3: /* one byte out */
                memmove(bytes + where, bytes + where + 1, size - where - 1);
                size--;
                break;
            case 4: /* one byte doubled; get() leaves room for one */
                if (e == 0) {
                    memmove(bytes + where + 1, bytes + where, size - where);
                    size++;
                }
                break;
            }
        }
        if (png && m / SAMPLES % 4 != 0)
            repair_png(bytes, size);
        put(path, bytes, size);
        free(bytes);
        if (image_load(&image, path, m % 2 ? 0 : 3) == STATUS_OK) {
            loaded++;
            assert_non_null(image.data);
            image_free(&image);
        } else {
            refused++;
            assert_message(path, "");
            assert_null(image.data);
        }
    }
    /* Both ways were taken many times, or the mutations are too tame or too wild to say anything. */
    assert_true(loaded > 50);
    assert_true(refused > 50);
}

/* ------------------------------------------------------------------------------------------------ bad output */

static void what_a_format_cannot_hold(void **state)
{
    static const struct {
        const char *name;
        int channels;
        enum pixel_type type;
        const char *reason;
    } wrong[] = {{"a.png", 1, PIXEL_U16, "use .pgm or .npy"},
                 {"a.png", 3, PIXEL_U16, "use .ppm or .npy"},
                 {"a.jpg", 1, PIXEL_U16, "use .pgm or .npy"},
                 {"a.bmp", 3, PIXEL_U16, "use .ppm or .npy"},
                 {"a.png", 1, PIXEL_I32, "cannot hold i32; use .npy"},
                 {"a.pgm", 1, PIXEL_F32, "cannot hold f32; use .npy"},
                 {"a.jpg", 3, PIXEL_F32, "use .npy"},
                 {"a.png", 2, PIXEL_U8, "cannot hold 2 channels; use .npy"},
                 {"a.ppm", 4, PIXEL_U8, "use .npy"},
                 {"a.pgm", 3, PIXEL_U8, "use .ppm"},
                 {"a.ppm", 1, PIXEL_U8, "use .pgm"},
                 {"a.gif", 1, PIXEL_U8, "extension"},
                 {"a", 1, PIXEL_U8, "extension"},
                 {"apng", 1, PIXEL_U8, "extension"}};

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct image outer, window = window_of(&outer, 4, 3, wrong[i].channels, wrong[i].type);

        assert_not_saved(&window, at(wrong[i].name), wrong[i].reason);
        assert_int_not_equal(access(at(wrong[i].name), F_OK), 0);
        image_free(&outer);
    }
    assert_int_equal(image_save_check(at("a.gif")), STATUS_BAD_INPUT);
}

/* image_save() and image_save_check() give the same answer. */
static void assert_target_refused(const struct image *image, const char *path, const char *reason)
{
    assert_int_equal(image_save_check(path), STATUS_BAD_INPUT);
    assert_message(path, reason);
    assert_not_saved(image, path, reason);
}

static int save_protected_as_nobody(const struct image *image)
{
    if (!become_nobody())
        return 1;
    return check_in_child(image_save_check(at("fixed.png")), at("fixed.png"), "Permission denied") ||
           check_in_child(image_save(image, at("fixed.png")), at("fixed.png"), "Permission denied");
}

static int save_new_as_nobody(const struct image *image)
{
    char reason[200];

    if (!become_nobody())
        return 1;
    snprintf(reason, sizeof reason, "cannot write in folder %s: Permission denied", folder);
    return check_in_child(image_save_check(at("a.png")), at("a.png"), reason) ||
           check_in_child(image_save(image, at("a.png")), at("a.png"), reason);
}

static void targets_that_cannot_be_written(void **state)
{
    struct image outer, window = window_of(&outer, 6, 5, 1, PIXEL_U8);
    char name[300];
    struct stat about;

    (void)state;
    assert_target_refused(&window, at("nowhere/a.png"), "No such file or directory");
    assert_int_equal(mkdir(at("folder.png"), 0755), 0);
    assert_target_refused(&window, at("folder.png"), "Is a directory");
    assert_target_refused(&window, at("folder.npy/"), "extension");
    put(at("file"), "x", 1);
    assert_target_refused(&window, at("file/a.png"), "Not a directory");
    memset(name, 'n', sizeof name);
    strcpy(name + sizeof name - 5, ".png");
    assert_target_refused(&window, at(name), "File name too long");
    assert_int_equal(symlink("/dev/full", at("device.png")), 0);
    assert_target_refused(&window, at("device.png"), "not a regular file");
    assert_int_equal(mkfifo(at("pipe.npy"), 0600), 0);
    assert_target_refused(&window, at("pipe.npy"), "not a regular file");
    assert_int_equal(symlink("nothing", at("loose.png")), 0);
    assert_target_refused(&window, at("loose.png"), "a symbolic link to a file that does not exist");
    assert_int_equal(lstat(at("loose.png"), &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    /* The longest legal name leaves no room for a suffix, but needs none. */
    name[255] = '\0';
    memcpy(name + 251, ".png", 4);
    assert_int_equal(image_save(&window, at(name)), STATUS_OK);

    put(at("fixed.png"), "old", 3);
    assert_int_equal(chmod(at("fixed.png"), 0444), 0);
    assert_int_equal(chmod(folder, 0777), 0);
    assert_int_equal(in_child(save_protected_as_nobody, &window), CHILD_DONE);
    assert_int_equal(chmod(folder, 0555), 0);
    assert_int_equal(in_child(save_new_as_nobody, &window), CHILD_DONE);
    image_free(&outer);
}

static void existing_files_are_replaced_in_place(void **state)
{
    struct image outer, loaded, window = window_of(&outer, 6, 5, 3, PIXEL_U8);
    struct stat about;
    const mode_t mask = umask(027);

    (void)state;
    assert_int_equal(image_save(&window, at("new.png")), STATUS_OK);
    umask(mask);
    assert_int_equal(stat(at("new.png"), &about), 0);
    assert_int_equal(about.st_mode & 0777, 0640);
    put(at("real.png"), "old", 3);
    assert_int_equal(chmod(at("real.png"), 0606), 0);
    assert_int_equal(symlink("real.png", at("link.png")), 0);
    assert_int_equal(image_save_check(at("link.png")), STATUS_OK);
    assert_int_equal(image_save(&window, at("link.png")), STATUS_OK);
    assert_int_equal(lstat(at("link.png"), &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    assert_int_equal(lstat(at("real.png"), &about), 0);
    assert_int_equal(about.st_mode & 0777, 0606);
    assert_int_equal(image_load(&loaded, at("real.png"), 0), STATUS_OK);
    assert_equal_images(&window, &loaded);
    image_free(&loaded);

    /* Checking is not writing. */
    put(at("kept.png"), "old", 3);
    assert_int_equal(image_save_check(at("kept.png")), STATUS_OK);
    assert_int_equal(image_save_check(at("never.png")), STATUS_OK);
    assert_int_not_equal(access(at("never.png"), F_OK), 0);
    assert_refused(at("kept.png"), "not a PNG");
    image_free(&outer);
}

static const char *const all_outputs[] = {"o.png", "o.jpg", "o.bmp", "o.ppm", "o.npy"};
enum { ALL_OUTPUTS = sizeof all_outputs / sizeof all_outputs[0] };

/* Writing stops after 1000 bytes, wherever that is in each format: what was there before stays. */
static void a_failing_write_leaves_the_old_file(void **state)
{
    struct image outer, window = window_of(&outer, 200, 100, 3, PIXEL_U8);
    struct rlimit before, small;

    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    for (int existing = 0; existing < 2; existing++) {
        for (size_t i = 0; i < ALL_OUTPUTS; i++) {
            const char *path = at(all_outputs[i]);

            if (existing)
                put(path, "old", 3);
            small = before;
            small.rlim_cur = 1000;
            assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
            const enum status status = image_save(&window, path);
            assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
            assert_int_equal(status, STATUS_BAD_INPUT);
            assert_message(path, "File too large");
            assert_int_equal(temporary_files(folder), 0);
            if (existing) {
                size_t size;
                uint8_t *bytes = get(path, &size);

                assert_int_equal(size, 3);
                assert_memory_equal(bytes, "old", 3);
                free(bytes);
            } else {
                assert_int_not_equal(access(path, F_OK), 0);
            }
        }
    }
    signal(SIGXFSZ, SIG_DFL);
    image_free(&outer);
}

static int save_on_small_disk(const struct image *image)
{
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", folder, "tmpfs", 0, "size=64k") != 0)
        return CHILD_CANNOT;
    for (size_t i = 0; i < ALL_OUTPUTS; i++) {
        const char *path = at(all_outputs[i]);

        if (check_in_child(image_save(image, path), path, "No space left on device") != CHILD_DONE)
            return 1;
        if (access(path, F_OK) == 0 || temporary_files(folder) != 0)
            return 2;
    }
    return CHILD_DONE;
}

/* A real full disk, in a child with mounts of its own; only root can have one. */
static void a_full_disk_is_reported(void **state)
{
    struct image outer, window = window_of(&outer, 300, 200, 3, PIXEL_U8);
    int code;

    (void)state;
    code = in_child(save_on_small_disk, &window);
    image_free(&outer);
    if (code == CHILD_CANNOT)
        skip();
    assert_int_equal(code, CHILD_DONE);
}

/* What a killed process left must not keep others from writing, nor be taken for their own. */
static void stale_temporary_files_do_not_matter(void **state)
{
    struct image outer, window = window_of(&outer, 6, 5, 3, PIXEL_U8);
    char stale[64];
    size_t size;
    uint8_t *bytes;

    (void)state;
    snprintf(stale, sizeof stale, ".rungs-%ld-0.tmp", (long)getpid());
    put(at(stale), "stale", 5);
    assert_int_equal(image_save(&window, at("a.png")), STATUS_OK);
    bytes = get(at(stale), &size);
    assert_int_equal(size, 5);
    free(bytes);
    assert_int_equal(unlink(at(stale)), 0);
    image_free(&outer);
}

/* ------------------------------------------------------------------------------------------------- resizing */

static void resizing_covers_and_cuts(void **state)
{
    struct image outer, window, resized, bands;

    (void)state;
    /* The same size: the same pixels, from a window too. */
    window = window_of(&outer, 31, 17, 3, PIXEL_U8);
    assert_int_equal(image_resize_to_cover(&resized, &window, 31, 17), STATUS_OK);
    assert_equal_images(&window, &resized);
    image_free(&resized);
    /* Half the width of the same height is the middle half. */
    assert_int_equal(image_resize_to_cover(&resized, &window, 15, 17), STATUS_OK);
    for (int y = 0; y < 17; y++)
        assert_memory_equal(image_row(&resized, y), (const char *)image_row(&window, y) + 8 * 3, 15 * 3);
    image_free(&resized);
    image_free(&outer);

    /* Black, white, black: a square cut from the middle is white, whichever way the bands run. */
    for (int turned = 0; turned < 2; turned++) {
        assert_int_equal(image_create(&bands, turned ? 40 : 120, turned ? 120 : 40, 1, PIXEL_U8), STATUS_OK);
        for (int y = 0; y < bands.height; y++) {
            uint8_t *row = image_row(&bands, y);
            for (int x = 0; x < bands.width; x++)
                row[x] = (turned ? y : x) / 40 == 1 ? 255 : 0;
        }
        for (int size = 1; size < 100; size += 14) {
            assert_int_equal(image_resize_to_cover(&resized, &bands, size, size), STATUS_OK);
            for (int y = 0; y < size; y++) {
                const uint8_t *row = image_row(&resized, y);
                for (int x = 0; x < size; x++)
                    assert_int_equal(row[x], 255);
            }
            image_free(&resized);
        }
        image_free(&bands);
    }

    /* A gradient stays one: larger and smaller, and in extreme proportions. */
    assert_int_equal(image_create(&bands, 256, 64, 1, PIXEL_U8), STATUS_OK);
    for (int y = 0; y < bands.height; y++) {
        uint8_t *row = image_row(&bands, y);
        for (int x = 0; x < bands.width; x++)
            row[x] = (uint8_t)x;
    }
    assert_int_equal(image_resize_to_cover(&resized, &bands, 1024, 256), STATUS_OK);
    for (int x = 0; x < 1024; x++)
        assert_in_range(((uint8_t *)image_row(&resized, 100))[x] + 2, x / 4, x / 4 + 4);
    image_free(&resized);
    assert_int_equal(image_resize_to_cover(&resized, &bands, 1, 1), STATUS_OK);
    assert_in_range(*(uint8_t *)resized.data, 125, 130);
    image_free(&resized);
    assert_int_equal(image_resize_to_cover(&resized, &bands, 5000, 1), STATUS_OK);
    image_free(&resized);
    assert_int_equal(image_resize_to_cover(&resized, &bands, 1, 5000), STATUS_OK);
    image_free(&resized);
    assert_int_equal(image_resize_to_cover(&resized, &bands, 0, 10), STATUS_BAD_INPUT);
    assert_int_equal(image_resize_to_cover(&resized, &bands, 65535, 65535), STATUS_BAD_INPUT); /* stb counts in int */
    assert_null(resized.data);
    image_free(&bands);

    assert_int_equal(image_create(&bands, 4, 4, 1, PIXEL_F32), STATUS_OK);
    assert_int_equal(image_resize_to_cover(&resized, &bands, 2, 2), STATUS_BAD_INPUT);
    assert_non_null(strstr(status_message(), "u8"));
    image_free(&bands);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(what_is_saved_is_loaded),
        TEST(content_decides_when_reading),
        TEST(jpeg_is_close),
        TEST(channels_are_converted),
        TEST(hand_made_pnm),
        TEST(hand_made_bmp),
        TEST(hand_made_png),
        TEST(hand_made_npy),
        TEST(npy_is_written_to_the_byte),
        TEST(numpy_agrees),
        TEST(bad_paths),
        TEST(bad_pictures),
        TEST(lying_headers),
        TEST(damaged_png),
        TEST(jpeg_tables),
        TEST(bad_npy),
        TEST(every_cut_shows),
        TEST(mutations_do_no_harm),
        TEST(what_a_format_cannot_hold),
        TEST(targets_that_cannot_be_written),
        TEST(existing_files_are_replaced_in_place),
        TEST(a_failing_write_leaves_the_old_file),
        TEST(a_full_disk_is_reported),
        TEST(stale_temporary_files_do_not_matter),
        TEST(resizing_covers_and_cuts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
