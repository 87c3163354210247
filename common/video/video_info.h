/*
 * video_info.h: what a video is, and the limits that every reader holds it to.
 */
#ifndef RUNGS_VIDEO_INFO_H
#define RUNGS_VIDEO_INFO_H

#include <stdint.h>

#include "common/core/status.h"

struct video_info {
    int width, height;
    int rate, rate_base;     /* frames per second = rate / rate_base, for example 30000 / 1001; 25 / 1 if unknown */
    int aspect, aspect_base; /* a pixel's width over its height; 0 / 0 if unknown, which is taken for square */
    long frames;             /* what the container claims, -1 if it says nothing */
};

/* Takes over a frame rate, reduced to what containers hold; 25 / 1 when it is none. */
void video_set_rate(struct video_info *info, int64_t rate, int64_t base);

/* Takes over the shape of pixels; unknown where it is none. */
void video_set_aspect(struct video_info *info, int64_t width, int64_t height);

/* Refuses a size that is no legal frame. */
enum status video_check_size(const char *name, int64_t width, int64_t height);

#endif
