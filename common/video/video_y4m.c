/*
 * video_y4m.c: YUV4MPEG2, as mjpegtools' yuv4mpeg(5) defines it: a header line, then for each frame a line "FRAME..."
 * and the planes Y, U, V without padding.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/core/program.h"
#include "common/video/video_source.h"

enum { LINE_BYTES = 1024 };

struct y4m {
    int descriptor;
    int across, down; /* log2 of the pixels that share a chroma sample */
    bool has_chroma, full_range;
    long frames; /* read so far */
    int chroma_width, chroma_height;
    size_t planes_bytes;
    uint8_t *planes; /* of one frame */
    uint8_t *u, *v;  /* one row of chroma, with a value for each pixel */
};

static enum transfer take(struct video_source *source, void *data, size_t size, size_t *got)
{
    const struct y4m *y4m = source->state;
    struct iovec part = {data, size};

    return transfer_read(y4m->descriptor, source->wake, NULL, &part, 1, got);
}

/* Reads to the end of a line that has `length` bytes so far. TRANSFER_FAILED with errno 0 when it is too long. A byte a
 * time, so that nothing behind it is taken: lines are short and few. */
static enum transfer take_line(struct video_source *source, char line[LINE_BYTES], size_t length)
{
    enum transfer transfer = TRANSFER_DONE;

    while (length == 0 || line[length - 1] != '\n') {
        if (length == LINE_BYTES - 1) {
            errno = 0;
            return TRANSFER_FAILED;
        }
        transfer = take(source, line + length, 1, NULL);
        if (transfer != TRANSFER_DONE)
            return transfer;
        length++;
    }
    line[length - 1] = '\0';
    return transfer;
}

/* ---------------------------------------------------------------------------------------------------- the header */

static enum status take_chroma(const char *name, struct y4m *y4m, const char *format)
{
    static const struct {
        const char *format;
        bool has_chroma;
        int across, down;
    } known[] = {{"420", true, 1, 1}, {"420jpeg", true, 1, 1}, {"420mpeg2", true, 1, 1}, {"420paldv", true, 1, 1},
                 {"422", true, 1, 0}, {"411", true, 2, 0},     {"444", true, 0, 0},      {"mono", false, 0, 0}};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(known[i].format, format) != 0)
            continue;
        y4m->has_chroma = known[i].has_chroma;
        y4m->across = known[i].across;
        y4m->down = known[i].down;
        return STATUS_OK;
    }
    return status_set(STATUS_BAD_INPUT,
                      "%s: y4m of the kind C%.40s is not read, only 8 bits as C420, C411, C422, C444 or Cmono "
                      "(ffmpeg -pix_fmt yuv420p makes the first)",
                      name, format);
}

/* A whole number that fills the text up to `end`; -1 for anything else. */
static int64_t number_of(const char *text, char end)
{
    int64_t number = 0;

    if (*text == end || !*text)
        return -1;
    for (; *text && *text != end; text++) {
        if (*text < '0' || *text > '9' || number > 1000000000)
            return -1;
        number = 10 * number + (*text - '0');
    }
    return number;
}

static enum status parse_header(struct video_source *source, char *line)
{
    enum status status = STATUS_OK;
    struct y4m *y4m = source->state;
    int64_t width = -1, height = -1;
    char *rest = NULL;

    TRY(take_chroma(source->name, y4m, "420"));
    for (char *word = strtok_r(line, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        const char *colon = strchr(word, ':');

        if (word[0] == 'W')
            width = number_of(word + 1, '\0');
        else if (word[0] == 'H')
            height = number_of(word + 1, '\0');
        else if (word[0] == 'F' && colon)
            video_set_rate(&source->info, number_of(word + 1, ':'), number_of(colon + 1, '\0'));
        else if (word[0] == 'A' && colon)
            video_set_aspect(&source->info, number_of(word + 1, ':'), number_of(colon + 1, '\0'));
        else if (word[0] == 'C')
            TRY(take_chroma(source->name, y4m, word + 1));
        else if (strcmp(word, "XCOLORRANGE=FULL") == 0)
            y4m->full_range = true;
    }
    if (width < 0 || height < 0) {
        status = status_set(STATUS_BAD_INPUT, "%s: damaged y4m: its header has no width or height", source->name);
        goto out;
    }
    TRY(video_check_size(source->name, width, height));
    source->info.width = (int)width;
    source->info.height = (int)height;
out:
    return status;
}

/* ----------------------------------------------------------------------------------------------------- a frame */

static inline uint8_t clamp(int32_t value)
{
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

/* video.h has the formula. The largest sum, 76309 * 239 + 132201 * 127, fits 32 bits. */
static void row_to_rgb(uint8_t *restrict rgb, const uint8_t *restrict luma, const uint8_t *restrict u,
                       const uint8_t *restrict v, int width, bool full_range)
{
    const int32_t black = full_range ? 0 : 16, y_factor = full_range ? 65536 : 76309;
    const int32_t red_v = full_range ? 91881 : 104597, green_u = full_range ? 22553 : 25675;
    const int32_t green_v = full_range ? 46802 : 53279, blue_u = full_range ? 116130 : 132201;

    for (int x = 0; x < width; x++) {
        const int32_t y = y_factor * (luma[x] - black) + 32768, d = u[x] - 128, e = v[x] - 128;

        rgb[3 * x] = clamp((y + red_v * e) >> 16);
        rgb[3 * x + 1] = clamp((y - green_u * d - green_v * e) >> 16);
        rgb[3 * x + 2] = clamp((y + blue_u * d) >> 16);
    }
}

static void spread(uint8_t *row, const uint8_t *samples, int width, int across)
{
    for (int x = 0; x < width; x++)
        row[x] = samples[x >> across];
}

static void to_rgb(const struct y4m *y4m, struct image *frame)
{
    const size_t luma_bytes = (size_t)frame->width * (size_t)frame->height;
    const uint8_t *u = y4m->planes + luma_bytes, *v = u + (size_t)y4m->chroma_width * (size_t)y4m->chroma_height;

    for (int y = 0; y < frame->height; y++) {
        if (y4m->has_chroma && (y & ((1 << y4m->down) - 1)) == 0) {
            const size_t row = (size_t)(y >> y4m->down) * (size_t)y4m->chroma_width;

            spread(y4m->u, u + row, frame->width, y4m->across);
            spread(y4m->v, v + row, frame->width, y4m->across);
        }
        row_to_rgb(image_row(frame, y), y4m->planes + (size_t)y * (size_t)frame->width, y4m->u, y4m->v, frame->width,
                   y4m->full_range);
    }
}

static enum status cut_short(const struct video_source *source)
{
    const struct y4m *y4m = source->state;

    return status_set(STATUS_BAD_INPUT, "%s: cut short: frame %ld is incomplete", source->name, y4m->frames + 1);
}

static enum status read_y4m(struct video_source *source, struct image *frame, bool *more)
{
    struct y4m *y4m = source->state;
    char line[LINE_BYTES];
    size_t got = 0;
    enum transfer transfer = take(source, line, 6, &got); /* "FRAME\n" is the whole line as a rule */

    *more = false;
    if (transfer == TRANSFER_END && got == 0) {
        if (y4m->frames == 0)
            return status_set(STATUS_BAD_INPUT, "%s: a y4m header and no frames", source->name);
        return STATUS_OK;
    }
    if (transfer == TRANSFER_DONE) {
        if (memcmp(line, "FRAME", 5) != 0 || (line[5] != '\n' && line[5] != ' '))
            return status_set(STATUS_BAD_INPUT, "%s: damaged y4m: no FRAME line where frame %ld should begin",
                              source->name, y4m->frames + 1);
        transfer = take_line(source, line, 6);
    }
    if (transfer == TRANSFER_DONE)
        transfer = take(source, y4m->planes, y4m->planes_bytes, NULL);
    if (transfer == TRANSFER_STOPPED)
        return STATUS_OK;
    if (transfer == TRANSFER_END)
        return cut_short(source);
    if (transfer == TRANSFER_FAILED)
        return status_set(STATUS_BAD_INPUT, "%s: cannot read frame %ld: %s", source->name, y4m->frames + 1,
                          errno ? strerror(errno) : "an endless FRAME line");
    to_rgb(y4m, frame);
    y4m->frames++;
    *more = true;
    return STATUS_OK;
}

/* --------------------------------------------------------------------------------------------- opening, closing */

static void close_y4m(struct video_source *source)
{
    struct y4m *y4m = source->state;

    if (y4m->descriptor != STDIN_FILENO)
        close(y4m->descriptor);
    free(y4m->planes);
    free(y4m->u);
    free(y4m->v);
    free(y4m);
    source->state = NULL;
}

enum status video_open_y4m(struct video_source *source, int descriptor, uint64_t file_size)
{
    enum status status = STATUS_OK;
    static const char magic[] = "YUV4MPEG2 ";
    struct y4m *y4m = calloc(1, sizeof *y4m);
    char line[LINE_BYTES];
    size_t got = 0;
    enum transfer transfer;

    if (!y4m) {
        if (descriptor != STDIN_FILENO)
            close(descriptor);
        return status_set(STATUS_NO_MEMORY, "%s: no memory", source->name);
    }
    y4m->descriptor = descriptor;
    source->state = y4m;
    source->read = read_y4m;
    source->close = close_y4m;
    video_set_rate(&source->info, 0, 0);
    source->info.frames = -1;

    transfer = take(source, line, sizeof magic - 1, &got);
    if (transfer == TRANSFER_END && got == 0)
        return status_set(STATUS_BAD_INPUT, "%s: empty", source->name);
    if (transfer == TRANSFER_FAILED)
        return status_set(STATUS_BAD_INPUT, "%s: %s", source->name, strerror(errno));
    if (transfer != TRANSFER_DONE || memcmp(line, magic, sizeof magic - 1) != 0)
        return status_set(STATUS_BAD_INPUT,
                          "%s: not y4m (YUV4MPEG2); ffmpeg -i VIDEO -pix_fmt yuv420p -f yuv4mpegpipe - makes it",
                          source->name);
    if (take_line(source, line, sizeof magic - 1) != TRANSFER_DONE)
        return status_set(STATUS_BAD_INPUT, "%s: damaged y4m: its header has no end", source->name);
    const size_t header_bytes = strlen(line) + 1;

    TRY(parse_header(source, line + sizeof magic - 1));

    const size_t width = (size_t)source->info.width, height = (size_t)source->info.height;

    if (y4m->has_chroma) {
        y4m->chroma_width = (source->info.width + (1 << y4m->across) - 1) >> y4m->across;
        y4m->chroma_height = (source->info.height + (1 << y4m->down) - 1) >> y4m->down;
    }
    y4m->planes_bytes = width * height + 2 * (size_t)y4m->chroma_width * (size_t)y4m->chroma_height;
    /* Exact when no frame has parameters, which hardly any has. */
    if (file_size > 0 && (file_size - header_bytes) % (y4m->planes_bytes + 6) == 0)
        source->info.frames = (long)((file_size - header_bytes) / (y4m->planes_bytes + 6));
    y4m->planes = malloc(y4m->planes_bytes);
    y4m->u = malloc(width);
    y4m->v = malloc(width);
    if (!y4m->planes || !y4m->u || !y4m->v) {
        status =
            status_set(STATUS_NO_MEMORY, "%s: no memory for a frame of %zux%zu pixels", source->name, width, height);
        goto out;
    }
    memset(y4m->u, 128, width);
    memset(y4m->v, 128, width);
out:
    return status;
}
