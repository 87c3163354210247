/*
 * exif.h: which way up a photograph is. A camera stores its sensor's rows and says in EXIF how it was held.
 * Source: CIPA DC-008, Exif 2.32, tag 0x0112 (Orientation); TIFF 6.0 for the directory around it.
 */
#ifndef RUNGS_EXIF_H
#define RUNGS_EXIF_H

#include "common/image/image.h"

/* The orientation that an EXIF block says, from its byte order mark on: 1 (as stored) to 8. 1, too, where it says none
 * or is damaged: the pixels are whole then, and every viewer shows them as they lie. */
int exif_orientation(const uint8_t *block, size_t size);

/* Turns and mirrors an image as its orientation says, to what the photographer saw; 5 to 8 exchange its sides. */
enum status exif_turn(struct image *image, int orientation);

#endif
