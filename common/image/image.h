/*
 * image.h: the one image struct, for host and device memory alike.
 *
 * Pixels are interleaved (RGBRGB...), rows go from the top down. Row y starts `stride` bytes after row y-1; a row of
 * an image made here starts 64-byte aligned and its stride is a multiple of 64, so a version may READ up to the next
 * multiple of 64 bytes after a row's last pixel. It must never WRITE there: what lies between the last pixel and the
 * stride may belong to someone else (the image may be a window into a larger one), and the harness checks it.
 */
#ifndef RUNGS_IMAGE_H
#define RUNGS_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/core/status.h"

#if defined(__CUDACC__)
#define HOST_DEVICE __host__ __device__
#else
#define HOST_DEVICE
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum pixel_type { PIXEL_U8, PIXEL_U16, PIXEL_I32, PIXEL_F32, PIXEL_U32, PIXEL_F64, PIXEL_TYPE_COUNT };

struct image {
    int width, height; /* in pixels */
    int channels;      /* samples per pixel, 1 = gray, 3 = RGB */
    enum pixel_type type;
    size_t stride; /* bytes from one row to the next */
    void *data;    /* host memory, or device memory where the name says so (device_...) */
};

enum { IMAGE_ALIGNMENT = 64 };

/* A picture: at most 2^16-1 pixels a side. Tables, matrices and tensors (array_create()) have at most ARRAY_MAX_SIDE
 * rows, columns and channels. Either takes 16 Gi bytes at most. */
enum { IMAGE_MAX_SIDE = 65535, IMAGE_MAX_CHANNELS = 4096, ARRAY_MAX_SIDE = (1 << 30) };

/* Bytes of one sample: 1, 2, 4, 4, 4, 8. */
size_t pixel_size(enum pixel_type type);
/* "u8", "u16", "i32", "f32", "u32", "f64". */
const char *pixel_name(enum pixel_type type);

/* Bytes that one row's pixels occupy (without padding). */
size_t image_row_bytes(const struct image *image);
/* image_row_bytes() rounded up to IMAGE_ALIGNMENT: the smallest legal stride. */
size_t image_minimal_stride(const struct image *image);
/* Bytes of all pixels, without padding: what an algorithm that reads each sample once must read. */
size_t image_pixel_bytes(const struct image *image);

/* Allocates an image with unspecified content on the host. On failure *image is all zero (STATUS_BAD_INPUT for an
 * illegal shape, STATUS_NO_MEMORY). */
enum status image_create(struct image *image, int width, int height, int channels, enum pixel_type type);
/* The same for what is no picture: a table, a matrix, a tensor of height x width x channels. */
enum status array_create(struct image *array, int width, int height, int channels, enum pixel_type type);
/* The same shape and type as `like`, which may be either. */
enum status image_create_like(struct image *image, const struct image *like);
/* Frees the pixels and zeroes the struct; fine on a zeroed struct. Host images only. */
void image_free(struct image *image);

/* Copies pixels (not padding) between images of the same shape and type. */
void image_copy(struct image *to, const struct image *from);
bool image_same_shape(const struct image *a, const struct image *b);
/* Sets every byte of every pixel (not padding). */
void image_fill(struct image *image, uint8_t byte);

/* Makes *colours, u8 with 3 channels, out of i32 or u32 labels: 0 becomes black, every other value a bright colour
 * that depends on it alone, so that labels can be looked at. */
enum status image_colour_labels(struct image *colours, const struct image *labels);

/* One sample of a host image; every value of every type is exact in a double. */
double image_sample(const struct image *image, int x, int y, int channel);
/* Sets one; a value that the type does not have is rounded to the nearest that it has, NaN becomes 0 in whole
 * numbers. */
void image_set_sample(struct image *image, int x, int y, int channel, double value);

/* The start of row y, to be cast to the pixel type. Works for device pointers too (nothing is read). */
static HOST_DEVICE inline void *image_row(const struct image *image, int y)
{
    return (char *)image->data + (size_t)y * image->stride;
}

#ifdef __cplusplus
}
#endif
#endif
