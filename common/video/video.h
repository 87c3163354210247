/*
 * video.h: videos in, frame by frame.
 *
 * A video is named by one text:
 *
 *     file         any video that the ffmpeg program decodes (its first video stream that is no cover picture), or raw
 *                  y4m (YUV4MPEG2), which needs no ffmpeg
 *     folder       its PNG, JPEG, BMP, PGM and PPM files as frames, in natural order of names (2.png before 10.png)
 *     pattern      frame_%04d.png or frame_%d.png: the files of that form in ascending number, gaps skipped
 *     glob         'shots/a*.png', quoted: the files that match, in natural order of names
 *     -            raw y4m on standard input:
 *                  ffmpeg -i x.avi -pix_fmt yuv420p -f yuv4mpegpipe - | rungs run motion - -o out.mp4
 *
 * Frames come as u8, 3 channels (RGB), all of one size, rows 64-byte aligned. A phone's rotation mark is obeyed. Of a
 * video with a varying frame rate each frame comes once, and the rate is the average. What a container hides (the
 * lead-in of a clip that was cut without encoding it anew) does not come, nor what lies before a recording's first key
 * frame. An animated PNG is a video, and so are JPEGs that follow on each other in a file not named as a picture.
 *
 * y4m        8 bits; C420jpeg, C420mpeg2, C420paldv, C420 (also without a C), C411, C422, C444, Cmono. A chroma sample
 *            stands for all pixels that share it. ITU-R BT.601, limited range, with C = Y - 16, D = U - 128, E = V -
 *            128 (0 in Cmono), in integers, >> rounding down, each clamped to 0..255:
 *
 *                R = (76309 C             + 104597 E + 32768) >> 16
 *                G = (76309 C -  25675 D  -  53279 E + 32768) >> 16
 *                B = (76309 C + 132201 D             + 32768) >> 16
 *
 *            With XCOLORRANGE=FULL C = Y and the factors are 65536, 91881, 22553, 46802 and 116130. What ffmpeg decodes
 *            is turned into RGB by ffmpeg itself, by the matrix that the video names (BT.601 if it names none).
 *
 * A thread of its own decodes ahead into a ring of `capacity` frames and waits when all are full, so memory does not
 * grow with the length. What goes wrong midway arrives after the frames before it.
 *
 * Errors     STATUS_BAD_INPUT with "name: reason": missing, no video stream, a still picture, no frames, damaged or cut
 *            short, a size that changes midway, more than IMAGE_MAX_SIDE a side or 1 GiB a frame. STATUS_UNSUPPORTED:
 *            ffmpeg is needed and not installed.
 */
#ifndef RUNGS_VIDEO_H
#define RUNGS_VIDEO_H

#include "common/image/image.h"
#include "common/video/video_info.h"

struct video_frame {
    struct image image;
    long number; /* from 1 */
};

struct video_options {
    int capacity; /* frames in the ring, at least 2 */
    /* Memory for the frames (pinned, say), IMAGE_ALIGNMENT aligned; NULL = ordinary memory. */
    void *(*allocate)(size_t bytes);
    void (*release)(void *memory);
};

struct video_reader;

/* Opens a video and starts decoding. options: NULL = 4 frames of ordinary memory. On failure *reader is NULL. */
enum status video_open(struct video_reader **reader, const char *name, const struct video_options *options);
const struct video_info *video_get_info(const struct video_reader *reader);

/* The next frame, the caller's until given back; NULL after the last one, or after video_stop(). Several may be held
 * at a time, in any order of giving back; STATUS_FAILED when the whole ring is held, since no frame could ever come. */
enum status video_next(struct video_reader *reader, struct video_frame **frame);
/* Whether video_next() would return at once. */
bool video_next_is_ready(struct video_reader *reader);
void video_give_back(struct video_reader *reader, struct video_frame *frame);

/* Ends decoding as if the video ended here. May be called from a signal handler. */
void video_stop(struct video_reader *reader);
/* Stops decoding, wherever it is, and frees everything. Frames not given back are freed with it. Fine on NULL. */
void video_close(struct video_reader *reader);

/* Calls take(argument, path) for every file that reading the video `name` would open; nothing for what is not there. */
void video_each_file(const char *name, void (*take)(void *argument, const char *path), void *argument);

/* Whether `name` can be nothing but a video: standard input, a pattern that is no file's name, or by its extension. */
bool video_has_name(const char *name);
/* Whether `name` has the form of a printf pattern or glob rather than of a file's name. */
bool video_is_pattern(const char *name);

#endif
