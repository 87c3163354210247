/*
 * picture.h: what the header of a picture file says, and the limits that every format is held to.
 */
#ifndef RUNGS_PICTURE_H
#define RUNGS_PICTURE_H

#include "common/image/image.h"

enum picture_format { PICTURE_PNG, PICTURE_JPEG, PICTURE_BMP, PICTURE_PNM };

struct picture {
    enum picture_format format;
    int width, height;
    int channels;         /* 1 or 3, not counting alpha */
    enum pixel_type type; /* u8 or u16 */
    int orientation;      /* which way up it was taken, as exif.h counts; width and height are as stored */
    /* PNG: bits a sample, as stored; where its palette (PLTE) begins, with its length and name, and ends; 0: none. */
    unsigned bits;
    size_t palette, palette_end;
    /* JPEG: where Adobe's marker says how its colours are stored, 0: nowhere; whether there are four of them. */
    size_t adobe;
    bool four_colours;
};

/* Largest picture in bytes of pixels, read or written; stb counts in int. */
#define PICTURE_MAX_BYTES ((uint64_t)1 << 30)

/* Takes over what a header says, within the limits above. */
enum status picture_take_shape(struct picture *picture, uint64_t width, uint64_t height, int channels, int bits,
                               const char *path);
/* STATUS_BAD_INPUT with "path: damaged or cut short (why)". */
enum status picture_damaged(const char *path, const char *why);
/* Refuses a file of fewer than `least` bytes, those of the smallest whole file of its shape. Memory for the pixels is
 * taken before they are read, so a header that lies has to be found out first. */
enum status picture_check_size(const struct picture *picture, uint64_t least, size_t size, const char *path);

#endif
