/*
 * picture_probe.h: what image_io.c needs to know about a picture file before decoding it.
 *
 * stb_image trusts headers, checks no checksum and fills what is missing from a cut file with zeros. So the headers
 * are read here first: shape, limits, and whether the file is whole. Everything works on the file's bytes in memory.
 */
#ifndef RUNGS_PICTURE_PROBE_H
#define RUNGS_PICTURE_PROBE_H

#include "common/image/picture.h"

/* Recognises the format by content and reads the shape. Refuses what is none of the formats, larger than
 * IMAGE_MAX_SIDE a side or 1 GiB of pixels, cut short, or damaged where that can be seen: STATUS_BAD_INPUT with
 * "path: reason". Takes no memory. */
enum status picture_probe(struct picture *picture, const uint8_t *bytes, size_t size, const char *path);

#endif
