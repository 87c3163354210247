#include "common/image/image_io.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/core/file.h"
#include "common/image/bmp.h"
#include "common/image/exif.h"
#include "common/image/npy.h"
#include "common/image/picture_probe.h"
#include "common/image/pnm.h"
#include "common/image/stb.h"

/* ------------------------------------------------------------------------------------------------- reading */

static enum status read_whole(const char *path, uint8_t **bytes, size_t *size)
{
    enum status status = STATUS_OK;
    FILE *stream = NULL;
    uint64_t file_size;

    *bytes = NULL;
    TRY(file_open(path, &stream, &file_size));
    if (file_size > INT_MAX) { /* as far as stb counts */
        status = status_set(STATUS_BAD_INPUT, "%s: a picture file larger than 2 GiB", path);
        goto out;
    }
    *size = (size_t)file_size;
    *bytes = malloc(*size);
    if (!*bytes)
        status = status_set(STATUS_NO_MEMORY, "%s: no memory", path);
    else if (fread(*bytes, 1, *size, stream) != *size)
        status = status_set(STATUS_BAD_INPUT, "%s: cannot be read to its end", path);
out:
    if (stream)
        fclose(stream);
    return status;
}

/* stb makes false colours of four without Adobe's marker, or with one that says neither CMYK nor YCCK. Everybody else
 * takes the former for CMYK as Adobe stores it and the latter for YCCK, so this is said. */
static enum status say_colours(const struct picture *picture, uint8_t **bytes, size_t *size, const char *path)
{
    enum { SOI = 2, CMYK = 0, YCCK = 2 };
    static const uint8_t marker[] = {0xff, 0xee, 0, 14, 'A', 'd', 'o', 'b', 'e', 0, 100, 0, 0, 0, 0, CMYK};
    uint8_t *longer;

    if (picture->adobe) {
        if ((*bytes)[picture->adobe] != CMYK)
            (*bytes)[picture->adobe] = YCCK;
        return STATUS_OK;
    }
    longer = malloc(*size + sizeof marker);
    if (!longer)
        return status_set(STATUS_NO_MEMORY, "%s: no memory", path);
    memcpy(longer, *bytes, SOI);
    memcpy(longer + SOI, marker, sizeof marker);
    memcpy(longer + SOI + sizeof marker, *bytes + SOI, *size - SOI);
    free(*bytes);
    *bytes = longer;
    *size += sizeof marker;
    return STATUS_OK;
}

/* A PNG's palette as it was, and the file with one of 256 grays in its place: stb then gives the numbers of the
 * colours. With the palette itself it takes colours that are not in it from the stack. */
struct palette {
    uint8_t rgb[256][3];
    unsigned colours;
};

static enum status exchange_palette(struct palette *palette, const struct picture *picture, uint8_t **bytes,
                                    size_t *size, const char *path)
{
    enum { LENGTH = 4, NAME = 4, CHECKSUM = 4, GRAYS = 256 }; /* stb looks at no checksum */
    const size_t head = picture->palette + LENGTH + NAME, rest = *size - picture->palette_end;
    uint8_t *longer = calloc(1, head + 3 * GRAYS + CHECKSUM + rest);

    if (!longer)
        return status_set(STATUS_NO_MEMORY, "%s: no memory", path);
    palette->colours = (unsigned)(picture->palette_end - head - CHECKSUM) / 3;
    memcpy(palette->rgb, *bytes + head, 3 * palette->colours);
    memcpy(longer, *bytes, head);
    longer[head - NAME - 2] = 3 * GRAYS >> 8; /* the length, big endian */
    longer[head - NAME - 1] = 3 * GRAYS & 255;
    for (int i = 0; i < GRAYS; i++)
        memset(longer + head + 3 * i, i, 3);
    memcpy(longer + head + 3 * GRAYS + CHECKSUM, *bytes + picture->palette_end, rest);
    free(*bytes);
    *bytes = longer;
    *size = head + 3 * GRAYS + CHECKSUM + rest;
    return STATUS_OK;
}

/* Numbers of colours, in an image of 3 channels the same one thrice, become the colours, or stay. */
static enum status apply_palette(struct image *image, const struct palette *palette, const char *path)
{
    for (int y = 0; y < image->height; y++) {
        uint8_t *row = image_row(image, y);

        for (int x = 0; x < image->width; x++) {
            const unsigned number = row[image->channels * x];

            if (number >= palette->colours)
                return status_set(STATUS_BAD_INPUT, "%s: damaged (PNG: a pixel has colour %u of a palette of %u)", path,
                                  number, palette->colours);
            if (image->channels == 3)
                memcpy(row + 3 * x, palette->rgb[number], 3);
        }
    }
    return STATUS_OK;
}

/* Decodes PNG or JPEG into an image of the shape that picture_probe() gave, or, of a palette, of one channel. */
static enum status decode_with_stb(struct image *image, const uint8_t *bytes, size_t size, const char *path)
{
    enum status status = STATUS_OK;
    const size_t sample_size = pixel_size(image->type);
    const size_t channels = (size_t)image->channels;
    int width = 0, height = 0, found = 0;
    char reason[80];
    uint8_t *decoded;

    if (image->type == PIXEL_U16)
        decoded = (uint8_t *)stbi_load_16_from_memory(bytes, (int)size, &width, &height, &found, 0);
    else
        decoded = stbi_load_from_memory(bytes, (int)size, &width, &height, &found, 0);
    if (!decoded) {
        /* stb quotes names from the file, which in a damaged one can hold anything: keep the message one line. */
        snprintf(reason, sizeof reason, "%s", stbi_failure_reason());
        for (char *letter = reason; *letter; letter++)
            *letter = *letter < ' ' || *letter > '~' ? '?' : *letter;
        if (strcmp(reason, "outofmem") == 0)
            status = status_set(STATUS_NO_MEMORY, "%s: no memory", path);
        else
            status = status_set(STATUS_BAD_INPUT, "%s: damaged or of a kind that is not read (stb: %s)", path, reason);
        goto out;
    }
    if (width != image->width || height != image->height || found < image->channels) {
        status = status_set(STATUS_BAD_INPUT, "%s: damaged (its headers contradict each other)", path);
        goto out;
    }
    /* stb may give more samples a pixel than are wanted: alpha, or a gray palette as RGB. The first ones count. */
    for (int y = 0; y < height; y++) {
        const size_t from_step = (size_t)found * sample_size, to_step = channels * sample_size;
        const uint8_t *from = decoded + (size_t)y * (size_t)width * from_step;
        uint8_t *to = image_row(image, y);

        if (from_step == to_step) {
            memcpy(to, from, (size_t)width * to_step);
        } else {
            for (int x = 0; x < width; x++, from += from_step, to += to_step)
                memcpy(to, from, to_step);
        }
    }
out:
    stbi_image_free(decoded);
    return status;
}

/* stb stretches grays of 1, 2 and 4 bits to 0 ... 255. */
static void shrink_grays(struct image *image, unsigned bits)
{
    const unsigned step = 255 / ((1U << bits) - 1);

    for (int y = 0; y < image->height; y++)
        for (int x = 0; x < image->width; x++)
            ((uint8_t *)image_row(image, y))[x] /= (uint8_t)step;
}

/* With `numbers` a file's numbers as they are, in one channel: grays that are not stretched, numbers of colours. */
static enum status load_picture(struct image *image, bool numbers, const char *path)
{
    enum status status = STATUS_OK;
    uint8_t *bytes = NULL;
    size_t size = 0;
    struct picture picture;
    struct palette palette;
    bool in_colours;

    TRY(read_whole(path, &bytes, &size));
    TRY(picture_probe(&picture, bytes, size, path));
    in_colours = picture.format == PICTURE_BMP ? !bmp_has_palette(bytes) : picture.channels > 1 && !picture.palette;
    if (numbers && (picture.format == PICTURE_JPEG || in_colours)) {
        status = status_set(STATUS_BAD_INPUT,
                            "%s: a picture in colours or a JPEG, whose samples are no labels; a gray PNG, BMP or PGM, "
                            "one with a palette, or .npy is read",
                            path);
        goto out;
    }
    TRY(image_create(image, picture.width, picture.height, numbers ? 1 : picture.channels, picture.type));
    if (picture.palette)
        TRY(exchange_palette(&palette, &picture, &bytes, &size, path));
    if (picture.four_colours)
        TRY(say_colours(&picture, &bytes, &size, path));
    if (picture.format == PICTURE_PNM)
        TRY(pnm_decode(image, bytes, size, numbers, path));
    else if (picture.format == PICTURE_BMP)
        TRY(bmp_decode(image, bytes, size, numbers, path));
    else
        TRY(decode_with_stb(image, bytes, size, path));
    if (picture.palette)
        TRY(apply_palette(image, &palette, path));
    else if (numbers && picture.format == PICTURE_PNG && picture.bits < 8)
        shrink_grays(image, picture.bits);
    status = exif_turn(image, picture.orientation);
    if (status != STATUS_OK)
        status_set(status, "%s: %s", path, status_message());
out:
    free(bytes);
    return status;
}

/* Luma of ITU-R BT.601 in 14 bits, rounded: the weights that OpenCV uses. White stays white: they add up to 1. */
enum { RED = 4899, GREEN = 9617, BLUE = 1868, LUMA_BITS = 14 };

#define GRAY_FROM_RGB(name, sample, sum)                                                                               \
    static void name(sample *to, const sample *from, int width)                                                        \
    {                                                                                                                  \
        for (int x = 0; x < width; x++, from += 3)                                                                     \
            to[x] =                                                                                                    \
                (sample)(((sum)from[0] * RED + (sum)from[1] * GREEN + (sum)from[2] * BLUE + (1 << (LUMA_BITS - 1))) >> \
                         LUMA_BITS);                                                                                   \
    }

GRAY_FROM_RGB(gray_from_rgb_u8, uint8_t, uint32_t)
GRAY_FROM_RGB(gray_from_rgb_u16, uint16_t, uint32_t)
GRAY_FROM_RGB(gray_from_rgb_i32, int32_t, int64_t)

static void gray_from_rgb_f32(float *to, const float *from, int width)
{
    for (int x = 0; x < width; x++, from += 3)
        to[x] = 0.299f * from[0] + 0.587f * from[1] + 0.114f * from[2];
}

enum status image_convert(struct image *to, const struct image *from, const char *name)
{
    const size_t size = pixel_size(from->type);

    if (!(from->channels == 1 && to->channels == 3) && !(from->channels == 3 && to->channels == 1))
        return status_set(STATUS_BAD_INPUT, "%s: has %d channels where %d are needed", name, from->channels,
                          to->channels);
    for (int y = 0; y < from->height; y++) {
        const uint8_t *source = image_row(from, y);
        uint8_t *target = image_row(to, y);

        if (to->channels == 3) {
            for (int i = 0; i < 3 * from->width; i++)
                memcpy(target + (size_t)i * size, source + (size_t)(i / 3) * size, size);
            continue;
        }
        switch (from->type) {
        case PIXEL_U8:
            gray_from_rgb_u8(target, source, from->width);
            break;
        case PIXEL_U16:
            gray_from_rgb_u16((uint16_t *)target, (const uint16_t *)source, from->width);
            break;
        case PIXEL_I32:
            gray_from_rgb_i32((int32_t *)target, (const int32_t *)source, from->width);
            break;
        case PIXEL_F32:
            gray_from_rgb_f32((float *)target, (const float *)source, from->width);
            break;
        case PIXEL_U32:
        case PIXEL_F64:
        case PIXEL_TYPE_COUNT:
            return status_set(STATUS_BAD_INPUT, "%s: %s samples are no picture in colour", name,
                              pixel_name(from->type));
        }
    }
    return STATUS_OK;
}

static enum status convert(struct image *image, int channels, const char *path)
{
    enum status status = STATUS_OK;
    struct image converted = {0};

    TRY(image_create(&converted, image->width, image->height, channels, image->type));
    TRY(image_convert(&converted, image, path));
    image_free(image);
    *image = converted;
out:
    if (status != STATUS_OK)
        image_free(&converted);
    return status;
}

enum status image_load(struct image *image, const char *path, int channels)
{
    enum status status = STATUS_OK;

    memset(image, 0, sizeof *image);
    if (file_has_extension(path, ".npy"))
        TRY(npy_load(image, path));
    else
        TRY(load_picture(image, false, path));
    if (channels != 0 && channels != image->channels)
        TRY(convert(image, channels, path));
out:
    if (status != STATUS_OK)
        image_free(image);
    return status;
}

/* Labels are i32, and small ones are stored in fewer bytes. */
static enum status widen(struct image *image, const char *path)
{
    enum status status = STATUS_OK;
    struct image wide = {0};

    if (image->type != PIXEL_U8 && image->type != PIXEL_U16)
        return STATUS_OK;
    TRY(image_create(&wide, image->width, image->height, image->channels, PIXEL_I32));
    for (int y = 0; y < image->height; y++) {
        const void *from = image_row(image, y);
        int32_t *to = image_row(&wide, y);

        for (int i = 0; i < image->width * image->channels; i++)
            to[i] = image->type == PIXEL_U8 ? ((const uint8_t *)from)[i] : ((const uint16_t *)from)[i];
    }
    image_free(image);
    *image = wide;
out:
    return status == STATUS_OK ? status : status_set(status, "%s: no memory", path);
}

enum status image_load_labels(struct image *image, const char *path)
{
    enum status status = STATUS_OK;

    memset(image, 0, sizeof *image);
    if (file_has_extension(path, ".npy"))
        TRY(npy_load(image, path));
    else
        TRY(load_picture(image, true, path));
    TRY(widen(image, path));
out:
    if (status != STATUS_OK)
        image_free(image);
    return status;
}

/* ------------------------------------------------------------------------------------------------- writing */

enum output_format { OUTPUT_PNG, OUTPUT_JPEG, OUTPUT_BMP, OUTPUT_PGM, OUTPUT_PPM, OUTPUT_NPY };

static const struct {
    const char *extension;
    enum output_format format;
} extensions[] = {{".png", OUTPUT_PNG}, {".jpg", OUTPUT_JPEG}, {".jpeg", OUTPUT_JPEG}, {".bmp", OUTPUT_BMP},
                  {".pgm", OUTPUT_PGM}, {".ppm", OUTPUT_PPM},  {".npy", OUTPUT_NPY}};

static enum status find_format(const char *path, enum output_format *format)
{
    for (size_t i = 0; i < sizeof extensions / sizeof extensions[0]; i++) {
        if (file_has_extension(path, extensions[i].extension)) {
            *format = extensions[i].format;
            return STATUS_OK;
        }
    }
    return status_set(STATUS_BAD_INPUT, "%s: its extension must be .png, .jpg, .bmp, .pgm, .ppm or .npy", path);
}

/* Refuses what a picture format cannot hold. */
static enum status check_fits(const struct image *image, enum output_format format, const char *path)
{
    if (image->type != PIXEL_U8 && image->type != PIXEL_U16)
        return status_set(STATUS_BAD_INPUT, "%s: pictures cannot hold %s; use .npy", path, pixel_name(image->type));
    if (image->channels != 1 && image->channels != 3)
        return status_set(STATUS_BAD_INPUT, "%s: pictures cannot hold %d channels; use .npy", path, image->channels);
    if (image->type == PIXEL_U16 && format != OUTPUT_PGM && format != OUTPUT_PPM)
        return status_set(STATUS_BAD_INPUT, "%s: 16 bits a sample are not written in this format; use .%s or .npy",
                          path, image->channels == 1 ? "pgm" : "ppm");
    if (image->channels != 1 && format == OUTPUT_PGM)
        return status_set(STATUS_BAD_INPUT, "%s: a PGM holds 1 channel, the image has 3; use .ppm", path);
    if (image->channels != 3 && format == OUTPUT_PPM)
        return status_set(STATUS_BAD_INPUT, "%s: a PPM holds 3 channels, the image has 1; use .pgm", path);
    if (image_pixel_bytes(image) > PICTURE_MAX_BYTES || image->stride > INT_MAX)
        return status_set(STATUS_BAD_INPUT, "%s: %dx%d pixels, %d channels: larger than 1 GiB; use .npy", path,
                          image->width, image->height, image->channels);
    return STATUS_OK;
}

static void write_from_stb(void *context, void *data, int size)
{
    file_write(context, data, (size_t)size);
}

static void store_little(uint8_t *bytes, uint32_t value, int count)
{
    for (int i = 0; i < count; i++)
        bytes[i] = (uint8_t)(value >> 8 * i);
}

/* With a palette of 256 grays: stb writes gray as RGB, which would come back as three channels. */
static void encode_gray_bmp(struct output_file *file, const struct image *image)
{
    enum { FILE_HEADER = 14, HEADER = 40, PALETTE = 4 * 256, OFFSET = FILE_HEADER + HEADER + PALETTE };
    const size_t row_bytes = (size_t)image->width;
    const size_t padding = (4 - row_bytes % 4) % 4;
    const uint32_t pixel_bytes = (uint32_t)((row_bytes + padding) * (size_t)image->height);
    uint8_t head[OFFSET] = {'B', 'M'};

    store_little(head + 2, OFFSET + pixel_bytes, 4);
    store_little(head + 10, OFFSET, 4);
    store_little(head + 14, HEADER, 4);
    store_little(head + 18, (uint32_t)image->width, 4);
    store_little(head + 22, (uint32_t)image->height, 4);
    store_little(head + 26, 1, 2); /* planes */
    store_little(head + 28, 8, 2); /* bits a pixel */
    store_little(head + 34, pixel_bytes, 4);
    store_little(head + 46, 256, 4); /* colours */
    for (int i = 0; i < 256; i++)
        memset(head + FILE_HEADER + HEADER + 4 * i, i, 3);
    file_write(file, head, sizeof head);
    for (int y = image->height - 1; y >= 0; y--) {
        file_write(file, image_row(image, y), row_bytes);
        file_write(file, "\0\0\0", padding);
    }
}

/* JPEG and RGB BMP through stb, which wants rows without padding. */
static enum status encode_packed(struct output_file *file, const struct image *image, enum output_format format)
{
    enum { JPEG_QUALITY = 95 };
    const size_t row_bytes = image_row_bytes(image);
    uint8_t *packed = malloc(image_pixel_bytes(image));
    int written;

    if (!packed)
        return status_set(STATUS_NO_MEMORY, "%s: no memory", file->path);
    for (int y = 0; y < image->height; y++)
        memcpy(packed + (size_t)y * row_bytes, image_row(image, y), row_bytes);
    if (format == OUTPUT_JPEG)
        written = stbi_write_jpg_to_func(write_from_stb, file, image->width, image->height, image->channels, packed,
                                         JPEG_QUALITY);
    else
        written = stbi_write_bmp_to_func(write_from_stb, file, image->width, image->height, image->channels, packed);
    free(packed);
    return written ? STATUS_OK : status_set(STATUS_FAILED, "%s: stb could not encode it", file->path);
}

enum status image_fits(const struct image *image, const char *path)
{
    enum status status = STATUS_OK;
    enum output_format format = OUTPUT_NPY;

    TRY(find_format(path, &format));
    if (format != OUTPUT_NPY)
        TRY(check_fits(image, format, path));
out:
    return status;
}

enum status image_encode(struct output_file *file, const struct image *image)
{
    enum status status = STATUS_OK;
    const char *path = file->path;
    enum output_format format = OUTPUT_NPY;

    TRY(image_fits(image, path));
    TRY(find_format(path, &format));
    switch (format) {
    case OUTPUT_PNG:
        if (!stbi_write_png_to_func(write_from_stb, file, image->width, image->height, image->channels, image->data,
                                    (int)image->stride)) {
            status = status_set(STATUS_NO_MEMORY, "%s: no memory", path);
            goto out;
        }
        break;
    case OUTPUT_BMP:
        if (image->channels == 1) {
            encode_gray_bmp(file, image);
            break;
        }
        TRY(encode_packed(file, image, format));
        break;
    case OUTPUT_JPEG:
        TRY(encode_packed(file, image, format));
        break;
    case OUTPUT_PGM:
    case OUTPUT_PPM:
        pnm_encode(file, image);
        break;
    case OUTPUT_NPY:
        npy_encode(file, image);
        break;
    }
out:
    return status;
}

enum status image_save(const struct image *image, const char *path)
{
    enum status status = STATUS_OK;
    struct output_file file = {0};

    TRY(image_fits(image, path));
    TRY(file_create(&file, path));
    TRY(image_encode(&file, image));
    TRY(file_commit(&file));
out:
    file_discard(&file);
    return status;
}

enum status image_save_check(const char *path)
{
    enum status status = STATUS_OK;
    enum output_format format;

    TRY(find_format(path, &format));
    TRY(file_check_output(path));
out:
    return status;
}

/* ------------------------------------------------------------------------------------------------ resizing */

static bool resize(struct image *to, const struct image *from)
{
#if RUNGS_STB_RESIZE2
    return stbir_resize(from->data, from->width, from->height, (int)from->stride, to->data, to->width, to->height,
                        (int)to->stride, from->channels == 1 ? STBIR_1CHANNEL : STBIR_RGB, STBIR_TYPE_UINT8,
                        STBIR_EDGE_CLAMP, STBIR_FILTER_DEFAULT) != NULL;
#else
    return stbir_resize_uint8_generic(from->data, from->width, from->height, (int)from->stride, to->data, to->width,
                                      to->height, (int)to->stride, from->channels, STBIR_ALPHA_CHANNEL_NONE, 0,
                                      STBIR_EDGE_CLAMP, STBIR_FILTER_DEFAULT, STBIR_COLORSPACE_LINEAR, NULL) != 0;
#endif
}

enum status image_resize_to_cover(struct image *image, const struct image *from, int width, int height)
{
    enum status status = STATUS_OK;
    struct image window = *from; /* the largest centred part of the target's proportions */

    memset(image, 0, sizeof *image);
    if (from->type != PIXEL_U8 || (from->channels != 1 && from->channels != 3) || from->stride > INT_MAX)
        return status_set(STATUS_BAD_INPUT, "only u8 images of 1 or 3 channels can be resized, this one is %s with %d",
                          pixel_name(from->type), from->channels);
    if ((int64_t)width * height * from->channels > INT_MAX - 64 * (int64_t)height) /* stb counts in int */
        return status_set(STATUS_BAD_INPUT, "cannot resize an image to %dx%d pixels: more than 2 GiB", width, height);
    TRY(image_create(image, width, height, from->channels, PIXEL_U8));
    if ((int64_t)from->width * height > (int64_t)from->height * width)
        window.width = (int)((int64_t)from->height * width / height);
    else
        window.height = (int)((int64_t)from->width * height / width);
    window.width = window.width > 0 ? window.width : 1;
    window.height = window.height > 0 ? window.height : 1;
    window.data = (char *)image_row(from, (from->height - window.height) / 2) +
                  (size_t)((from->width - window.width) / 2) * (size_t)from->channels;
    if (window.width == width && window.height == height)
        image_copy(image, &window);
    else if (!resize(image, &window))
        status = status_set(STATUS_NO_MEMORY, "no memory to resize an image to %dx%d pixels", width, height);
out:
    if (status != STATUS_OK)
        image_free(image);
    return status;
}
