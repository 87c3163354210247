/*
 * picture.h: what image_io.c needs to know about a picture file before and besides decoding it.
 *
 * stb_image trusts headers, checks no checksum and fills what is missing from a cut file with zeros. So the headers
 * are read here first: shape, limits, and whether the file is whole. Everything works on the file's bytes in memory.
 */
#ifndef RUNGS_PICTURE_H
#define RUNGS_PICTURE_H

#include "common/core/file.h"
#include "common/image/image.h"

enum picture_format { PICTURE_PNG, PICTURE_JPEG, PICTURE_BMP, PICTURE_PNM };

struct picture {
    enum picture_format format;
    int width, height;
    int channels;         /* 1 or 3, not counting alpha */
    enum pixel_type type; /* u8 or u16 */
};

/* Recognises the format by content and reads the shape. Refuses what is none of the formats, larger than
 * IMAGE_MAX_SIDE a side or 1 GiB of pixels, cut short, or damaged where that can be seen: STATUS_BAD_INPUT with
 * "path: reason". Takes no memory. */
enum status picture_probe(struct picture *picture, const uint8_t *bytes, size_t size, const char *path);

/* Largest picture in bytes of pixels, read or written; stb counts in int. */
#define PICTURE_MAX_BYTES ((uint64_t)1 << 30)

/* For the readers of single formats: takes over what a header says, within the limits above. */
enum status picture_take_shape(struct picture *picture, uint64_t width, uint64_t height, int channels, int bits,
                               const char *path);
/* Refuses a file of fewer than `least` bytes, those of the smallest whole file of its shape. Memory for the pixels is
 * taken before they are read, so a header that lies has to be found out first. */
enum status picture_check_size(const struct picture *picture, uint64_t least, size_t size, const char *path);

/* PGM and PPM, plain (P2, P3) and raw (P5, P6). Source: netpbm's pgm(5) and ppm(5). Samples are scaled so that the
 * file's maximum becomes 255 or, above 255, 65535; of several pictures in one file the first is read. */
enum status pnm_probe(struct picture *picture, const uint8_t *bytes, size_t size, const char *path);
/* `image` has the shape and type that pnm_probe() gave. */
enum status pnm_decode(struct image *image, const uint8_t *bytes, size_t size, const char *path);
/* Raw, u8 or u16 with 1 or 3 channels. */
void pnm_encode(struct output_file *file, const struct image *image);

#endif
