#include "common/video/video_writer.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/core/file.h"
#include "common/core/program.h"
#include "common/image/image_io.h"
#include "common/video/video_source.h"

/* faststart: the index goes to the beginning, so that a browser can play the file before it has all of it. */
static const struct {
    const char *extension, *muxer, *movflags;
    bool h264;
} containers[] = {{".mp4", "mp4", "+faststart", true},
                  {".mov", "mov", "+faststart", true},
                  {".mkv", "matroska", NULL, true},
                  {".avi", "avi", NULL, false}};
enum { CONTAINERS = sizeof containers / sizeof *containers };

/* The best first. Qualities at which the drawn boxes stay sharp; veryfast, since the detector wants the cores more. */
static const struct encoder {
    const char *name;
    bool h264;
    const char *options[5]; /* NULL-terminated */
} encoders[] = {{"libx264", true, {"-preset", "veryfast", "-crf", "20"}},
                {"libopenh264", true, {"-b:v", "6M"}},
                {"mpeg4", false, {"-q:v", "3"}}};
enum { ENCODERS = sizeof encoders / sizeof *encoders };

struct video_writer {
    const char *name;
    struct video_info info;
    long frames;
    /* A video file. */
    struct program program;
    struct output_file file;
    struct iovec *parts;
    bool failed;
    /* Images. */
    struct frame_pattern pattern;
};

enum kind { KIND_NONE, KIND_VIDEO, KIND_PATTERN, KIND_FOLDER };

static int container_of(const char *name)
{
    for (int i = 0; i < CONTAINERS; i++)
        if (file_has_extension(name, containers[i].extension))
            return i;
    return -1;
}

static enum kind kind_of(const char *name)
{
    const char *slash = strrchr(name, '/'), *last = slash ? slash + 1 : name;
    struct stat about;

    if (stat(name, &about) == 0 && S_ISDIR(about.st_mode))
        return KIND_FOLDER;
    if (container_of(name) >= 0)
        return KIND_VIDEO;
    if (frame_pattern_fits(name))
        return KIND_PATTERN;
    return *name && (!*last || !strchr(last, '.')) ? KIND_FOLDER : KIND_NONE;
}

bool video_writer_makes_file(const char *name)
{
    return kind_of(name) == KIND_VIDEO;
}

bool video_writer_fits(const char *name)
{
    return kind_of(name) != KIND_NONE;
}

void video_writer_each_file(const char *name, void (*take)(void *argument, const char *path), void *argument)
{
    size_t length = strlen(name);
    char *folder;

    switch (kind_of(name)) {
    case KIND_PATTERN:
        video_each_image(name, false, take, argument);
        break;
    case KIND_FOLDER: /* new or empty: check_folder() */
        while (length > 1 && name[length - 1] == '/')
            length--;
        folder = strndup(name, length);
        take(argument, folder ? folder : name);
        free(folder);
        break;
    case KIND_VIDEO:
    case KIND_NONE:
        take(argument, name);
        break;
    }
}

bool video_writer_meet(const char *a, const char *b)
{
    static const char digits[] = "0123456789";
    struct frame_pattern one = {0}, other = {0};
    bool meet = false;

    if (frame_pattern_parse(&one, a) == STATUS_OK && frame_pattern_parse(&other, b) == STATUS_OK) {
        const size_t before = strlen(one.before), other_before = strlen(other.before);
        const size_t after = strlen(one.after), other_after = strlen(other.after);
        const size_t common = before < other_before ? before : other_before;
        const size_t end = after < other_after ? after : other_after;

        /* What one has before or behind the other's text belongs to the other's number. */
        meet = strncmp(one.before, other.before, common) == 0 &&
               strcmp(one.after + after - end, other.after + other_after - end) == 0 &&
               strspn(one.before + common, digits) == before - common &&
               strspn(other.before + common, digits) == other_before - common &&
               strspn(one.after, digits) >= after - end && strspn(other.after, digits) >= other_after - end;
    }
    frame_pattern_free(&one);
    frame_pattern_free(&other);
    return meet;
}

static enum status check_folder(const char *name)
{
    enum status status = STATUS_OK;
    DIR *directory = opendir(name);
    char *parent;
    size_t length = strlen(name);

    if (directory) {
        bool empty = true;

        for (const struct dirent *entry; (entry = readdir(directory));)
            empty = empty && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0);
        closedir(directory);
        if (!empty)
            return status_set(STATUS_BAD_INPUT, "%s: the folder is not empty; name a new one", name);
        if (access(name, W_OK | X_OK) != 0)
            return status_set(STATUS_BAD_INPUT, "%s: %s", name, strerror(errno));
        return STATUS_OK;
    }
    if (errno != ENOENT)
        return status_set(STATUS_BAD_INPUT, "%s: %s", name, strerror(errno));
    /* It will be made: can it be? */
    while (length > 1 && name[length - 1] == '/')
        length--;
    while (length > 0 && name[length - 1] != '/')
        length--;
    parent = length ? strndup(name, length) : strdup(".");
    if (!parent)
        return status_set(STATUS_NO_MEMORY, "%s: no memory", name);
    if (access(parent, W_OK | X_OK) != 0)
        status = status_set(STATUS_BAD_INPUT, "%s: cannot write in folder %s: %s", name, parent, strerror(errno));
    free(parent);
    return status;
}

static enum status check_pattern(const char *name)
{
    enum status status = STATUS_OK;
    struct frame_pattern pattern = {0};
    char *first = NULL;

    TRY(frame_pattern_parse(&pattern, name));
    if (!video_is_picture_name(name) || file_has_extension(name, ".pgm")) {
        status = status_set(STATUS_BAD_INPUT, "%s: images of a video must be .png, .jpg, .bmp or .ppm", name);
        goto out;
    }
    first = frame_pattern_name(&pattern, 1);
    if (!first) {
        status = status_set(STATUS_NO_MEMORY, "%s: no memory", name);
        goto out;
    }
    TRY(image_save_check(first));
out:
    free(first);
    frame_pattern_free(&pattern);
    return status;
}

enum status video_writer_check(const char *name)
{
    enum status status = STATUS_OK;

    switch (kind_of(name)) {
    case KIND_VIDEO:
        TRY(file_check_output(name));
        TRY(program_check("ffmpeg"));
        break;
    case KIND_PATTERN:
        TRY(check_pattern(name));
        break;
    case KIND_FOLDER:
        TRY(check_folder(name));
        break;
    case KIND_NONE:
        status =
            status_set(STATUS_BAD_INPUT,
                       "%s: a video goes to .mp4, .mov, .mkv or .avi, a folder, or a pattern (frame_%%04d.png)", name);
        break;
    }
out:
    return status;
}

/* ------------------------------------------------------------------------------------------------- video files */

/* The best encoder that this ffmpeg was built with: builds without GPL parts have no libx264. */
static enum status choose_encoder(const char *name, bool h264, const struct encoder **encoder)
{
    enum status status = STATUS_OK;
    const char *const argv[] = {"ffmpeg", "-nostdin", "-v", "error", "-encoders", NULL};
    struct program program = {0};
    const size_t size = 1 << 18;
    char *list = calloc(1, size);
    struct iovec part = {list, size - 1};

    *encoder = NULL;
    if (!list)
        return status_set(STATUS_NO_MEMORY, "%s: no memory", name);
    TRY(program_start(&program, argv, PROGRAM_NO_INPUT));
    program.patience = program_usual_patience();
    transfer_read(program.output, -1, &program, &part, 1, NULL);
    program_finish(&program);
    for (int i = 0; i < ENCODERS && !*encoder; i++) {
        char word[32];

        snprintf(word, sizeof word, " %s ", encoders[i].name);
        if ((h264 || !encoders[i].h264) && strstr(list, word))
            *encoder = &encoders[i];
    }
    if (program.hung)
        status = status_set(STATUS_FAILED, "%s: %.*s", name, (int)strcspn(program.said, "\n"), program.said);
    else if (!*encoder)
        status = status_set(STATUS_UNSUPPORTED, "%s: this ffmpeg has no encoder for H.264 or MPEG-4", name);
out:
    free(list);
    return status;
}

static int even(int side)
{
    return side + side % 2;
}

static void append(const char **argv, size_t *count, const char *const *words)
{
    while (*words)
        argv[(*count)++] = *words++;
    argv[*count] = NULL;
}

static enum status open_video(struct video_writer *writer)
{
    enum status status = STATUS_OK;
    const struct video_info *info = &writer->info;
    const int container = container_of(writer->name);
    const struct encoder *encoder;
    char size[32], rate[32], filter[96];
    char *output = NULL;
    const char *argv[48];
    size_t count = 0;

    TRY(choose_encoder(writer->name, containers[container].h264, &encoder));
    TRY(file_create(&writer->file, writer->name));
    snprintf(size, sizeof size, "%dx%d", even(info->width), even(info->height));
    snprintf(rate, sizeof rate, "%d/%d", info->rate, info->rate_base);
    snprintf(filter, sizeof filter, "scale=out_color_matrix=bt601:out_range=limited,setsar=%d/%d:max=65535",
             info->aspect, info->aspect ? info->aspect_base : 1);
    /* A row is one part, or two with its last pixel again. */
    writer->parts = malloc(2 * ((size_t)info->height + 1) * sizeof *writer->parts);
    if (!writer->parts || asprintf(&output, "file:%s", writer->file.temporary) < 0) {
        output = NULL;
        status = status_set(STATUS_NO_MEMORY, "%s: no memory", writer->name);
        goto out;
    }
    append(argv, &count, (const char *const[]){"ffmpeg", "-nostdin", "-v", "error", "-y", NULL});
    append(argv, &count,
           (const char *const[]){"-f", "rawvideo", "-pix_fmt", "rgb24", "-video_size", size, "-framerate", rate, "-i",
                                 "pipe:0", NULL});
    append(argv, &count,
           (const char *const[]){"-vf", filter, "-pix_fmt", "yuv420p", "-colorspace", "smpte170m", "-color_range", "tv",
                                 NULL});
    append(argv, &count, (const char *const[]){"-c:v", encoder->name, NULL});
    append(argv, &count, encoder->options);
    if (containers[container].movflags)
        append(argv, &count, (const char *const[]){"-movflags", containers[container].movflags, NULL});
    append(argv, &count, (const char *const[]){"-f", containers[container].muxer, output, NULL});
    TRY(program_start(&writer->program, argv, PROGRAM_TAKES_INPUT));
    writer->program.patience = program_usual_patience();
out:
    free(output);
    return status;
}

/* Why ffmpeg could not go on. */
static enum status video_failed(struct video_writer *writer)
{
    char line[256];

    writer->failed = true;
    program_finish(&writer->program);
    program_first_line(&writer->program, line, sizeof line);
    return status_set(STATUS_BAD_INPUT, "%s: cannot be written (ffmpeg: %s)", writer->name,
                      *line ? line : "ended with an error");
}

static enum status add_to_video(struct video_writer *writer, const struct image *frame)
{
    const size_t row_bytes = image_row_bytes(frame);
    const int rows = even(frame->height);
    size_t count = 0;

    for (int y = 0; y < rows; y++) {
        uint8_t *row = image_row(frame, y < frame->height ? y : frame->height - 1);

        writer->parts[count++] = (struct iovec){row, row_bytes};
        if (frame->width % 2)
            writer->parts[count++] = (struct iovec){row + row_bytes - 3, 3};
    }
    if (transfer_write(writer->program.input, -1, &writer->program, writer->parts, count) != TRANSFER_DONE)
        return video_failed(writer);
    return STATUS_OK;
}

/* ------------------------------------------------------------------------------------------------------- images */

static enum status open_folder(struct video_writer *writer)
{
    if (mkdir(writer->name, 0777) != 0 && errno != EEXIST)
        return status_set(STATUS_BAD_INPUT, "%s: %s", writer->name, strerror(errno));
    const char *slash = writer->name[strlen(writer->name) - 1] == '/' ? "" : "/";

    if (asprintf(&writer->pattern.before, "%s%sframe_", writer->name, slash) < 0) {
        writer->pattern.before = NULL;
        return status_set(STATUS_NO_MEMORY, "%s: no memory", writer->name);
    }
    writer->pattern.digits = 6;
    writer->pattern.after = strdup(".png");
    return writer->pattern.after ? STATUS_OK : status_set(STATUS_NO_MEMORY, "%s: no memory", writer->name);
}

static enum status add_image(struct video_writer *writer, const struct image *frame)
{
    char *name = frame_pattern_name(&writer->pattern, writer->frames + 1);
    enum status status;

    if (!name)
        return status_set(STATUS_NO_MEMORY, "%s: no memory", writer->name);
    status = image_save(frame, name);
    free(name);
    return status;
}

/* ---------------------------------------------------------------------------------------------------- any of them */

enum status video_writer_open(struct video_writer **result, const char *name, const struct video_info *info)
{
    enum status status = STATUS_OK;
    struct video_writer *writer;

    *result = NULL;
    TRY(video_writer_check(name));
    writer = calloc(1, sizeof *writer);
    if (!writer)
        return status_set(STATUS_NO_MEMORY, "%s: no memory", name);
    writer->name = name;
    writer->info = *info;
    if (kind_of(name) == KIND_VIDEO)
        status = open_video(writer);
    else if (kind_of(name) == KIND_PATTERN)
        status = frame_pattern_parse(&writer->pattern, name);
    else
        status = open_folder(writer);
    if (status != STATUS_OK)
        video_writer_discard(writer);
    else
        *result = writer;
out:
    return status;
}

enum status video_writer_add(struct video_writer *writer, const struct image *frame)
{
    enum status status;

    if (frame->type != PIXEL_U8 || frame->channels != 3 || frame->width != writer->info.width ||
        frame->height != writer->info.height)
        return status_set(STATUS_BAD_INPUT, "%s: a frame of another shape than the video's", writer->name);
    status = writer->parts ? add_to_video(writer, frame) : add_image(writer, frame);
    if (status == STATUS_OK)
        writer->frames++;
    return status;
}

enum status video_writer_finish(struct video_writer *writer)
{
    enum status status = STATUS_OK;

    if (writer->parts && writer->frames > 0) {
        program_finish(&writer->program);
        if (writer->failed || writer->program.exit_code != 0 || writer->program.said_length > 0)
            status = video_failed(writer);
        else
            status = file_commit(&writer->file);
    }
    video_writer_discard(writer);
    return status;
}

void video_writer_discard(struct video_writer *writer)
{
    if (!writer)
        return;
    program_kill(&writer->program);
    file_discard(&writer->file);
    frame_pattern_free(&writer->pattern);
    free(writer->parts);
    free(writer);
}
