/*
 * pnm.h: PGM and PPM, in and out.
 */
#ifndef RUNGS_PNM_H
#define RUNGS_PNM_H

#include "common/core/file.h"
#include "common/image/picture.h"

/* PGM and PPM, plain (P2, P3) and raw (P5, P6). Source: netpbm's pgm(5) and ppm(5). Samples are scaled so that the
 * file's maximum becomes 255 or, above 255, 65535; of several pictures in one file the first is read. */
enum status pnm_probe(struct picture *picture, const uint8_t *bytes, size_t size, const char *path);
/* `image` has the shape and type that pnm_probe() gave. as_stored: samples are not scaled. */
enum status pnm_decode(struct image *image, const uint8_t *bytes, size_t size, bool as_stored, const char *path);
/* Raw, u8 or u16 with 1 or 3 channels. */
void pnm_encode(struct output_file *file, const struct image *image);

#endif
