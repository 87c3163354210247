#include "common/image/picture_probe.h"

#include <string.h>

#include "common/image/bmp.h"
#include "common/image/bytes.h"
#include "common/image/exif.h"
#include "common/image/pnm.h"

/* ---------------------------------------------------------------------------------------------------- PNG */

static const uint8_t png_signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

/* CRC-32 as PNG uses it (ISO 3309, polynomial 0xEDB88320 reflected), four bits at a time. */
static uint32_t crc_32(const uint8_t *bytes, size_t size)
{
    static const uint32_t table[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
                                       0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                       0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
    uint32_t crc = UINT32_MAX;

    for (size_t i = 0; i < size; i++) {
        crc = table[(crc ^ bytes[i]) & 15] ^ crc >> 4;
        crc = table[(crc ^ bytes[i] >> 4) & 15] ^ crc >> 4;
    }
    return ~crc;
}

/* All chunks up to IEND are there, and those that make the picture have the right checksum. Notes the palette and the
 * orientation. */
static enum status check_png_chunks(struct picture *picture, const uint8_t *bytes, size_t size, const char *path)
{
    enum { OVERHEAD = 12 }; /* length, name and checksum */

    for (size_t at = sizeof png_signature; size - at >= OVERHEAD;) {
        const uint32_t length = big_32(bytes + at);
        const uint8_t *name = bytes + at + 4;

        if (length > size - at - OVERHEAD)
            break;
        /* A lower-case first letter marks a chunk that the picture can do without. */
        if (name[0] >= 'A' && name[0] <= 'Z' && crc_32(name, length + 4) != big_32(name + 4 + length))
            return picture_damaged(path, "PNG: wrong checksum");
        if (memcmp(name, "IEND", 4) == 0)
            return STATUS_OK;
        if (memcmp(name, "eXIf", 4) == 0)
            picture->orientation = exif_orientation(name + 4, length);
        if (memcmp(name, "PLTE", 4) == 0) {
            if (picture->palette || length == 0 || length > 3 * 256 || length % 3 != 0)
                return picture_damaged(path, "PNG: its palette is wrong");
            picture->palette = at;
            picture->palette_end = at + OVERHEAD + length;
        }
        at += OVERHEAD + length;
    }
    return picture_damaged(path, "PNG: it does not reach its end mark");
}

/* --------------------------------------------------------------------------------------------------- JPEG */

/* The next marker at or after *at; 0 when there is none. *at then lies behind it. */
static int next_jpeg_marker(const uint8_t *bytes, size_t size, size_t *at)
{
    for (; *at + 1 < size; ++*at) {
        /* In compressed data 00 follows an FF that is no marker; D0 to D7 are restarts within it. */
        const int code = bytes[*at + 1];

        if (bytes[*at] == 0xff && code != 0x00 && code != 0xff && !(code >= 0xd0 && code <= 0xd7)) {
            *at += 2;
            return code;
        }
    }
    return 0;
}

/* stb writes past the end of its arrays for a Huffman table of more than 256 codes, and takes code 255 for "none". The
 * tables of real files have at most 16 codes (DC) or 176 (AC, progressive). */
static bool is_huffman_segment_sound(const uint8_t *segment, size_t size)
{
    enum { HEAD = 17, CODES_LIMIT = 255 }; /* class, and how many codes there are of 1 to 16 bits */

    while (size >= HEAD) {
        size_t codes = 0;

        for (int i = 1; i < HEAD; i++)
            codes += segment[i];
        if (codes > CODES_LIMIT || codes > size - HEAD)
            return false;
        segment += HEAD + codes;
        size -= HEAD + codes;
    }
    return size == 0;
}

/* What lies in the segments of applications, each of which begins with its name. */
static void note_application(struct picture *picture, int marker, const uint8_t *bytes, size_t at, size_t length)
{
    enum { APP1 = 0xe1, APP14 = 0xee, EXIF = 6, ADOBE = 12, TRANSFORM = 11 };

    if (marker == APP1 && length > EXIF && picture->orientation == 1 && memcmp(bytes + at, "Exif\0\0", EXIF) == 0)
        picture->orientation = exif_orientation(bytes + at + EXIF, length - EXIF);
    if (marker == APP14 && length >= ADOBE && memcmp(bytes + at, "Adobe", 6) == 0)
        picture->adobe = at + TRANSFORM;
}

/* Walks the segments from one marker to the next: finds the frame header and, so that a cut file shows, the end. */
static enum status walk_jpeg(struct picture *picture, const uint8_t *bytes, size_t size, const char *path,
                             const uint8_t **frame, bool *has_scan)
{
    enum { TEM = 0x01, SOF0 = 0xc0, SOF2 = 0xc2, DHT = 0xc4, JPG = 0xc8, DAC = 0xcc, SOF15 = 0xcf };
    enum { SOI = 0xd8, EOI = 0xd9, SOS = 0xda, FRAME_FIXED = 8 };
    size_t at = 0;
    int marker;

    *frame = NULL;
    *has_scan = false;
    while ((marker = next_jpeg_marker(bytes, size, &at)) != 0) {
        uint32_t length;

        if (marker == EOI && *frame)
            return STATUS_OK;
        if (marker == SOI || marker == EOI || marker == TEM)
            continue;
        if (size - at < 2 || (length = big_16(bytes + at)) < 2 || length > size - at)
            break;
        if (!*frame && marker >= SOF0 && marker <= SOF15 && marker != DHT && marker != JPG && marker != DAC) {
            if (length < FRAME_FIXED)
                break;
            if (marker > SOF2 || bytes[at + 2] != 8)
                return status_set(STATUS_BAD_INPUT,
                                  "%s: a JPEG of a kind that is not read (only baseline and progressive ones with "
                                  "Huffman codes and 8 bits a sample are)",
                                  path);
            *frame = bytes + at + 2;
        }
        if (marker == DHT && !is_huffman_segment_sound(bytes + at + 2, length - 2))
            return picture_damaged(path, "JPEG: a Huffman table is wrong");
        note_application(picture, marker, bytes, at + 2, length - 2);
        *has_scan = *has_scan || marker == SOS;
        at += length;
    }
    return picture_damaged(path, "JPEG: it does not reach its end mark");
}

/* --------------------------------------------------------------------------------------------------------- headers */

static enum status probe_png(struct picture *picture, const uint8_t *bytes, size_t size, const char *path)
{
    enum { HEADER_END = 8 + 8 + 13 };
    enum { GRAY = 0, RGB = 2, PALETTE = 3, GRAY_ALPHA = 4, RGBA = 6 };
    enum status status = STATUS_OK;
    uint64_t width, height;
    unsigned depth, kind, samples;

    if (size < HEADER_END || big_32(bytes + 8) != 13 || memcmp(bytes + 12, "IHDR", 4) != 0)
        return picture_damaged(path, "PNG: no header");
    depth = bytes[24];
    kind = bytes[25];
    samples = kind == RGBA ? 4 : kind == RGB ? 3 : kind == GRAY_ALPHA ? 2 : 1;
    width = big_32(bytes + 16);
    height = big_32(bytes + 20);
    TRY(picture_take_shape(picture, width, height, kind == GRAY || kind == GRAY_ALPHA ? 1 : 3, depth == 16 ? 16 : 8,
                           path));
    /* Deflate shrinks 258 bytes to 2 bits at best. */
    TRY(picture_check_size(picture, (width * samples * depth + 7) / 8 * height / 1032, size, path));
    picture->bits = depth;
    TRY(check_png_chunks(picture, bytes, size, path));
    if (kind != PALETTE) /* of others it is advice for displays */
        picture->palette = 0;
out:
    return status;
}

static enum status probe_jpeg(struct picture *picture, const uint8_t *bytes, size_t size, const char *path)
{
    enum status status = STATUS_OK;
    const uint8_t *frame;
    bool has_scan;
    uint64_t width, height;

    TRY(walk_jpeg(picture, bytes, size, path, &frame, &has_scan));
    picture->four_colours = frame[5] == 4;
    width = big_16(frame + 3);
    height = big_16(frame + 1);
    TRY(picture_take_shape(picture, width, height, frame[5] == 1 ? 1 : 3, 8, path));
    /* Each block of 8x8 pixels takes a bit at the very least. */
    TRY(picture_check_size(picture, width * height / 64 / 8, size, path));
    if (!has_scan) /* stb makes a picture of one gray of it */
        status = picture_damaged(path, "JPEG: its pixels are not there");
out:
    return status;
}

/* ------------------------------------------------------------------------------------------------------ formats */

static bool is_png(const uint8_t *bytes, size_t size)
{
    return size >= 4 && memcmp(bytes, png_signature, size < 8 ? size : 8) == 0;
}

static bool is_jpeg(const uint8_t *bytes, size_t size)
{
    return size >= 3 && bytes[0] == 0xff && bytes[1] == 0xd8 && bytes[2] == 0xff;
}

static bool is_pnm(const uint8_t *bytes, size_t size)
{
    return size >= 3 && bytes[0] == 'P' && memchr("2356", bytes[1], 4) && memchr(" \t\n\v\f\r#", bytes[2], 7);
}

static const struct {
    enum picture_format format;
    bool (*is)(const uint8_t *bytes, size_t size); /* by its first bytes */
    enum status (*probe)(struct picture *picture, const uint8_t *bytes, size_t size, const char *path);
} readers[] = {{PICTURE_PNG, is_png, probe_png},
               {PICTURE_JPEG, is_jpeg, probe_jpeg},
               {PICTURE_BMP, bmp_is_one, bmp_probe},
               {PICTURE_PNM, is_pnm, pnm_probe}};

enum status picture_probe(struct picture *picture, const uint8_t *bytes, size_t size, const char *path)
{
    *picture = (struct picture){.orientation = 1};
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) {
        if (readers[i].is(bytes, size)) {
            picture->format = readers[i].format;
            return readers[i].probe(picture, bytes, size, path);
        }
    }
    if (size >= 6 && memcmp(bytes, "\x93NUMPY", 6) == 0)
        return status_set(STATUS_BAD_INPUT, "%s: a NumPy array; its name must end in .npy", path);
    return status_set(STATUS_BAD_INPUT, "%s: not a PNG, JPEG, BMP, PGM or PPM picture", path);
}
