/*
 * slot_file.h: files as the inputs and outputs of an algorithm: which forms a kind of slot can take, and how.
 *
 *     kind      read from                                      written to
 *     picture   PNG, JPEG, BMP, PGM, PPM, .npy                 PNG, JPEG, BMP, PGM, PPM, .npy
 *     labels    gray or palette PNG, BMP, PGM, .npy            PNG, JPEG, BMP, PPM: in colours; .npy as they are
 *     table     .npy: its rows in use, without row 0           .csv, .json, .npy; pictures where the slot can be drawn
 *     matrix    .npy, ENVI, IDX, gray pictures (array_io.h)    .csv, .json, .npy; pictures where the slot can be drawn
 *     tensor    .npy, ENVI, IDX, pictures                      .npy; pictures where the slot can be drawn
 *
 * .csv   A line for each row, of a table a line with the column names before them. Numbers have the digits that are
 *        needed to read the same value again, whole ones none behind the point.
 * .json  {"slot": NAME, "columns": [NAME, ...], "rows": [[NUMBER, ...], ...]}, without "columns" for a matrix; null
 *        stands for what is no finite number.
 * .npy   Raw samples. Of a table the rows in use: an array of rows x columns, which may have no rows.
 */
#ifndef RUNGS_SLOT_FILE_H
#define RUNGS_SLOT_FILE_H

#include "common/contract/algorithm.h"
#include "common/core/file.h"
#include "common/image/envi.h"

/* Loads a file as an input of this kind; on failure *image is all zero. kept: as envi_load()'s; of a slot whose pixels
 * are no set none may be left out. */
enum status slot_load(struct image *image, const struct named_slot *slot, const char *path, struct kept_pixels *kept);

/* Refuses a path whose form (its extension) this output cannot take. */
enum status slot_check_form(const struct named_slot *slot, const char *path);
/* The same once the shape is known: an output that these parameters do not make, or samples that the form cannot
 * hold. */
enum status slot_check_shape(const struct named_slot *slot, const struct image *shape, const char *path);

/* Writes output `index` into a file that has been created; its path says the form. Errors of writing are kept for
 * file_commit(). */
enum status slot_encode(struct output_file *file, const struct algorithm *algorithm, int index, const struct image in[],
                        const struct image out[], const void *params);

/* Whether an output can be drawn: as a picture, or as a frame of a video. */
bool slot_is_drawn(const struct named_slot *slot);
/* Output `index` as a new picture, u8 with 3 channels. */
enum status slot_draw(const struct algorithm *algorithm, int index, const struct image in[], const struct image out[],
                      const void *params, struct image *drawn);

/* The rows of tables and matrices of many frames in one .csv: what comes before the first, then each frame's, its
 * number in front of each. */
bool slot_has_rows(const struct named_slot *slot);
void slot_write_header(struct output_file *file, const struct named_slot *slot);
void slot_write_rows(struct output_file *file, const struct named_slot *slot, const struct image *array, long frame);

/* The extension of a slot's usual form: ".png", ".csv" or ".npy". */
const char *slot_extension(const struct named_slot *slot);

#endif
