#include "common/image/image.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const struct {
    const char *name;
    size_t size;
} types[PIXEL_TYPE_COUNT] = {
    [PIXEL_U8] = {"u8", 1},   [PIXEL_U16] = {"u16", 2}, [PIXEL_I32] = {"i32", 4},
    [PIXEL_F32] = {"f32", 4}, [PIXEL_U32] = {"u32", 4}, [PIXEL_F64] = {"f64", 8},
};

size_t pixel_size(enum pixel_type type)
{
    return types[type].size;
}

const char *pixel_name(enum pixel_type type)
{
    return types[type].name;
}

size_t image_row_bytes(const struct image *image)
{
    return (size_t)image->width * (size_t)image->channels * pixel_size(image->type);
}

size_t image_minimal_stride(const struct image *image)
{
    return (image_row_bytes(image) + IMAGE_ALIGNMENT - 1) / IMAGE_ALIGNMENT * IMAGE_ALIGNMENT;
}

size_t image_pixel_bytes(const struct image *image)
{
    return image_row_bytes(image) * (size_t)image->height;
}

/* The first use of a page is a page fault; pages of 2 MiB have 512 times fewer of them than pages of 4 KiB. Some
 * kernels give them to whoever asks, others to all or to nobody. */
static void prefer_large_pages(void *data, size_t bytes)
{
    enum { LARGE = 2 << 20 };
    const uintptr_t begin = ((uintptr_t)data + LARGE - 1) / LARGE * LARGE,
                    end = ((uintptr_t)data + bytes) / LARGE * LARGE;

    if (end > begin)
        (void)madvise((void *)begin, end - begin, MADV_HUGEPAGE);
}

/* Fills *image with an allocation of this shape, whose sides are legal. */
static enum status allocate(struct image *image, struct image shape)
{
    const size_t limit = (size_t)16 << 30;

    shape.stride = image_minimal_stride(&shape);
    if (shape.stride > limit / (size_t)shape.height)
        return status_set(STATUS_BAD_INPUT, "image of %dx%d pixels, %d channels of %s: larger than 16 GiB", shape.width,
                          shape.height, shape.channels, pixel_name(shape.type));
    shape.data = aligned_alloc(IMAGE_ALIGNMENT, shape.stride * (size_t)shape.height);
    if (!shape.data)
        return status_set(STATUS_NO_MEMORY, "no memory for an image of %dx%d pixels, %d channels of %s", shape.width,
                          shape.height, shape.channels, pixel_name(shape.type));
    prefer_large_pages(shape.data, shape.stride * (size_t)shape.height);
    *image = shape;
    return STATUS_OK;
}

enum status image_create(struct image *image, int width, int height, int channels, enum pixel_type type)
{
    memset(image, 0, sizeof *image);
    if (width < 1 || height < 1 || width > IMAGE_MAX_SIDE || height > IMAGE_MAX_SIDE)
        return status_set(STATUS_BAD_INPUT, "image of %dx%d pixels: each side must be 1 to %d", width, height,
                          IMAGE_MAX_SIDE);
    if (channels < 1 || channels > IMAGE_MAX_CHANNELS)
        return status_set(STATUS_BAD_INPUT, "image with %d channels: must be 1 to %d", channels, IMAGE_MAX_CHANNELS);
    return allocate(image, (struct image){.width = width, .height = height, .channels = channels, .type = type});
}

enum status array_create(struct image *array, int width, int height, int channels, enum pixel_type type)
{
    memset(array, 0, sizeof *array);
    if (width < 1 || height < 1 || channels < 1 || height > ARRAY_MAX_SIDE || width > ARRAY_MAX_SIDE / channels)
        return status_set(
            STATUS_BAD_INPUT,
            "array of %d rows of %d times %d samples: each must be at least 1, rows and samples of a row at "
            "most %d",
            height, width, channels, ARRAY_MAX_SIDE);
    return allocate(array, (struct image){.width = width, .height = height, .channels = channels, .type = type});
}

enum status image_create_like(struct image *image, const struct image *like)
{
    return array_create(image, like->width, like->height, like->channels, like->type);
}

double image_sample(const struct image *image, int x, int y, int channel)
{
    const void *row = image_row(image, y);
    const size_t i = (size_t)x * (size_t)image->channels + (size_t)channel;

    switch (image->type) {
    case PIXEL_U8:
        return ((const uint8_t *)row)[i];
    case PIXEL_U16:
        return ((const uint16_t *)row)[i];
    case PIXEL_I32:
        return ((const int32_t *)row)[i];
    case PIXEL_U32:
        return ((const uint32_t *)row)[i];
    case PIXEL_F32:
        return (double)((const float *)row)[i];
    case PIXEL_F64:
        return ((const double *)row)[i];
    case PIXEL_TYPE_COUNT:
        break;
    }
    return 0;
}

static double whole(double value, double least, double most)
{
    if (!(value >= least)) /* also NaN */
        return value < least ? least : 0;
    return value > most ? most : nearbyint(value);
}

void image_set_sample(struct image *image, int x, int y, int channel, double value)
{
    void *row = image_row(image, y);
    const size_t i = (size_t)x * (size_t)image->channels + (size_t)channel;

    switch (image->type) {
    case PIXEL_U8:
        ((uint8_t *)row)[i] = (uint8_t)whole(value, 0, UINT8_MAX);
        break;
    case PIXEL_U16:
        ((uint16_t *)row)[i] = (uint16_t)whole(value, 0, UINT16_MAX);
        break;
    case PIXEL_I32:
        ((int32_t *)row)[i] = (int32_t)whole(value, INT32_MIN, INT32_MAX);
        break;
    case PIXEL_U32:
        ((uint32_t *)row)[i] = (uint32_t)whole(value, 0, UINT32_MAX);
        break;
    case PIXEL_F32:
        ((float *)row)[i] = (float)value;
        break;
    case PIXEL_F64:
        ((double *)row)[i] = value;
        break;
    case PIXEL_TYPE_COUNT:
        break;
    }
}

void image_free(struct image *image)
{
    free(image->data);
    memset(image, 0, sizeof *image);
}

void image_copy(struct image *to, const struct image *from)
{
    for (int y = 0; y < from->height; y++)
        memcpy(image_row(to, y), image_row(from, y), image_row_bytes(from));
}

bool image_same_shape(const struct image *a, const struct image *b)
{
    return a->width == b->width && a->height == b->height && a->channels == b->channels && a->type == b->type;
}

void image_fill(struct image *image, uint8_t byte)
{
    for (int y = 0; y < image->height; y++)
        memset(image_row(image, y), byte, image_row_bytes(image));
}

enum status image_colour_labels(struct image *colours, const struct image *labels)
{
    enum status status;

    memset(colours, 0, sizeof *colours);
    if ((labels->type != PIXEL_I32 && labels->type != PIXEL_U32) || labels->channels != 1)
        return status_set(STATUS_BAD_INPUT, "labels are i32 or u32 of 1 channel, not %s of %d",
                          pixel_name(labels->type), labels->channels);
    status = image_create(colours, labels->width, labels->height, 3, PIXEL_U8);
    for (int y = 0; status == STATUS_OK && y < labels->height; y++) {
        const uint32_t *from = image_row(labels, y);
        uint8_t *to = image_row(colours, y);
        for (int x = 0; x < labels->width; x++) {
            const uint32_t hash = from[x] * 0x9E3779B1u;
            for (int c = 0; c < 3; c++) /* two of three channels bright, so that no colour is near to black */
                to[3 * x + c] =
                    (uint8_t)(from[x] == 0 ? 0 : (hash >> (8 * c + 8)) % 156 + (hash % 3 == (uint32_t)c ? 0 : 100));
        }
    }
    return status;
}
