#include "common/video/video_info.h"

#include "common/image/picture.h"

enum status video_check_size(const char *name, int64_t width, int64_t height)
{
    if (width < 1 || height < 1)
        return status_set(STATUS_BAD_INPUT, "%s: frames of %lldx%lld pixels", name, (long long)width,
                          (long long)height);
    if (width > IMAGE_MAX_SIDE || height > IMAGE_MAX_SIDE)
        return status_set(STATUS_BAD_INPUT, "%s: frames of %lldx%lld pixels; at most %d a side are supported", name,
                          (long long)width, (long long)height, IMAGE_MAX_SIDE);
    if ((uint64_t)width * (uint64_t)height * 3 > PICTURE_MAX_BYTES)
        return status_set(STATUS_BAD_INPUT, "%s: frames of %lldx%lld pixels are larger than 1 GiB each", name,
                          (long long)width, (long long)height);
    return STATUS_OK;
}

void video_set_aspect(struct video_info *info, int64_t width, int64_t height)
{
    enum { MOST = 65535 }; /* what containers hold */

    if (width < 1 || height < 1 || width > MOST || height > MOST)
        return;
    info->aspect = (int)width;
    info->aspect_base = (int)height;
}

void video_set_rate(struct video_info *info, int64_t rate, int64_t base)
{
    int64_t a = rate, b = base;

    info->rate = 25;
    info->rate_base = 1;
    /* A rate of 90000 is a time base that a container takes for one. */
    if (rate < 1 || base < 1 || rate / base > 1000 || base / rate > 3600)
        return;
    while (b) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    rate /= a;
    base /= a;
    /* MPEG-4 has 16 bits for either. */
    if (rate > 65535 || base > 65535) {
        const double frames_per_second = (double)rate / (double)base;

        base = frames_per_second > 60 ? 60 : 1000;
        rate = (int64_t)(frames_per_second * (double)base + 0.5);
        if (rate == 0)
            rate = 1;
    }
    info->rate = (int)rate;
    info->rate_base = (int)base;
}
