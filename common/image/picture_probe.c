#include "common/image/picture_probe.h"

#include <stdlib.h>
#include <string.h>

#include "common/image/pnm.h"

static uint32_t big_16(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 8 | bytes[1];
}

static uint32_t big_32(const uint8_t *bytes)
{
    return big_16(bytes) << 16 | big_16(bytes + 2);
}

static uint32_t little_16(const uint8_t *bytes)
{
    return (uint32_t)bytes[1] << 8 | bytes[0];
}

static uint32_t little_32(const uint8_t *bytes)
{
    return little_16(bytes + 2) << 16 | little_16(bytes);
}

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

/* All chunks up to IEND are there, and those that make the picture have the right checksum. */
static enum status check_png_chunks(const uint8_t *bytes, size_t size, const char *path)
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

/* Walks the segments from one marker to the next: finds the frame header and, so that a cut file shows, the end. */
static enum status walk_jpeg(const uint8_t *bytes, size_t size, const char *path, const uint8_t **frame)
{
    enum { TEM = 0x01, DHT = 0xc4, JPG = 0xc8, DAC = 0xcc, SOI = 0xd8, EOI = 0xd9, FRAME_FIXED = 8 };
    size_t at = 0;
    int marker;

    *frame = NULL;
    while ((marker = next_jpeg_marker(bytes, size, &at)) != 0) {
        uint32_t length;

        if (marker == EOI && *frame)
            return STATUS_OK;
        if (marker == SOI || marker == EOI || marker == TEM)
            continue;
        if (size - at < 2 || (length = big_16(bytes + at)) < 2 || length > size - at)
            break;
        if (!*frame && marker >= 0xc0 && marker <= 0xcf && marker != DHT && marker != JPG && marker != DAC) {
            if (length < FRAME_FIXED)
                break;
            *frame = bytes + at + 2;
        }
        if (marker == DHT && !is_huffman_segment_sound(bytes + at + 2, length - 2))
            return picture_damaged(path, "JPEG: a Huffman table is wrong");
        at += length;
    }
    return picture_damaged(path, "JPEG: it does not reach its end mark");
}

/* --------------------------------------------------------------------------------------------------------- headers */

static enum status probe_png(struct picture *picture, const uint8_t *bytes, size_t size, const char *path)
{
    enum { HEADER_END = 8 + 8 + 13 };
    enum { GRAY = 0, RGB = 2, GRAY_ALPHA = 4, RGBA = 6 };
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
    TRY(check_png_chunks(bytes, size, path));
out:
    return status;
}

static enum status probe_jpeg(struct picture *picture, const uint8_t *bytes, size_t size, const char *path)
{
    enum status status = STATUS_OK;
    const uint8_t *frame;
    uint64_t width, height;

    TRY(walk_jpeg(bytes, size, path, &frame));
    width = big_16(frame + 3);
    height = big_16(frame + 1);
    TRY(picture_take_shape(picture, width, height, frame[5] == 1 ? 1 : 3, 8, path));
    /* Each block of 8x8 pixels takes a bit at the very least. */
    TRY(picture_check_size(picture, width * height / 64 / 8, size, path));
out:
    return status;
}

enum { BMP_FILE_HEADER = 14 };

static bool is_bmp(const uint8_t *bytes, size_t size)
{
    static const uint32_t header_sizes[] = {12, 40, 52, 56, 64, 108, 124};

    if (size < BMP_FILE_HEADER + 12 || bytes[0] != 'B' || bytes[1] != 'M')
        return false;
    for (size_t i = 0; i < sizeof header_sizes / sizeof header_sizes[0]; i++) {
        if (little_32(bytes + BMP_FILE_HEADER) == header_sizes[i])
            return true;
    }
    return false;
}

static enum status probe_bmp(struct picture *picture, const uint8_t *bytes, size_t size, const char *path)
{
    const uint32_t offset = little_32(bytes + 10), header = little_32(bytes + BMP_FILE_HEADER);
    enum status status = STATUS_OK;
    uint64_t width, height, bits, compression = 0;
    int channels = 3;

    if (header == 12) {
        width = little_16(bytes + 18);
        height = little_16(bytes + 20);
        bits = little_16(bytes + 24);
    } else {
        if (size < BMP_FILE_HEADER + header)
            return picture_damaged(path, "BMP: its header is not complete");
        width = little_32(bytes + 18);
        /* A negative height means that the rows go from the top down. */
        height = (uint64_t)llabs((long long)(int32_t)little_32(bytes + 22));
        bits = little_16(bytes + 28);
        compression = little_32(bytes + 30);
    }
    if (bits <= 8 && offset <= size) { /* with a palette: gray if that has no other colours */
        const size_t entry = header == 12 ? 3 : 4;

        channels = 1;
        for (size_t at = BMP_FILE_HEADER + header; at + entry <= offset; at += entry) {
            if (bytes[at] != bytes[at + 1] || bytes[at + 1] != bytes[at + 2])
                channels = 3;
        }
    }
    TRY(picture_take_shape(picture, width, height, channels, 8, path));
    if (compression != 0 && compression != 3) {
        status = status_set(STATUS_BAD_INPUT, "%s: a compressed BMP, which is not read", path);
        goto out;
    }
    /* Rows are padded to 4 bytes; some writers leave out the padding of the last. */
    TRY(picture_check_size(picture, offset + (width * bits + 31) / 32 * 4 * (height - 1) + (width * bits + 7) / 8, size,
                           path));
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
               {PICTURE_BMP, is_bmp, probe_bmp},
               {PICTURE_PNM, is_pnm, pnm_probe}};

enum status picture_probe(struct picture *picture, const uint8_t *bytes, size_t size, const char *path)
{
    memset(picture, 0, sizeof *picture);
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
