/* Tests of video.h, video_writer.h, program.h, boxes_csv.h and draw.h. y4m and images are made by hand; what needs
 * ffmpeg is skipped without it. Each test has a folder of its own, which at its end must hold no temporary file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/algo/boxes.h"
#include "common/core/program.h"
#include "common/image/draw.h"
#include "common/image/image_io.h"
#include "common/video/boxes_csv.h"
#include "common/video/video.h"
#include "common/video/video_writer.h"

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

/* Removes what is in a folder; how many temporary files were left in it. */
static int empty_folder(const char *path)
{
    DIR *directory = opendir(path);
    int left = 0;
    char inner[1024];

    for (const struct dirent *entry; directory && (entry = readdir(directory));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        left += strstr(entry->d_name, ".tmp") != NULL;
        snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
        if (remove(inner) != 0) {
            left += empty_folder(inner);
            rmdir(inner);
        }
    }
    if (directory)
        closedir(directory);
    return left;
}

static int tear_down(void **state)
{
    const int left = empty_folder(folder);

    (void)state;
    if (left != 0)
        print_error("%d temporary files left in %s\n", left, folder);
    if (waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD) {
        print_error("a child process is left\n");
        return -1;
    }
    return rmdir(folder) == 0 && left == 0 ? 0 : -1;
}

static void put(const char *path, const void *bytes, size_t size)
{
    FILE *stream = fopen(path, "wb");

    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, size, stream), size);
    assert_int_equal(fclose(stream), 0);
}

static void assert_message(const char *reason)
{
    if (strchr(status_message(), '\n') || !strstr(status_message(), reason))
        fail_msg("message \"%s\" should hold \"%s\"", status_message(), reason);
}

static void assert_not_opened(const char *name, const char *reason)
{
    struct video_reader *reader;

    if (video_open(&reader, name, NULL) != STATUS_BAD_INPUT)
        fail_msg("%s was opened, or for another reason not: %s", name, status_message());
    assert_null(reader);
    assert_true(strncmp(status_message(), name, strlen(name)) == 0);
    assert_message(reason);
}

/* Opens a video and takes its one frame. */
static struct video_frame *only_frame(struct video_reader **reader, const char *name)
{
    struct video_frame *frame = NULL;

    if (video_open(reader, name, NULL) != STATUS_OK || video_next(*reader, &frame) != STATUS_OK)
        fail_msg("%s", status_message());
    assert_non_null(frame);
    return frame;
}

/* Reads to the end; how many frames came. *status: how it ended. */
static long count_frames(const char *name, enum status *status)
{
    struct video_reader *reader;
    struct video_frame *frame;
    long count = 0;

    *status = video_open(&reader, name, NULL);
    while (*status == STATUS_OK && (*status = video_next(reader, &frame)) == STATUS_OK && frame) {
        assert_int_equal(frame->number, ++count);
        video_give_back(reader, frame);
    }
    video_close(reader);
    return count;
}

static void save_gray(const char *path, int width, int height, uint8_t value)
{
    struct image image;

    assert_int_equal(image_create(&image, width, height, 1, PIXEL_U8), STATUS_OK);
    image_fill(&image, value);
    assert_int_equal(image_save(&image, path), STATUS_OK);
    image_free(&image);
}

/* A y4m file of `frames` gray frames, frame k of value 16 + k % 200. */
static void put_gray_y4m(const char *path, int width, int height, int frames)
{
    FILE *stream = fopen(path, "wb");

    assert_non_null(stream);
    fprintf(stream, "YUV4MPEG2 W%d H%d F30000:1001 Ip A1:1 Cmono\n", width, height);
    for (int k = 0; k < frames; k++) {
        fputs("FRAME\n", stream);
        for (int i = 0; i < width * height; i++)
            fputc(16 + k % 200, stream);
    }
    assert_int_equal(fclose(stream), 0);
}

static uint8_t gray_of_y4m(int luma)
{
    return (uint8_t)((76309 * (luma - 16) + 32768) >> 16);
}

static bool has_ffmpeg(void)
{
    return program_check("ffmpeg") == STATUS_OK && program_check("ffprobe") == STATUS_OK;
}

/* ------------------------------------------------------------------------------------------------ drawing */

/* draw.h's words, pixel by pixel. */
static bool on_outline(int px, int py, int x, int y, int width, int height)
{
    const int right = x + width - 1, bottom = y + height - 1;

    if (px < x || px > right || py < y || py > bottom)
        return false;
    return px - x < 2 || right - px < 2 || py - y < 2 || bottom - py < 2;
}

static void outlines_are_exact(void **state)
{
    static const int places[] = {-1000000, -7, -2, -1, 0, 1, 2, 5, 9, 12, 13, 20};
    static const int sides[] = {-1, 0, 1, 2, 3, 4, 5, 6, 9, 13, 30};
    static const uint8_t colour[3] = {10, 20, 30};
    enum { PLACES = sizeof places / sizeof *places, SIDES = sizeof sides / sizeof *sides, WIDTH = 13, HEIGHT = 9 };
    struct image outer, image;

    (void)state;
    /* A window: what lies around it must stay as it is. */
    assert_int_equal(image_create(&outer, WIDTH + 4, HEIGHT + 4, 3, PIXEL_U8), STATUS_OK);
    for (int i = 0; i < PLACES * PLACES * SIDES * SIDES; i++) {
        const int x = places[i % PLACES], y = places[i / PLACES % PLACES];
        const int width = sides[i / PLACES / PLACES % SIDES], height = sides[i / PLACES / PLACES / SIDES];

        image_fill(&outer, 200);
        image = outer;
        image.width = WIDTH;
        image.height = HEIGHT;
        image.data = (uint8_t *)image_row(&outer, 2) + 2 * 3;
        draw_rectangle(&image, x, y, width, height, colour);
        for (int py = 0; py < outer.height; py++) {
            const uint8_t *row = image_row(&outer, py);
            for (int px = 0; px < outer.width; px++) {
                const bool inside = px >= 2 && px < WIDTH + 2 && py >= 2 && py < HEIGHT + 2;
                const bool drawn = inside && on_outline(px - 2, py - 2, x, y, width, height);
                for (int c = 0; c < 3; c++)
                    if (row[3 * px + c] != (drawn ? colour[c] : 200))
                        fail_msg("rectangle %d,%d %dx%d: pixel %d,%d", x, y, width, height, px - 2, py - 2);
            }
        }
    }
    image_free(&outer);
}

static void make_table(struct image *table, int rows, int count)
{
    assert_int_equal(image_create(table, BOXES_COLUMNS, rows, 1, PIXEL_I32), STATUS_OK);
    image_fill(table, 0);
    *(int32_t *)image_row(table, 0) = count;
    for (int k = 1; k < rows; k++) {
        int32_t *row = image_row(table, k);
        row[0] = k;
        row[1] = 10 * k;
        row[2] = 20 * k;
        row[3] = 5 * k;
        row[4] = 7 * k;
    }
}

static void boxes_are_written_in_mot_columns(void **state)
{
    struct output_file file;
    struct image few, too_many, none;
    char text[512] = "";
    FILE *stream;

    (void)state;
    make_table(&few, 4, 2);
    make_table(&too_many, 2, 9); /* max_boxes 1 cut it short */
    make_table(&none, 1 + 1, 0);
    assert_int_equal(boxes_csv_create(&file, at("boxes.csv")), STATUS_OK);
    assert_int_not_equal(access(at("boxes.csv"), F_OK), 0);
    boxes_csv_add(&file, 1, &none);
    boxes_csv_add(&file, 2, &few);
    boxes_csv_add(&file, 3, &too_many);
    assert_int_equal(file_commit(&file), STATUS_OK);
    stream = fopen(at("boxes.csv"), "rb");
    assert_non_null(stream);
    assert_true(fread(text, 1, sizeof text - 1, stream) > 0);
    fclose(stream);
    assert_string_equal(text, "frame,id,bb_left,bb_top,bb_width,bb_height,conf,x,y,z\n"
                              "2,-1,10,20,5,7,1,-1,-1,-1\n"
                              "2,-1,20,40,10,14,1,-1,-1,-1\n"
                              "3,-1,10,20,5,7,1,-1,-1,-1\n");
    image_free(&few);
    image_free(&too_many);
    image_free(&none);
}

/* ---------------------------------------------------------------------------------------------------- y4m */

static void assert_pixel(const struct image *image, int x, int y, int red, int green, int blue)
{
    const uint8_t *pixel = (const uint8_t *)image_row(image, y) + 3 * x;

    if (pixel[0] != red || pixel[1] != green || pixel[2] != blue)
        fail_msg("pixel %d,%d is %d,%d,%d instead of %d,%d,%d", x, y, pixel[0], pixel[1], pixel[2], red, green, blue);
}

static void y4m_colours_by_hand(void **state)
{
    /* 3x3, chroma 2x2 in 4:2:0: each chroma sample has its own colour. */
    static const char c420[] = "YUV4MPEG2 W3 H3 F10:1\nFRAME\n"
                               "\x51\x51\x91\x51\x51\x91\x29\x29\xeb"
                               "\x5a\x36\xf0\x80"
                               "\xf0\x22\x6e\x80";
    static const char c422[] =
        "YUV4MPEG2 C422 W3 H2\nFRAME Ip\n\x51\x51\x91\x29\x29\xeb\x5a\x36\xf0\x80\xf0\x22\x6e\x80";
    static const char c444[] = "YUV4MPEG2 C444 W2 H1 XCOLORRANGE=FULL\nFRAME\n\x4c\x96\x55\x2c\xff\x15";
    static const char c411[] = "YUV4MPEG2 C411 W5 H1\nFRAME\n\x51\x51\x51\x51\x91\x5a\x36\xf0\x22";
    static const char mono[] = "YUV4MPEG2 W4 H1 Cmono\nFRAME\n\x10\xeb\x7e\x01";
    struct video_reader *reader;
    struct video_frame *frame;

    (void)state;
    put(at("a.y4m"), c420, sizeof c420 - 1);
    frame = only_frame(&reader, at("a.y4m"));
    assert_int_equal(video_get_info(reader)->rate, 10);
    assert_int_equal(video_get_info(reader)->rate_base, 1);
    assert_int_equal(video_get_info(reader)->frames, 1);
    assert_int_equal(frame->image.channels, 3);
    assert_int_equal((uintptr_t)frame->image.data % IMAGE_ALIGNMENT, 0);
    assert_int_equal(frame->image.stride % IMAGE_ALIGNMENT, 0);
    assert_pixel(&frame->image, 0, 0, 254, 0, 0); /* 81,90,240 */
    assert_pixel(&frame->image, 1, 1, 254, 0, 0);
    assert_pixel(&frame->image, 2, 0, 0, 255, 1); /* 145,54,34 */
    assert_pixel(&frame->image, 2, 1, 0, 255, 1);
    assert_pixel(&frame->image, 0, 2, 0, 0, 255); /* 41,240,110 */
    assert_pixel(&frame->image, 1, 2, 0, 0, 255);
    assert_pixel(&frame->image, 2, 2, 255, 255, 255); /* 235,128,128 */
    video_close(reader);

    put(at("b"), c422, sizeof c422 - 1);
    frame = only_frame(&reader, at("b"));
    assert_int_equal(video_get_info(reader)->rate, 25);
    assert_pixel(&frame->image, 1, 0, 254, 0, 0);
    assert_pixel(&frame->image, 2, 0, 0, 255, 1);
    assert_pixel(&frame->image, 1, 1, 0, 0, 255);
    assert_pixel(&frame->image, 2, 1, 255, 255, 255);
    video_close(reader);

    put(at("c.y4m"), c444, sizeof c444 - 1);
    frame = only_frame(&reader, at("c.y4m"));
    assert_pixel(&frame->image, 0, 0, 254, 0, 0); /* 76,85,255 */
    assert_pixel(&frame->image, 1, 0, 0, 255, 1); /* 150,44,21 */
    video_close(reader);

    put(at("c411.y4m"), c411, sizeof c411 - 1);
    frame = only_frame(&reader, at("c411.y4m"));
    assert_pixel(&frame->image, 3, 0, 254, 0, 0);
    assert_pixel(&frame->image, 4, 0, 0, 255, 1);
    video_close(reader);

    put(at("d.y4m"), mono, sizeof mono - 1);
    frame = only_frame(&reader, at("d.y4m"));
    assert_pixel(&frame->image, 0, 0, 0, 0, 0);
    assert_pixel(&frame->image, 1, 0, 255, 255, 255);
    assert_pixel(&frame->image, 2, 0, 128, 128, 128);
    assert_pixel(&frame->image, 3, 0, 0, 0, 0);
    video_close(reader);
}

/* Against the matrix of BT.601 in real numbers, for every luma and many chromas: the integers are within 1. */
static void y4m_colours_follow_bt601(void **state)
{
    enum { SIDE = 256, STEP = 15 };
    char header[64];

    (void)state;
    for (int full = 0; full < 2; full++) {
        const double luma_range = full ? 255 : 219, chroma_range = full ? 255 : 224;

        for (int v = 0; v < 256; v += STEP) {
            uint8_t *bytes = malloc(200 + 3 * SIDE * SIDE);
            const int length = snprintf(header, sizeof header, "YUV4MPEG2 W256 H256 C444%s\nFRAME\n",
                                        full ? " XCOLORRANGE=FULL" : " XCOLORRANGE=LIMITED");
            struct video_reader *reader;
            struct video_frame *frame;

            assert_non_null(bytes);
            memcpy(bytes, header, (size_t)length);
            for (int i = 0; i < SIDE * SIDE; i++) {
                bytes[length + i] = (uint8_t)(i % SIDE);
                bytes[length + SIDE * SIDE + i] = (uint8_t)(i / SIDE);
                bytes[length + 2 * SIDE * SIDE + i] = (uint8_t)v;
            }
            put(at("all.y4m"), bytes, (size_t)length + 3 * SIDE * SIDE);
            free(bytes);
            frame = only_frame(&reader, at("all.y4m"));
            for (int i = 0; i < SIDE * SIDE; i++) {
                const double y = (i % SIDE - (full ? 0 : 16)) / luma_range;
                const double b = (i / SIDE - 128) / chroma_range, r = (v - 128) / chroma_range;
                const double exact[3] = {y + 1.402 * r, y - 0.344136286 * b - 0.714136286 * r, y + 1.772 * b};
                const uint8_t *pixel = (const uint8_t *)image_row(&frame->image, i / SIDE) + 3 * (i % SIDE);

                for (int c = 0; c < 3; c++) {
                    const double wanted = fmin(fmax(255 * exact[c], 0), 255);

                    if (!(fabs(pixel[c] - wanted) <= 0.51))
                        fail_msg("Y %d U %d V %d: channel %d is %d, not %.2f", i % SIDE, i / SIDE, v, c, pixel[c],
                                 wanted);
                }
            }
            video_close(reader);
        }
    }
}

static void bad_y4m(void **state)
{
    static const struct {
        const char *bytes, *reason;
    } wrong[] = {
        {"YUV4MPEG2 ", "its header has no end"},
        {"YUV4MPEG2 W4 H4 F25:1", "its header has no end"},
        {"YUV4MPEG2 H4\nFRAME\n", "no width or height"},
        {"YUV4MPEG2 W H4\n", "no width or height"},
        {"YUV4MPEG2 W4x H4\n", "no width or height"},
        {"YUV4MPEG2 W-4 H4\n", "no width or height"},
        {"YUV4MPEG2 W0 H4\n", "0x4 pixels"},
        {"YUV4MPEG2 W65536 H1\n", "at most 65535 a side"},
        {"YUV4MPEG2 W99999999999999999999 H1\n", "no width or height"},
        {"YUV4MPEG2 W65535 H65535\n", "larger than 1 GiB"},
        {"YUV4MPEG2 W4 H4 C420p10\n", "C420p10 is not read"},
        {"YUV4MPEG2 W4 H4 C444alpha\n", "C444alpha is not read"},
        {"YUV4MPEG2 \n", "no width or height"},
    };
    static const struct {
        const char *bytes, *reason;
    } later[] = {
        {"YUV4MPEG2 W1 H1 Cmono\n", "no frames"},
        {"YUV4MPEG2 W1 H1 Cmono\nFRAME", "frame 1 is incomplete"},
        {"YUV4MPEG2 W1 H1 Cmono\nFRAME\n", "frame 1 is incomplete"},
        {"YUV4MPEG2 W1 H1 Cmono\nFRAMES\n ", "no FRAME line where frame 1"},
        {"YUV4MPEG2 W1 H1 Cmono\nFRAME\n.frame\n.", "no FRAME line where frame 2"},
        {"YUV4MPEG2 W9999 H9999 Cmono\nFRAME\n....", "frame 1 is incomplete"},
    };
    char *endless = malloc(4000);

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        put(at("bad.y4m"), wrong[i].bytes, strlen(wrong[i].bytes));
        assert_not_opened(at("bad.y4m"), wrong[i].reason);
    }
    for (size_t i = 0; i < sizeof later / sizeof *later; i++) {
        enum status status;

        put(at("bad.y4m"), later[i].bytes, strlen(later[i].bytes));
        assert_int_equal(count_frames(at("bad.y4m"), &status), strstr(later[i].reason, "frame 2") ? 1 : 0);
        assert_int_equal(status, STATUS_BAD_INPUT);
        assert_message(later[i].reason);
        assert_message(at("bad.y4m"));
    }
    /* Lines without an end. */
    assert_non_null(endless);
    memset(endless, 'x', 4000);
    memcpy(endless, "YUV4MPEG2 W1 H1 ", 16);
    put(at("bad.y4m"), endless, 4000);
    assert_not_opened(at("bad.y4m"), "its header has no end");
    memcpy(endless, "YUV4MPEG2 W1 H1\nFRAME ", 22);
    put(at("bad.y4m"), endless, 4000);
    enum status status;
    assert_int_equal(count_frames(at("bad.y4m"), &status), 0);
    assert_message("endless FRAME line");
    free(endless);
}

/* Cut anywhere, a file gives its whole frames, and then an error unless it is cut between two frames. */
static void every_cut_of_a_y4m_shows(void **state)
{
    enum { FRAMES = 4, WIDTH = 5, HEIGHT = 3, FRAME_BYTES = 6 + WIDTH * HEIGHT };
    uint8_t bytes[512];
    size_t size, header;
    FILE *stream;

    (void)state;
    put_gray_y4m(at("whole.y4m"), WIDTH, HEIGHT, FRAMES);
    stream = fopen(at("whole.y4m"), "rb");
    assert_non_null(stream);
    size = fread(bytes, 1, sizeof bytes, stream);
    fclose(stream);
    header = size - FRAMES * FRAME_BYTES;
    for (size_t cut = header; cut <= size; cut++) {
        const long whole = (long)((cut - header) / FRAME_BYTES);
        enum status status;

        put(at("cut.y4m"), bytes, cut);
        assert_int_equal(count_frames(at("cut.y4m"), &status), whole);
        assert_int_equal(status, (cut - header) % FRAME_BYTES == 0 && whole > 0 ? STATUS_OK : STATUS_BAD_INPUT);
    }
}

/* -------------------------------------------------------------------------------------------------- queue */

static int allocations, releases;

static void *counting_allocate(size_t bytes)
{
    allocations++;
    return aligned_alloc(IMAGE_ALIGNMENT, bytes);
}

static void counting_release(void *memory)
{
    releases++;
    free(memory);
}

static void *failing_allocate(size_t bytes)
{
    return allocations == 2 ? NULL : counting_allocate(bytes);
}

static void the_queue_is_bounded_and_in_order(void **state)
{
    enum { CAPACITY = 5, FRAMES = 400 };
    const struct video_options options = {CAPACITY, counting_allocate, counting_release};
    struct video_reader *reader;
    struct video_frame *held[CAPACITY], *frame;
    long number = 0;
    int count = 0;

    (void)state;
    allocations = releases = 0;
    put_gray_y4m(at("long.y4m"), 33, 7, FRAMES);
    assert_int_equal(video_open(&reader, at("long.y4m"), &options), STATUS_OK);
    assert_int_equal(video_get_info(reader)->frames, FRAMES);
    assert_int_equal(video_get_info(reader)->rate, 30000);
    assert_int_equal(video_get_info(reader)->rate_base, 1001);
    srand(1);
    for (;;) {
        /* A random number of frames is held; they come in order, stay as they are, and go back in any order. */
        if (count == CAPACITY - 1 || (count > 0 && rand() % 2)) {
            const int which = rand() % count;

            assert_pixel(&held[which]->image, 32, 6, gray_of_y4m(16 + (int)(held[which]->number - 1) % 200),
                         gray_of_y4m(16 + (int)(held[which]->number - 1) % 200),
                         gray_of_y4m(16 + (int)(held[which]->number - 1) % 200));
            video_give_back(reader, held[which]);
            held[which] = held[--count];
            continue;
        }
        assert_int_equal(video_next(reader, &frame), STATUS_OK);
        if (!frame)
            break;
        assert_int_equal(frame->number, ++number);
        held[count++] = frame;
    }
    assert_int_equal(number, FRAMES);
    assert_int_equal(video_next(reader, &frame), STATUS_OK);
    assert_null(frame);
    assert_int_equal(allocations, CAPACITY);
    video_close(reader);
    assert_int_equal(releases, CAPACITY);

    /* Who holds all of them is told so and does not wait for ever. */
    assert_int_equal(video_open(&reader, at("long.y4m"), &options), STATUS_OK);
    for (int i = 0; i < CAPACITY; i++)
        assert_int_equal(video_next(reader, &held[i]), STATUS_OK);
    assert_int_equal(video_next(reader, &frame), STATUS_FAILED);
    assert_message("all 5 frames of the queue are held");
    video_give_back(reader, held[2]);
    assert_int_equal(video_next(reader, &frame), STATUS_OK);
    assert_int_equal(frame->number, CAPACITY + 1);
    video_close(reader);

    allocations = releases = 0;
    assert_int_equal(
        video_open(&reader, at("long.y4m"), &(struct video_options){4, failing_allocate, counting_release}),
        STATUS_NO_MEMORY);
    assert_message("no memory for 4 frames of 33x7");
    assert_int_equal(allocations, releases);
}

static void closing_and_stopping_early(void **state)
{
    struct video_reader *reader;
    struct video_frame *frame;

    (void)state;
    put_gray_y4m(at("long.y4m"), 40, 30, 300);
    for (int taken = 0; taken < 30; taken++) {
        assert_int_equal(video_open(&reader, at("long.y4m"), NULL), STATUS_OK);
        for (int i = 0; i < taken; i++) {
            assert_int_equal(video_next(reader, &frame), STATUS_OK);
            assert_non_null(frame);
            if (i < taken - 2)
                video_give_back(reader, frame);
        }
        video_close(reader);
    }
    video_close(NULL);
    /* After video_stop() what is decoded still comes, then the end. */
    assert_int_equal(video_open(&reader, at("long.y4m"), NULL), STATUS_OK);
    video_stop(reader);
    for (int i = 0;; i++) {
        assert_int_equal(video_next(reader, &frame), STATUS_OK);
        if (!frame)
            break;
        assert_true(i < 4 + 1);
        video_give_back(reader, frame);
    }
    video_close(reader);
}

/* ------------------------------------------------------------------------------------------------- images */

/* The gray values of the frames, in order, as text. */
static void assert_values(const char *name, const char *wanted)
{
    struct video_reader *reader;
    struct video_frame *frame;
    char values[256] = "";

    if (video_open(&reader, name, NULL) != STATUS_OK)
        fail_msg("%s", status_message());
    while (video_next(reader, &frame) == STATUS_OK && frame) {
        snprintf(values + strlen(values), sizeof values - strlen(values), "%d ", *(const uint8_t *)frame->image.data);
        video_give_back(reader, frame);
    }
    video_close(reader);
    if (strcmp(values, wanted) != 0)
        fail_msg("%s: %s instead of %s", name, values, wanted);
}

static void images_come_in_order(void **state)
{
    (void)state;
    save_gray(at("f_10.png"), 4, 3, 10);
    save_gray(at("f_9.pgm"), 4, 3, 9);
    save_gray(at("f_1.PNG"), 4, 3, 1);
    save_gray(at("f_2.png"), 4, 3, 2);
    save_gray(at("f_02.png"), 4, 3, 102);
    save_gray(at("f_003.png"), 4, 3, 3);
    save_gray(at("f_007.png"), 4, 3, 7);
    save_gray(at(".hidden.png"), 4, 3, 66);
    put(at("notes.txt"), "x", 1);
    assert_values(at("f_%d.png"), "2 10 ");
    assert_values(at("f_%03d.png"), "3 7 ");
    assert_values(at("f_[0-9].p*"), "2 9 ");
    assert_values(at("f_?.pg[!x]"), "9 ");
    assert_values(folder, "1 2 102 3 7 9 10 ");
    assert_not_opened(at("g_%d.png"), "no file fits");
    assert_not_opened(at("g_*.png"), "no file fits");
    assert_not_opened(at("f_%s.png"), "a pattern holds one number");
    assert_not_opened(at("f_%d_%d.png"), "a pattern holds one number");
    assert_not_opened(at("f_%99d.png"), "a pattern holds one number");
    assert_not_opened(at("nowhere/%d.png"), "No such file or directory");
    assert_not_opened(at("f_3.png"), "No such file or directory");
    assert_not_opened(at("f_2.png"), "a still image, not a video");
    assert_not_opened(at("f_9.pgm"), "a still image, not a video");
}

static void images_that_do_not_fit(void **state)
{
    enum status status;
    struct image wide;

    (void)state;
    assert_not_opened(folder, "no images in this folder");
    put(at("2.png"), "no picture", 10);
    assert_int_equal(count_frames(at("%d.png"), &status), 0);
    assert_message("2.png: not a PNG");
    save_gray(at("1.png"), 4, 3, 1);
    assert_int_equal(count_frames(folder, &status), 1);
    assert_message("2.png: not a PNG");
    save_gray(at("2.png"), 4, 3, 1);
    save_gray(at("3.png"), 3, 4, 1);
    save_gray(at("4.png"), 4, 3, 1);
    assert_int_equal(count_frames(folder, &status), 2);
    assert_int_equal(status, STATUS_BAD_INPUT);
    assert_message("3.png: 3x4 pixels, but");
    assert_int_equal(image_create(&wide, 4, 3, 1, PIXEL_U16), STATUS_OK);
    image_fill(&wide, 7);
    assert_int_equal(image_save(&wide, at("3.pgm")), STATUS_OK);
    image_free(&wide);
    assert_int_equal(count_frames(at("*.pgm"), &status), 0);
    assert_message("samples of u16");
}

/* ------------------------------------------------------------------------------------------------- writing */

static void frames_become_images(void **state)
{
    static const struct video_info info = {.width = 5, .height = 4, .rate = 25, .rate_base = 1, .frames = -1};
    static const char *const names[] = {"new", "new2/", "f_%03d.ppm"};
    static const char *const back[] = {"new", "new2", "f_%03d.ppm"};
    struct video_writer *writer;
    struct image frame, other;

    (void)state;
    assert_int_equal(image_create(&frame, 5, 4, 3, PIXEL_U8), STATUS_OK);
    assert_int_equal(image_create(&other, 4, 5, 3, PIXEL_U8), STATUS_OK);
    for (int i = 0; i < 3; i++) {
        assert_true(video_writer_fits(at(names[i])));
        assert_int_equal(video_writer_check(at(names[i])), STATUS_OK);
        char name[512];
        snprintf(name, sizeof name, "%s", at(names[i]));
        assert_int_equal(video_writer_open(&writer, name, &info), STATUS_OK);
        for (int k = 1; k <= 12; k++) {
            image_fill(&frame, (uint8_t)k);
            assert_int_equal(video_writer_add(writer, &frame), STATUS_OK);
        }
        assert_int_equal(video_writer_add(writer, &other), STATUS_BAD_INPUT);
        assert_int_equal(video_writer_finish(writer), STATUS_OK);
        assert_values(at(back[i]), "1 2 3 4 5 6 7 8 9 10 11 12 ");
    }
    assert_int_equal(access(at("new/frame_000012.png"), F_OK), 0);
    assert_int_equal(video_writer_check(at("new")), STATUS_BAD_INPUT);
    assert_message("the folder is not empty");
    assert_int_equal(video_writer_open(&writer, at("new"), &info), STATUS_BAD_INPUT);
    assert_null(writer);
    assert_int_equal(video_writer_check(at("x/y/new")), STATUS_BAD_INPUT);
    assert_message("cannot write in folder");
    assert_int_equal(video_writer_check(at("x/f_%d.png")), STATUS_BAD_INPUT);
    assert_int_equal(video_writer_check(at("f_%d.gif")), STATUS_BAD_INPUT);
    assert_message(".png, .jpg, .bmp or .ppm");
    assert_int_equal(video_writer_check(at("f_%d%d.png")), STATUS_BAD_INPUT);
    assert_int_equal(video_writer_check(at("x/a.mp4")), STATUS_BAD_INPUT);
    assert_false(video_writer_fits(at("a.npy")));
    assert_false(video_writer_fits(at("a.png")));
    assert_false(video_writer_fits(""));
    image_free(&frame);
    image_free(&other);
}

/* A pattern that drifts, smooth enough for any encoder. */
static void paint(struct image *frame, int k)
{
    for (int y = 0; y < frame->height; y++) {
        uint8_t *row = image_row(frame, y);
        for (int x = 0; x < frame->width; x++) {
            row[3 * x] = (uint8_t)(40 + (x + 2 * k) % 160);
            row[3 * x + 1] = (uint8_t)(40 + (y + k) % 160);
            row[3 * x + 2] = (uint8_t)(200 - k);
        }
    }
}

static void write_and_read_back(const char *path, int width, int height, int frames)
{
    const struct video_info info = {.width = width, .height = height, .rate = 30000, .rate_base = 1001};
    struct video_writer *writer;
    struct video_reader *reader;
    struct video_frame *frame;
    struct image image;
    int k = 0;

    assert_int_equal(image_create(&image, width, height, 3, PIXEL_U8), STATUS_OK);
    if (video_writer_open(&writer, path, &info) != STATUS_OK)
        fail_msg("%s", status_message());
    for (k = 0; k < frames; k++) {
        paint(&image, k);
        assert_int_equal(video_writer_add(writer, &image), STATUS_OK);
        assert_int_not_equal(access(path, F_OK), 0);
    }
    if (video_writer_finish(writer) != STATUS_OK)
        fail_msg("%s", status_message());

    if (video_open(&reader, path, NULL) != STATUS_OK)
        fail_msg("%s", status_message());
    assert_int_equal(video_get_info(reader)->width, width + width % 2);
    assert_int_equal(video_get_info(reader)->height, height + height % 2);
    assert_true(fabs((double)video_get_info(reader)->rate / video_get_info(reader)->rate_base - 29.97) < 0.01);
    for (k = 0;; k++) {
        double difference = 0;

        if (video_next(reader, &frame) != STATUS_OK)
            fail_msg("%s", status_message());
        if (!frame)
            break;
        paint(&image, k);
        for (int y = 0; y < height; y++)
            for (int i = 0; i < 3 * width; i++)
                difference += abs(((uint8_t *)image_row(&frame->image, y))[i] - ((uint8_t *)image_row(&image, y))[i]);
        difference /= 3.0 * width * height;
        if (difference > 8)
            fail_msg("%s: frame %d differs by %.1f on average", path, k + 1, difference);
        video_give_back(reader, frame);
    }
    assert_int_equal(k, frames);
    video_close(reader);
    assert_int_equal(unlink(path), 0);
    image_free(&image);
}

static void frames_become_a_video(void **state)
{
    static const struct video_info info = {.width = 64, .height = 48, .rate = 25, .rate_base = 1};
    struct video_writer *writer;
    struct image image;

    (void)state;
    if (!has_ffmpeg())
        skip();
    write_and_read_back(at("a.mp4"), 64, 48, 20);
    write_and_read_back(at("odd.MKV"), 63, 47, 5);
    write_and_read_back(at("one.mov"), 1, 1, 3);
    write_and_read_back(at("b.avi"), 33, 32, 5);

    /* Nothing is left of what was dropped, or of a video without frames. */
    assert_int_equal(image_create(&image, 64, 48, 3, PIXEL_U8), STATUS_OK);
    image_fill(&image, 90);
    for (int frames = 0; frames < 2; frames++) {
        char name[512];

        snprintf(name, sizeof name, "%s", at("c.mp4"));
        assert_int_equal(video_writer_open(&writer, name, &info), STATUS_OK);
        if (frames)
            assert_int_equal(video_writer_add(writer, &image), STATUS_OK);
        if (frames)
            video_writer_discard(writer);
        else
            assert_int_equal(video_writer_finish(writer), STATUS_OK);
        assert_int_not_equal(access(name, F_OK), 0);
    }
    video_writer_discard(NULL);
    image_free(&image);
}

static void closing_ends_ffmpeg(void **state)
{
    struct video_reader *reader;
    struct video_frame *frame;
    const struct video_info info = {.width = 320, .height = 240, .rate = 25, .rate_base = 1};
    struct video_writer *writer;
    struct image image;
    char name[512];

    (void)state;
    if (!has_ffmpeg())
        skip();
    snprintf(name, sizeof name, "%s", at("a.mp4"));
    assert_int_equal(image_create(&image, 320, 240, 3, PIXEL_U8), STATUS_OK);
    assert_int_equal(video_writer_open(&writer, name, &info), STATUS_OK);
    for (int k = 0; k < 50; k++) {
        paint(&image, k);
        assert_int_equal(video_writer_add(writer, &image), STATUS_OK);
    }
    assert_int_equal(video_writer_finish(writer), STATUS_OK);
    image_free(&image);
    /* tear_down() finds a process that is left. */
    for (int taken = 0; taken < 3; taken++) {
        assert_int_equal(video_open(&reader, name, NULL), STATUS_OK);
        for (int i = 0; i < taken; i++)
            assert_int_equal(video_next(reader, &frame), STATUS_OK);
        if (taken == 2)
            video_stop(reader);
        video_close(reader);
    }
    /* A name that looks like an option, an address or two words is a name. */
    static const char *const odd[] = {"-y.mp4", "http:x.mp4", "a b 'c.mp4", "%d.mp4", "[x].mp4"};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        enum status status;

        assert_int_equal(link(name, at(odd[i])), 0);
        assert_int_equal(count_frames(at(odd[i]), &status), 50);
        assert_int_equal(status, STATUS_OK);
    }
}

/* ------------------------------------------------------------------------------------------------ programs */

static void programs_are_spoken_to(void **state)
{
    static const size_t size = 3 << 20;
    struct program program;
    char *bytes = calloc(1, size), line[64];
    struct iovec part;
    size_t moved;
    int wake[2];

    (void)state;
    assert_non_null(bytes);
    assert_int_equal(program_check("no-such-program"), STATUS_UNSUPPORTED);
    assert_int_equal(program_start(&program, (const char *const[]){"no-such-program", NULL}, PROGRAM_NO_INPUT),
                     STATUS_UNSUPPORTED);
    assert_message("no-such-program is not installed");
    program_finish(&program);

    /* It ends without reading: no SIGPIPE, and its exit code. */
    assert_int_equal(program_start(&program, (const char *const[]){"false", NULL}, PROGRAM_TAKES_INPUT), STATUS_OK);
    part = (struct iovec){bytes, size};
    assert_int_equal(transfer_write(program.input, -1, &program, &part, 1), TRANSFER_END);
    program_finish(&program);
    assert_int_equal(program.exit_code, 1);

    /* It says more than a pipe holds before it reads: neither waits for the other. */
    assert_int_equal(
        program_start(&program,
                      (const char *const[]){"sh", "-c",
                                            "echo ' [x @ 0x1] cannot do it' >&2; head -c 2000000 /dev/zero >&2; "
                                            "test $(wc -c) = 3145728; echo $?",
                                            NULL},
                      PROGRAM_TAKES_INPUT),
        STATUS_OK);
    part = (struct iovec){bytes, size};
    assert_int_equal(transfer_write(program.input, -1, &program, &part, 1), TRANSFER_DONE);
    close(program.input);
    program.input = -1;
    part = (struct iovec){line, sizeof line};
    assert_int_equal(transfer_read(program.output, -1, &program, &part, 1, &moved), TRANSFER_END);
    assert_int_equal(moved, 2);
    assert_memory_equal(line, "0\n", 2);
    program_finish(&program);
    assert_string_equal(program_first_line(&program, line, sizeof line), "cannot do it");

    /* Waiting for what never comes ends when `wake` says so. */
    assert_int_equal(pipe(wake), 0);
    assert_int_equal(write(wake[1], "x", 1), 1);
    assert_int_equal(program_start(&program, (const char *const[]){"sleep", "1000", NULL}, PROGRAM_NO_INPUT),
                     STATUS_OK);
    part = (struct iovec){line, sizeof line};
    assert_int_equal(transfer_read(program.output, wake[0], &program, &part, 1, &moved), TRANSFER_STOPPED);
    program_kill(&program);
    assert_int_equal(program.exit_code, 128 + 9);
    program_kill(&program);
    close(wake[0]);
    close(wake[1]);
    free(bytes);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(outlines_are_exact),
        TEST(boxes_are_written_in_mot_columns),
        TEST(y4m_colours_by_hand),
        TEST(y4m_colours_follow_bt601),
        TEST(bad_y4m),
        TEST(every_cut_of_a_y4m_shows),
        TEST(the_queue_is_bounded_and_in_order),
        TEST(closing_and_stopping_early),
        TEST(images_come_in_order),
        TEST(images_that_do_not_fit),
        TEST(frames_become_images),
        TEST(frames_become_a_video),
        TEST(closing_ends_ffmpeg),
        TEST(programs_are_spoken_to),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
