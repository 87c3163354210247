/*
 * envi.h: ENVI cubes: a text header (.hdr) and a file of raw samples beside it.
 * Source: NV5 Geospatial, ENVI documentation, "ENVI Header Files".
 *
 * A cube becomes a tensor of lines x samples x bands (height x width x channels): all bands of a pixel lie together,
 * whatever the interleave of the file.
 *
 * Read     interleave BIP, BIL and BSQ; data type 1 (u8), 2 (i16, which becomes f32), 3 (i32), 4 (f32), 5 (f64), 12
 *          (u16), 13 (u32); byte order 0 (little endian, also where the header does not say) and 1; header offset.
 * Left out `bbl`: bands that it gives a 0. `data ignore value`: pixels of which a band that stays has it, to seven
 *          digits in f32, or nan.
 * Header   blank lines, lines that begin with a semicolon, also within braces, and what follows on a semicolon behind a
 *          value do not count; blanks around = and within keys are free, and so are the letters' case and a byte-order
 *          mark.
 * Data     the file that the header's key `data file` names in the header's own folder; else the one beside it that has
 *          the header's name without .hdr, or .dat, .img, .raw, .bip, .bil, .bsq or .bin in its place, and no header
 *          name.img.hdr of its own. Extensions are in upper or lower case.
 *
 * Anything else is STATUS_BAD_INPUT with one line "path: reason", and so are two data files beside one header and a
 * data file that is shorter or longer than its header says. All is checked before memory is taken.
 */
#ifndef RUNGS_ENVI_H
#define RUNGS_ENVI_H

#include "common/image/image.h"
#include "common/image/kept_pixels.h"

/* Whether the name is one of a header (.hdr), of a data file as above, or has no extension and a header beside it. */
bool envi_is_name(const char *path);

/* path: the header, or the data file, whose header then is beside it: name.dat.hdr or, if there is none, name.hdr.
 * Where pixels are left out, the others are a cube of as many pixels, in rows as long as can be, and *kept says where
 * they were, to be freed with kept_free(); with kept NULL such a cube is refused. */
enum status envi_load(struct image *cube, const char *path, struct kept_pixels *kept);

#endif
