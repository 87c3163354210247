/*
 * video_source.h: the kinds of video that video.h reads, for video.c only.
 */
#ifndef RUNGS_VIDEO_SOURCE_H
#define RUNGS_VIDEO_SOURCE_H

#include "common/image/image.h"
#include "common/video/video_info.h"

struct video_source {
    const char *name; /* as the user gave it, or "standard input"; must outlive the source */
    struct video_info info;
    int wake; /* a descriptor that is readable once reading shall stop */
    /* Reads the next frame into an image of the right shape. *more is false, and the image unspecified, after the last
     * one or once `wake` is readable. */
    enum status (*read)(struct video_source *source, struct image *frame, bool *more);
    void (*close)(struct video_source *source);
    void *state; /* of the kind */
};

/* Each fills in info, read, close and state (freed by close(), which must be called after a failure too if it is set),
 * from name and wake. */
/* descriptor: of a regular file, at its beginning; closed at the end. */
enum status video_open_ffmpeg(struct video_source *source, int descriptor);
/* descriptor: of a file, closed at the end, or STDIN_FILENO. file_size: 0 = unknown. */
enum status video_open_y4m(struct video_source *source, int descriptor, uint64_t file_size);
enum status video_open_folder(struct video_source *source);
enum status video_open_pattern(struct video_source *source);

/* Calls take(argument, path) for every picture of a folder, numbered pattern or glob. */
void video_each_image(const char *name, bool folder, void (*take)(void *argument, const char *path), void *argument);

/* A numbered file name, "shots/frame_%04d.png" taken apart. */
struct frame_pattern {
    char *before, *after; /* "shots/frame_", ".png" */
    int digits;           /* at least so many: 4; 0 for %d */
};
/* STATUS_BAD_INPUT when the last part of the path does not hold exactly one %d or %0Nd. Contents to be freed. */
enum status frame_pattern_parse(struct frame_pattern *pattern, const char *path);
void frame_pattern_free(struct frame_pattern *pattern);
/* The name of one frame, to be freed; NULL when there is no memory. */
char *frame_pattern_name(const struct frame_pattern *pattern, long number);
bool frame_pattern_fits(const char *path);

/* Whether a file's name has the extension of a picture that image_io.h reads and writes as u8. */
bool video_is_picture_name(const char *name);

#endif
