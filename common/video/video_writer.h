/*
 * video_writer.h: videos out, frame by frame.
 *
 *     out.mp4                  H.264 (also .mov, .mkv); MPEG-4 part 2 in .avi, and where this ffmpeg has no H.264
 *     folder                   a new or an empty one: frame_000001.png, frame_000002.png ...
 *     pattern                  shots/frame_%04d.png (or .jpg, .bmp, .ppm): numbered from 1, in a folder that exists
 *
 * Frames are u8, 3 channels (RGB), all of one size; in files of ffmpeg's they become YUV 4:2:0, BT.601, limited range,
 * in which a side of odd length is made even by repeating the last column or row. Pixels keep the shape of the input's.
 *
 * A video file grows under a temporary name beside its own (file.h) and is renamed by video_writer_finish(), which also
 * makes it playable: to be called after an error elsewhere and after Ctrl-C too.
 *
 * Errors     STATUS_BAD_INPUT with "name: reason": an extension that is none of these, a folder that is not empty, what
 *            file.h says; disk full. STATUS_UNSUPPORTED: ffmpeg is needed and not installed.
 */
#ifndef RUNGS_VIDEO_WRITER_H
#define RUNGS_VIDEO_WRITER_H

#include "common/image/image.h"
#include "common/video/video.h"

struct video_writer;

/* Whether the name means a video or images rather than some other kind of file: by its extension or form. */
bool video_writer_fits(const char *name);
/* Whether it means a video file. */
bool video_writer_makes_file(const char *name);
/* Calls take(argument, path) for every file, or new folder, that writing the video `name` may replace, as far as names
 * tell: of a pattern those that are there. */
void video_writer_each_file(const char *name, void (*take)(void *argument, const char *path), void *argument);
/* Whether both are patterns in which some numbers make the same name; in one folder they would be one file: v%d.png and
 * v1%d.png both have v11.png. */
bool video_writer_meet(const char *a, const char *b);
/* Refuses a name that video_writer_open() could not write, before any work is done. Nothing is created. */
enum status video_writer_check(const char *name);

/* info: size and rate of the frames to come. name must outlive the writer. On failure *writer is NULL. */
enum status video_writer_open(struct video_writer **writer, const char *name, const struct video_info *info);
enum status video_writer_add(struct video_writer *writer, const struct image *frame);
/* Completes the file under its name and frees the writer. A file without any frame is dropped. */
enum status video_writer_finish(struct video_writer *writer);
/* Frees the writer and drops a video file; images that are written stay. Fine on NULL. */
void video_writer_discard(struct video_writer *writer);

#endif
