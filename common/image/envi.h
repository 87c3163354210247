/*
 * envi.h: ENVI cubes: a text header (.hdr) and a file of raw samples beside it.
 * Source: NV5 Geospatial, ENVI documentation, "ENVI Header Files".
 *
 * A cube becomes a tensor of lines x samples x bands (height x width x channels): all bands of a pixel lie together,
 * whatever the interleave of the file.
 *
 * Read     interleave BIP, BIL and BSQ; data type 1 (u8), 2 (i16, which becomes i32), 3 (i32), 4 (f32), 5 (f64), 12
 *          (u16), 13 (u32); byte order 0 (little endian, also where the header does not say) and 1; header offset.
 * Data     the file that the header's key `data file` names in the header's own folder; else the one beside it that has
 *          the header's name without .hdr, or .dat, .img, .raw, .bip, .bil, .bsq or .bin in its place.
 *
 * Anything else is STATUS_BAD_INPUT with one line "path: reason", and so are two data files beside one header and a
 * data file that is shorter or longer than its header says. All is checked before memory is taken.
 */
#ifndef RUNGS_ENVI_H
#define RUNGS_ENVI_H

#include "common/image/image.h"

/* Whether the name is one of a header (.hdr) or a data file of those above. */
bool envi_is_name(const char *path);

/* path: the header, or the data file, whose header then is beside it: name.hdr or name.dat.hdr. */
enum status envi_load(struct image *cube, const char *path);

#endif
