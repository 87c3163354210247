/*
 * image_io.h: image files in and out.
 *
 * Read     PNG, JPEG, BMP, PGM/PPM (recognised by content, not by name), .npy (by name).
 * Written  PNG, JPEG (quality 95), BMP, PGM/PPM, .npy, chosen by the extension, in upper or lower case.
 *
 * Which forms of these are read, docs/FILES.md says. Picture files hold u8 with 1 (gray) or 3 (RGB) channels; an alpha
 * channel is dropped on reading, and a photograph is turned as its EXIF orientation says. A gray image comes
 * back gray but from JPEG, which stb writes with three equal channels. Files with 16 bits a sample are read as u16
 * (PNG, PGM, PPM) and written as PGM and PPM. At most 1 GiB of pixels and IMAGE_MAX_SIDE a side. .npy holds HxW or
 * HxWxC, C order, RGB; see npy.h for its types.
 *
 * Errors are STATUS_BAD_INPUT with one line "path: reason" (missing, empty, truncated, not a picture, too large, the
 * type or channel count that the format cannot hold, disk full, no permission). A file is written under a temporary
 * name beside the final one and renamed when it is complete, so no half-written file is ever left.
 */
#ifndef RUNGS_IMAGE_IO_H
#define RUNGS_IMAGE_IO_H

#include "common/core/file.h"
#include "common/image/image.h"

/* Loads a file into a new image; on failure *image is all zero. channels: 0 = as in the file, 1 or 3 = converted (gray
 * is luma of BT.601, 0.299 R + 0.587 G + 0.114 B, rounded). */
enum status image_load(struct image *image, const char *path, int channels);

/* The same of labels: the numbers that the file holds, as i32 where they are u8 or u16. Grays are not stretched,
 * whatever their bits or maximum; of a palette the numbers of the colours count. STATUS_BAD_INPUT, too, for a picture
 * in colours without a palette, and for a JPEG, which changes samples. */
enum status image_load_labels(struct image *image, const char *path);

/* Fills *to, of the same size and type, from an image of 1 channel if it has 3, or the other way round, as image_load()
 * does. `name` is for the message. */
enum status image_convert(struct image *to, const struct image *from, const char *name);

/* Saves an image. */
enum status image_save(const struct image *image, const char *path);
/* The same into a file that has been created; its path says the format. Errors of writing are kept for
 * file_commit(). */
enum status image_encode(struct output_file *file, const struct image *image);

/* Refuses what image_save() could not write because the format cannot hold it; looks at the shape only. */
enum status image_fits(const struct image *image, const char *path);

/* Refuses a path that image_save() could not write because of its extension or its folder, before any work is done. */
enum status image_save_check(const char *path);

/* A new u8 image of width x height that shows `from` scaled to cover it, cut to its centre (stb_image_resize).
 * STATUS_BAD_INPUT when `from` is not u8 with 1 or 3 channels, or the result would be larger than 2 GiB. */
enum status image_resize_to_cover(struct image *image, const struct image *from, int width, int height);

#endif
