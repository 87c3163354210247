/*
 * bmp.h: BMP in.
 * Source: Microsoft, "Bitmap Header Types" (Windows GDI); of OS/2 1 and 2, IBM, Presentation Manager Programming
 * Reference, "BITMAPINFO2". stb reads four colours too few of an OS/2 palette (nothings/stb#1897), the masks of a
 * 56-byte header from behind it, and takes colours that a palette does not have from the stack.
 *
 * Read     headers of 12 and 16 bytes (OS/2 1, and 2 cut short), 40, 52, 56, 64, 108 and 124; 1, 2, 4 or 8 bits a pixel
 *          with a palette, 16 (5 bits a sample) and 32, or as masks say, 24; rows bottom up or, where the height is
 *          negative, top down. A sample of n bits becomes floor(255 v / (2^n - 1) + 1/2). Alpha is dropped. A palette
 *          without colours makes a gray picture.
 *
 * Anything else is STATUS_BAD_INPUT with one line "path: reason": compressed rows (RLE, JPEG, PNG), masks that are no
 * run of bits, a pixel whose colour the palette does not have.
 */
#ifndef RUNGS_BMP_H
#define RUNGS_BMP_H

#include "common/image/picture.h"

bool bmp_is_one(const uint8_t *bytes, size_t size);
enum status bmp_probe(struct picture *picture, const uint8_t *bytes, size_t size, const char *path);
/* `image` has the shape that bmp_probe() gave, or, with `indices`, one channel: numbers of the palette's colours. */
enum status bmp_decode(struct image *image, const uint8_t *bytes, size_t size, bool indices, const char *path);
/* Whether its pixels are numbers of colours in a palette. Of what bmp_probe() took. */
bool bmp_has_palette(const uint8_t *bytes);

#endif
