/*
 * video_ffmpeg.c: what the ffmpeg program decodes. ffprobe tells size and rate; then ffmpeg writes the frames as PPM
 * pictures into a pipe, each with a header that repeats the size.
 *
 * ffmpeg takes a file for what its first bytes say, and some forms are lists of other files (playlists, ffconcat,
 * scripts, numbered pictures): a file called .mp4 could make it open any other, or an address. So it never gets a name,
 * but the open file as its stdin, and
 *
 *     .mp4, .mov, .avi   are named to it (-f), and neither opens other files; it may open stdin as a file, to and fro:
 *     their
 *                        index may lie at the end
 *     animated PNG, JPEGs that follow on each other
 *                        are named likewise; ffmpeg takes them for single pictures otherwise
 *     everything else    comes through "pipe:", the only protocol that it may use then
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/core/program.h"
#include "common/video/video_source.h"

/* What ffprobe says of the first video stream. */
struct probe {
    int64_t width, height; /* as shown, after rotation; 0 = no such stream */
    int64_t rate, base;
    int64_t frames;  /* -1 = not in the header */
    double duration; /* seconds, -1 if unknown */
    char format[64], codec[64];
    int64_t aspect, aspect_base; /* of a pixel, 0 if unknown */
    double matrix[2][3];         /* how it is shown: the upper rows of the display matrix, all 0 without one */
};

struct container;

struct decoder {
    struct program program;
    int file;
    const struct container *container; /* NULL = none that is known here */
    char filter[128];
    char container_lines[80]; /* how a line begins that what takes the container apart says; "" = there is none */
    char header[64];          /* of each frame */
    size_t header_length;
    long frames;    /* decoded so far */
    bool seems_cut; /* the file holds less time than its header says */
    struct iovec *parts;
};

/* What ffmpeg calls its stdin: as a file that it opens once more, and so can go to and fro in, or as a pipe. */
static const char opened[] = "file:/proc/self/fd/0", piped[] = "pipe:0";

static const struct container {
    const char *demuxer; /* as ffmpeg calls it */
    const char *option;  /* of the demuxer, switched off; NULL = none */
    size_t at;           /* of the mark in the file */
    const char mark[5];
} containers[] = {
    /* Its references to other files are off by default. */
    {"mov", "-enable_drefs", 4, "ftyp"},
    {"mov", "-enable_drefs", 4, "moov"},
    {"mov", "-enable_drefs", 4, "mdat"},
    {"mov", "-enable_drefs", 4, "wide"},
    {"mov", "-enable_drefs", 4, "free"},
    {"mov", "-enable_drefs", 4, "skip"},
    {"avi", NULL, 8, "AVI "},
    {"apng", NULL, 0, "\x89PNG"},
    {"mjpeg", NULL, 0, "\xff\xd8\xff"},
};

/* The container that a file is of; NULL when it is none of the list. */
static const struct container *find_container(int file)
{
    char start[16] = "";

    if (pread(file, start, sizeof start, 0) < 0)
        return NULL;
    for (size_t i = 0; i < sizeof containers / sizeof *containers; i++)
        if (memcmp(start + containers[i].at, containers[i].mark, strlen(containers[i].mark)) == 0)
            return &containers[i];
    return NULL;
}

/* The arguments that name the input, after which the next one goes. */
static size_t name_input(const struct decoder *decoder, const char **argv, size_t count)
{
    const struct container *container = decoder->container;

    argv[count++] = "-protocol_whitelist";
    argv[count++] = container ? "file" : "pipe";
    if (container) {
        argv[count++] = "-f";
        argv[count++] = container->demuxer;
    }
    if (container && container->option) {
        argv[count++] = container->option;
        argv[count++] = "0";
    }
    argv[count++] = "-i";
    argv[count++] = container ? opened : piped;
    return count;
}

/* Starts ffprobe or ffmpeg on the file, from its beginning. */
static enum status start_on_file(const struct video_source *source, const char *const *argv, struct program *program)
{
    const struct decoder *decoder = source->state;
    enum status status = STATUS_OK;

    if (lseek(decoder->file, 0, SEEK_SET) != 0)
        return status_set(STATUS_FAILED, "%s: %s", source->name, strerror(errno));
    TRY(program_start(program, argv, decoder->file));
    program->patience = program_usual_patience();
out:
    return status;
}

static enum status no_memory(const struct video_source *source)
{
    return status_set(STATUS_NO_MEMORY, "%s: no memory", source->name);
}

/* ------------------------------------------------------------------------------------------------------- probing */

static void take_line(struct probe *probe, const char *line)
{
    int64_t rate, base;
    unsigned row;
    double a, b, c;

    if (probe->width == 0 && sscanf(line, "width=%" SCNd64, &probe->width) == 1)
        return;
    if (probe->height == 0 && sscanf(line, "height=%" SCNd64, &probe->height) == 1)
        return;
    /* The average comes after the guess of the smallest rate that fits all time stamps, and is better when there. */
    if ((sscanf(line, "r_frame_rate=%" SCNd64 "/%" SCNd64, &rate, &base) == 2 ||
         sscanf(line, "avg_frame_rate=%" SCNd64 "/%" SCNd64, &rate, &base) == 2) &&
        rate > 0 && base > 0) {
        probe->rate = rate;
        probe->base = base;
    }
    sscanf(line, "nb_frames=%" SCNd64, &probe->frames);
    sscanf(line, "duration=%lf", &probe->duration);
    sscanf(line, "format_name=%63s", probe->format);
    sscanf(line, "codec_name=%63s", probe->codec);
    sscanf(line, "sample_aspect_ratio=%" SCNd64 ":%" SCNd64, &probe->aspect, &probe->aspect_base);
    if (sscanf(line, "%8x: %lf %lf %lf", &row, &a, &b, &c) == 4 && row < 2)
        memcpy(probe->matrix[row], (const double[]){a, b, c}, sizeof probe->matrix[row]);
}

/* Whether ffmpeg will exchange width and height: it rounds the angle to degrees. ffprobe's own angle is cut to them. */
static bool is_turned(const struct probe *probe)
{
    const double across = hypot(probe->matrix[0][0], probe->matrix[1][0]);
    const double down = hypot(probe->matrix[0][1], probe->matrix[1][1]), degrees = 180 / acos(-1);

    if (across == 0 || down == 0)
        return false;
    return round(fabs(atan2(probe->matrix[0][1] / down, probe->matrix[0][0] / across)) * degrees) == 90;
}

static enum status probe_file(const struct video_source *source, struct probe *probe)
{
    enum status status = STATUS_OK;
    const struct decoder *decoder = source->state;
    const char *argv[24] = {"ffprobe",
                            "-v",
                            "error",
                            "-select_streams",
                            "V:0",
                            "-show_entries",
                            ("stream=codec_name,width,height,r_frame_rate,avg_frame_rate,nb_frames,sample_aspect_ratio:"
                             "stream_side_data=displaymatrix:format=format_name,duration"),
                            "-of",
                            "default=noprint_wrappers=1"};
    const char *const input = decoder->container ? opened : piped;
    struct program program = {0};
    char text[8192] = "", line[256];
    struct iovec part = {text, sizeof text - 1};
    char *rest = NULL;
    enum transfer transfer;

    *probe = (struct probe){.frames = -1, .duration = -1};
    name_input(decoder, argv, 9);
    TRY(start_on_file(source, argv, &program));
    transfer = transfer_read(program.output, source->wake, &program, &part, 1, NULL);
    if (transfer == TRANSFER_FAILED) {
        status = status_set(STATUS_FAILED, "%s: no answer from ffprobe: %s", source->name, strerror(errno));
        goto out;
    }
    program_finish(&program);
    program_first_line(&program, line, sizeof line);
    if (program.hung) {
        status = status_set(STATUS_FAILED, "%s: %s", source->name, line);
        goto out;
    }
    if (program.exit_code != 0) {
        /* It repeats the name, which ours says already. */
        const char *reason = strncmp(line, input, strlen(input)) == 0 ? line + strlen(input) : line;

        reason += strspn(reason, ": ");
        status = status_set(STATUS_BAD_INPUT, "%s: not a video, or damaged or cut short at its start (ffmpeg: %s)",
                            source->name, *reason ? reason : "no reason given");
        goto out;
    }
    for (char *word = strtok_r(text, "\n", &rest); word; word = strtok_r(NULL, "\n", &rest))
        take_line(probe, word);
    if (is_turned(probe)) {
        const int64_t width = probe->width, aspect = probe->aspect;

        probe->width = probe->height;
        probe->height = width;
        probe->aspect = probe->aspect_base;
        probe->aspect_base = aspect;
    }
out:
    program_kill(&program);
    return status;
}

/* Single pictures have the formats "png_pipe", "webp_pipe" ... and "image2"; "tty" is what any text file passes for. */
static enum status refuse_other_things(const struct video_source *source, const struct probe *probe)
{
    const size_t length = strlen(probe->format);

    if (strcmp(probe->format, "tty") == 0)
        return status_set(STATUS_BAD_INPUT, "%s: a text, not a video", source->name);
    if (strcmp(probe->format, "image2") == 0 || (length > 5 && strcmp(probe->format + length - 5, "_pipe") == 0))
        return status_set(STATUS_BAD_INPUT,
                          "%s: a still image, not a video; name a folder of images or a pattern (frame_%%04d.png)",
                          source->name);
    if (probe->width == 0)
        return status_set(STATUS_BAD_INPUT, "%s: no video stream in this file", source->name);
    return video_check_size(source->name, probe->width, probe->height);
}

/* ------------------------------------------------------------------------------------------------------ decoding */

/* ffmpeg on the file with these outputs. strict: it ends at the first frame that it lost or that is damaged, which it
 * may not know yet when it gives out the frame, unless one thread decodes. */
static enum status start_ffmpeg(const struct video_source *source, struct program *program, const char *const *outputs,
                                bool strict)
{
    const char *argv[40] = {"ffmpeg", "-nostdin", "-v", "error"};
    size_t count = 4;

    for (const char *const *word = (const char *const[]){"-xerror", "-threads", "1", NULL}; strict && *word; word++)
        argv[count++] = *word;
    count = name_input(source->state, argv, count);
    for (const char *const *word = (const char *const[]){"-map", "0:V:0", "-fps_mode", "passthrough", NULL}; *word;
         word++)
        argv[count++] = *word;
    while (*outputs)
        argv[count++] = *outputs++;
    argv[count] = NULL;
    return start_on_file(source, argv, program);
}

/* Whether a line comes from what takes the container apart, which loses frames without the decoder's knowing. */
static bool says_container(const struct decoder *decoder)
{
    return *decoder->container_lines && strstr(decoder->program.said, decoder->container_lines);
}

/* ffmpeg said something and went on to the end. Much of that means nothing: a segment of an application that it does
 * not know, packets before the first key frame. So the video is decoded once more, to the first fault of a frame.
 * *harmless is true where there is none, or reading shall stop. */
static enum status look_again(struct video_source *source, bool *harmless)
{
    enum status status = STATUS_OK;
    struct program program = {0};
    char nothing[64];
    struct iovec part = {nothing, sizeof nothing};
    enum transfer transfer;

    TRY(start_ffmpeg(source, &program, (const char *const[]){"-f", "null", "-", NULL}, true));
    transfer = transfer_read(program.output, source->wake, &program, &part, 1, NULL);
    *harmless = transfer == TRANSFER_STOPPED;
    if (*harmless)
        goto out;
    program_finish(&program);
    *harmless = program.exit_code == 0 && !program.hung;
out:
    program_kill(&program);
    return status;
}

/* There are no more frames: says whether that is how it should be. */
static enum status end_of_video(struct video_source *source)
{
    struct decoder *decoder = source->state;
    enum status status = STATUS_OK;
    bool harmless = false;
    char line[256];

    program_finish(&decoder->program);
    program_first_line(&decoder->program, line, sizeof line);
    if (decoder->program.hung)
        return status_set(STATUS_FAILED, "%s: %s after %ld frames", source->name, line, decoder->frames);
    if (strstr(decoder->program.said, "Invalid too big or non positive size"))
        return status_set(STATUS_BAD_INPUT, "%s: the size of its frames changes after frame %ld (%dx%d before)",
                          source->name, decoder->frames, source->info.width, source->info.height);
    if (decoder->frames == 0)
        return status_set(STATUS_BAD_INPUT, "%s: no frames in this video%s%s%s", source->name,
                          *line ? " (ffmpeg: " : "", line, *line ? ")" : "");
    if (*line && decoder->program.exit_code == 0 && !says_container(decoder))
        TRY(look_again(source, &harmless));
    if (decoder->program.exit_code != 0 || (*line && !harmless))
        return status_set(STATUS_BAD_INPUT, "%s: damaged or cut short: %ld frames could be decoded (ffmpeg: %s)",
                          source->name, decoder->frames, *line ? line : "ended with an error");
    if (decoder->seems_cut && decoder->frames < source->info.frames)
        return status_set(STATUS_BAD_INPUT, "%s: cut short: %ld of %ld frames are there", source->name, decoder->frames,
                          source->info.frames);
out:
    return status;
}

static enum status read_ffmpeg(struct video_source *source, struct image *frame, bool *more)
{
    struct decoder *decoder = source->state;
    char header[sizeof decoder->header];
    const size_t row_bytes = image_row_bytes(frame);
    size_t count = 0, got = 0;
    enum transfer transfer;

    decoder->parts[count++] = (struct iovec){header, decoder->header_length};
    if (frame->stride == row_bytes) {
        decoder->parts[count++] = (struct iovec){frame->data, row_bytes * (size_t)frame->height};
    } else {
        for (int y = 0; y < frame->height; y++)
            decoder->parts[count++] = (struct iovec){image_row(frame, y), row_bytes};
    }
    transfer = transfer_read(decoder->program.output, source->wake, &decoder->program, decoder->parts, count, &got);
    *more = transfer == TRANSFER_DONE;
    if (transfer == TRANSFER_STOPPED)
        return STATUS_OK;
    if (transfer == TRANSFER_END)
        return end_of_video(source);
    if (transfer == TRANSFER_FAILED)
        return status_set(STATUS_FAILED, "%s: cannot read from ffmpeg: %s", source->name, strerror(errno));
    if (memcmp(header, decoder->header, decoder->header_length) != 0)
        return status_set(STATUS_FAILED, "%s: ffmpeg gives frames of another size than ffprobe says (%dx%d)",
                          source->name, frame->width, frame->height);
    decoder->frames++;
    return STATUS_OK;
}

static void close_ffmpeg(struct video_source *source)
{
    struct decoder *decoder = source->state;

    program_kill(&decoder->program);
    free(decoder->parts);
    close(decoder->file);
    free(decoder);
    source->state = NULL;
}

enum status video_open_ffmpeg(struct video_source *source, int descriptor)
{
    enum status status = STATUS_OK;
    struct decoder *decoder = calloc(1, sizeof *decoder);
    struct probe probe;

    if (!decoder) {
        close(descriptor);
        return no_memory(source);
    }
    source->state = decoder;
    source->read = read_ffmpeg;
    source->close = close_ffmpeg;
    decoder->file = descriptor;
    decoder->container = find_container(descriptor);
    TRY(probe_file(source, &probe));
    TRY(refuse_other_things(source, &probe));
    source->info.width = (int)probe.width;
    source->info.height = (int)probe.height;
    source->info.frames = probe.frames > 0 ? (long)probe.frames : -1;
    video_set_rate(&source->info, probe.rate, probe.base);
    video_set_aspect(&source->info, probe.aspect, probe.aspect_base);
    if (strcmp(probe.format, probe.codec) != 0) /* else frames follow on each other in no container */
        snprintf(decoder->container_lines, sizeof decoder->container_lines, "[%s @ 0x", probe.format);
    decoder->seems_cut = probe.frames > 0 && probe.duration > 0 &&
                         probe.duration * (double)probe.rate / (double)probe.base < (double)probe.frames - 1.5;
    /* An edit list hides frames that are there, and ffmpeg itself says which ones are not. */
    if (decoder->seems_cut && strncmp(probe.format, "mov,", 4) == 0) {
        decoder->seems_cut = false;
        source->info.frames = -1;
    }

    /* ffmpeg would scale frames of another size to that of the first: this crop, which takes everything, has a width
     * that it refuses then. */
    snprintf(decoder->filter, sizeof decoder->filter, "crop=w='if(eq(iw,%d)*eq(ih,%d),iw,0)':h=ih:x=0:y=0:exact=1",
             source->info.width, source->info.height);
    snprintf(decoder->header, sizeof decoder->header, "P6\n%d %d\n255\n", source->info.width, source->info.height);
    decoder->header_length = strlen(decoder->header);
    decoder->parts = malloc(((size_t)source->info.height + 1) * sizeof *decoder->parts);
    if (!decoder->parts)
        return no_memory(source);

    TRY(start_ffmpeg(source, &decoder->program,
                     (const char *const[]){"-vf", decoder->filter, "-c:v", "ppm", "-pix_fmt", "rgb24", "-f",
                                           "image2pipe", "-flush_packets", "1", "pipe:1", NULL},
                     false));
out:
    return status;
}
