#include "common/cli/slot_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/image/array_io.h"
#include "common/image/draw.h"
#include "common/image/image_io.h"
#include "common/image/npy.h"

/* ------------------------------------------------------------------------------------------------- reading */

static enum status load_table(struct image *table, const char *path)
{
    enum status status = STATUS_OK;

    memset(table, 0, sizeof *table);
    if (!file_has_extension(path, ".npy"))
        return status_set(STATUS_BAD_INPUT, "%s: a table is read from .npy (rows x columns)", path);
    TRY(npy_load_array(table, path, 1));
    table->width *= table->channels;
    table->channels = 1;
    image_set_sample(table, 0, 0, 0, table->height - 1);
    if (slot_table_rows(table) != table->height - 1)
        status = status_set(STATUS_BAD_INPUT, "%s: %d rows are more than %s can count", path, table->height - 1,
                            pixel_name(table->type));
out:
    if (status != STATUS_OK)
        image_free(table);
    return status;
}

/* Pictures of f64, which image_load() would round. */
static enum status load_exact(struct image *image, const char *path)
{
    enum status status = npy_load_array(image, path, 0);

    if (status == STATUS_OK &&
        (image->width > IMAGE_MAX_SIDE || image->height > IMAGE_MAX_SIDE || image->channels > IMAGE_MAX_CHANNELS)) {
        status =
            status_set(STATUS_BAD_INPUT, "%s: %dx%d pixels, %d channels: must be 1 to %d a side and 1 to %d channels",
                       path, image->width, image->height, image->channels, IMAGE_MAX_SIDE, IMAGE_MAX_CHANNELS);
        image_free(image);
    }
    return status;
}

/* Of a cube of one band a row may be what is meant by a pixel (kmeans.h), so there none is left out. */
static enum status load_tensor(struct image *tensor, const struct named_slot *slot, const char *path,
                               struct kept_pixels *kept)
{
    enum status status = array_load(tensor, path, slot->pixels ? kept : NULL);

    if (status == STATUS_OK && slot->pixels && kept && kept->places && tensor->channels == 1) {
        status = status_set(STATUS_BAD_INPUT,
                            "%s: one band, of which no pixel can be left out, and some have its data "
                            "ignore value",
                            path);
        image_free(tensor);
        kept_free(kept);
    }
    return status;
}

enum status slot_load(struct image *image, const struct named_slot *slot, const char *path, struct kept_pixels *kept)
{
    if (kept)
        *kept = (struct kept_pixels){0};
    switch (slot->kind) {
    case SLOT_PICTURE:
        break;
    case SLOT_LABELS:
        return image_load_labels(image, path);
    case SLOT_TABLE:
        return load_table(image, path);
    case SLOT_MATRIX:
        return array_load_matrix(image, path);
    case SLOT_TENSOR:
        return load_tensor(image, slot, path, kept);
    }
    if (slot->type == PIXEL_F64 && file_has_extension(path, ".npy"))
        return load_exact(image, path);
    return image_load(image, path, 0);
}

/* ------------------------------------------------------------------------------------------------- forms */

static bool is_picture_name(const char *path)
{
    static const char *const extensions[] = {".png", ".jpg", ".jpeg", ".bmp", ".pgm", ".ppm"};

    for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++)
        if (file_has_extension(path, extensions[i]))
            return true;
    return false;
}

static bool is_picture_kind(const struct named_slot *slot)
{
    return slot->kind == SLOT_PICTURE || slot->kind == SLOT_LABELS;
}

bool slot_is_drawn(const struct named_slot *slot)
{
    return is_picture_kind(slot) || slot->draw;
}

bool slot_has_rows(const struct named_slot *slot)
{
    return slot->kind == SLOT_TABLE || slot->kind == SLOT_MATRIX;
}

enum status slot_check_form(const struct named_slot *slot, const char *path)
{
    const bool rows = slot_has_rows(slot), picture = slot_is_drawn(slot);

    if (file_has_extension(path, ".npy") ||
        (rows && (file_has_extension(path, ".csv") || file_has_extension(path, ".json"))) ||
        (picture && is_picture_name(path)))
        return STATUS_OK;
    return status_set(STATUS_BAD_INPUT, "%s: %s is a %s, its extension must be %s%s.npy", path, slot->name,
                      slot->kind == SLOT_LABELS ? "label image" : slot_kind_name(slot->kind),
                      picture ? ".png, .jpg, .bmp, .pgm, .ppm or " : "", rows ? ".csv, .json or " : "");
}

enum status slot_check_shape(const struct named_slot *slot, const struct image *shape, const char *path)
{
    if (shape->width == 0)
        return status_set(STATUS_BAD_INPUT, "%s: with these parameters there is no %s", path, slot->name);
    if (slot->kind == SLOT_PICTURE && !slot->draw)
        return image_fits(shape, path);
    return STATUS_OK;
}

const char *slot_extension(const struct named_slot *slot)
{
    return is_picture_kind(slot) ? ".png" : slot->kind == SLOT_TENSOR ? ".npy" : ".csv";
}

/* ------------------------------------------------------------------------------------------------- writing */

/* The shortest decimal number that is read as this value again. */
static void format_number(double value, enum pixel_type type, const char *not_finite, char text[40])
{
    const bool narrow = type == PIXEL_F32;

    if (type != PIXEL_F32 && type != PIXEL_F64) {
        snprintf(text, 40, "%.0f", value);
        return;
    }
    if (!isfinite(value)) {
        snprintf(text, 40, "%s", not_finite ? not_finite : isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
        return;
    }
    for (int digits = narrow ? 6 : 15; digits <= (narrow ? 9 : 17); digits++) {
        snprintf(text, 40, "%.*g", digits, value);
        if (narrow ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value)
            return;
    }
}

static void write_text(struct output_file *file, const char *text)
{
    file_write(file, text, strlen(text));
}

static void write_row(struct output_file *file, const struct image *array, int y, const char *not_finite)
{
    for (int x = 0; x < array->width; x++) {
        char text[40];

        format_number(image_sample(array, x, y, 0), array->type, not_finite, text);
        if (x)
            write_text(file, ",");
        write_text(file, text);
    }
}

/* The names of a table's columns between commas, each in `quote`. */
static void write_names(struct output_file *file, const struct named_slot *slot, const char *quote)
{
    for (int i = 0; slot->columns && slot->columns[i]; i++) {
        write_text(file, i ? "," : "");
        write_text(file, quote);
        write_text(file, slot->columns[i]);
        write_text(file, quote);
    }
}

static void encode_csv(struct output_file *file, const struct named_slot *slot, const struct image *array)
{
    if (slot->kind == SLOT_TABLE) {
        write_names(file, slot, "");
        write_text(file, "\n");
    }
    for (int y = 0; y < array->height; y++) {
        write_row(file, array, y, NULL);
        write_text(file, "\n");
    }
}

static void encode_json(struct output_file *file, const struct named_slot *slot, const struct image *array)
{
    write_text(file, "{\"slot\": \"");
    write_text(file, slot->name);
    if (slot->kind == SLOT_TABLE) {
        write_text(file, "\",\n \"columns\": [");
        write_names(file, slot, "\"");
        write_text(file, "],\n \"rows\": [");
    } else {
        write_text(file, "\",\n \"rows\": [");
    }
    for (int y = 0; y < array->height; y++) {
        write_text(file, y ? ",\n  [" : "\n  [");
        write_row(file, array, y, "null");
        write_text(file, "]");
    }
    write_text(file, "]}\n");
}

static enum status encode_picture(struct output_file *file, const struct named_slot *slot, const struct image *image,
                                  const struct image in[], const struct image out[], const void *params)
{
    enum status status = STATUS_OK;
    struct image drawn = {0};

    if (slot->draw)
        TRY(slot->draw(in, out, params, &drawn));
    else if (slot->kind == SLOT_LABELS)
        TRY(image_colour_labels(&drawn, image));
    TRY(image_encode(file, drawn.data ? &drawn : image));
out:
    image_free(&drawn);
    return status;
}

enum status slot_draw(const struct algorithm *algorithm, int index, const struct image in[], const struct image out[],
                      const void *params, struct image *drawn)
{
    const struct named_slot *slot = &algorithm->outputs[index];
    enum status status = STATUS_OK;
    struct image gray = {0};

    if (slot->draw)
        TRY(slot->draw(in, out, params, drawn));
    else if (slot->kind == SLOT_LABELS)
        TRY(image_colour_labels(drawn, &out[index]));
    else
        TRY(draw_canvas(drawn, &out[index]));
    if (drawn->channels == 1) {
        gray = *drawn;
        TRY(draw_canvas(drawn, &gray));
    }
out:
    image_free(&gray);
    return status;
}

/* The rows that are in use, a window of the array. */
static struct image rows_of(const struct named_slot *slot, const struct image *array)
{
    struct image rows = *array;

    if (slot->kind == SLOT_TABLE) {
        rows.height = slot_table_rows(array);
        rows.data = image_row(array, 1);
    }
    return rows;
}

void slot_write_header(struct output_file *file, const struct named_slot *slot)
{
    if (slot->kind != SLOT_TABLE)
        return;
    write_text(file, "frame,");
    write_names(file, slot, "");
    write_text(file, "\n");
}

void slot_write_rows(struct output_file *file, const struct named_slot *slot, const struct image *array, long frame)
{
    const struct image rows = rows_of(slot, array);
    char number[24];

    snprintf(number, sizeof number, "%ld,", frame);
    for (int y = 0; y < rows.height; y++) {
        write_text(file, number);
        write_row(file, &rows, y, NULL);
        write_text(file, "\n");
    }
}

enum status slot_encode(struct output_file *file, const struct algorithm *algorithm, int index, const struct image in[],
                        const struct image out[], const void *params)
{
    const struct named_slot *slot = &algorithm->outputs[index];
    const struct image array = rows_of(slot, &out[index]);

    if (is_picture_name(file->path))
        return encode_picture(file, slot, &out[index], in, out, params);
    if (file_has_extension(file->path, ".csv"))
        encode_csv(file, slot, &array);
    else if (file_has_extension(file->path, ".json"))
        encode_json(file, slot, &array);
    else
        npy_encode(file, &array);
    return STATUS_OK;
}
