#include "common/image/picture.h"

enum status picture_damaged(const char *path, const char *why)
{
    return status_set(STATUS_BAD_INPUT, "%s: damaged or cut short (%s)", path, why);
}

enum status picture_take_shape(struct picture *picture, uint64_t width, uint64_t height, int channels, int bits,
                               const char *path)
{
    if (width == 0 || height == 0)
        return picture_damaged(path, "its width or height is 0");
    if (width > IMAGE_MAX_SIDE || height > IMAGE_MAX_SIDE)
        return status_set(STATUS_BAD_INPUT, "%s: %llux%llu pixels: larger than %d a side", path,
                          (unsigned long long)width, (unsigned long long)height, IMAGE_MAX_SIDE);
    if (width * height * (unsigned)channels * (unsigned)bits / 8 > PICTURE_MAX_BYTES)
        return status_set(STATUS_BAD_INPUT, "%s: %llux%llu pixels, %d channels of %d bits: larger than 1 GiB", path,
                          (unsigned long long)width, (unsigned long long)height, channels, bits);
    picture->width = (int)width;
    picture->height = (int)height;
    picture->channels = channels;
    picture->type = bits == 16 ? PIXEL_U16 : PIXEL_U8;
    return STATUS_OK;
}

enum status picture_check_size(const struct picture *picture, uint64_t least, size_t size, const char *path)
{
    if (size < least)
        return status_set(STATUS_BAD_INPUT, "%s: damaged or cut short (%zu bytes are too few for %dx%d pixels)", path,
                          size, picture->width, picture->height);
    return STATUS_OK;
}
