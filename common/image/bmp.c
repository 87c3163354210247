#include "common/image/bmp.h"

#include <stdlib.h>
#include <string.h>

#include "common/image/bytes.h"

enum { FILE_HEADER = 14, OS2_1 = 12, OS2_SHORT = 16, OS2_2 = 64, MASKS = FILE_HEADER + 40 };
enum { PLAIN = 0, BITFIELDS = 3, ALPHA_BITFIELDS = 6 };

struct header {
    uint32_t offset, header; /* of the pixels, from the file's start; the header's own size */
    uint64_t width, height;
    bool top_down;
    unsigned bits;
    uint32_t compression;
    /* With a palette. */
    size_t colours, entry; /* how many, and bytes of each: blue, green, red */
    const uint8_t *palette;
    /* Without. */
    uint32_t masks[3];
};

bool bmp_is_one(const uint8_t *bytes, size_t size)
{
    static const uint32_t sizes[] = {OS2_1, OS2_SHORT, 40, 52, 56, OS2_2, 108, 124};

    if (size < FILE_HEADER + OS2_1 || bytes[0] != 'B' || bytes[1] != 'M')
        return false;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (little_32(bytes + FILE_HEADER) == sizes[i])
            return true;
    return false;
}

static uint32_t header_size(const uint8_t *bytes)
{
    return little_32(bytes + FILE_HEADER);
}

bool bmp_has_palette(const uint8_t *bytes)
{
    return little_16(bytes + (header_size(bytes) == OS2_1 ? 24 : 28)) <= 8;
}

static enum status take_palette(struct header *header, const uint8_t *bytes, size_t size, const char *path)
{
    const size_t start = FILE_HEADER + header->header;
    const uint32_t used = header->header >= 40 ? little_32(bytes + 46) : 0;

    header->entry = header->header == OS2_1 ? 3 : 4;
    header->palette = bytes + start;
    if (header->offset < start || header->offset > size)
        return picture_damaged(path, "BMP: no place for its palette");
    header->colours = (size_t)1 << header->bits;
    if (used > 0 && used < header->colours)
        header->colours = used;
    if ((header->offset - start) / header->entry < header->colours)
        header->colours = (header->offset - start) / header->entry;
    return header->colours ? STATUS_OK : picture_damaged(path, "BMP: its palette is empty");
}

static enum status take_masks(struct header *header, const uint8_t *bytes, size_t size, const char *path)
{
    static const uint32_t of_16[3] = {31 << 10, 31 << 5, 31}, of_32[3] = {255 << 16, 255 << 8, 255};

    if (header->compression == PLAIN) {
        memcpy(header->masks, header->bits == 16 ? of_16 : of_32, sizeof header->masks);
        return STATUS_OK;
    }
    if (header->bits == 24 || size < MASKS + 12)
        return picture_damaged(path, "BMP: no place for its masks");
    for (int c = 0; c < 3; c++) {
        const uint32_t mask = little_32(bytes + MASKS + 4 * c);
        const uint32_t low = mask & -mask; /* its lowest bit: a run of bits and it make a power of two, or 0 */

        if (mask == 0 || (mask & (mask + low)) != 0 || (header->bits == 16 && mask >> 16))
            return status_set(STATUS_BAD_INPUT, "%s: damaged (BMP: its masks are no runs of bits)", path);
        header->masks[c] = mask;
    }
    return STATUS_OK;
}

static enum status read_header(struct header *header, const uint8_t *bytes, size_t size, const char *path)
{
    *header = (struct header){.offset = little_32(bytes + 10), .header = header_size(bytes)};
    if (size < FILE_HEADER + header->header)
        return picture_damaged(path, "BMP: its header is not complete");
    if (header->header == OS2_1) {
        header->width = little_16(bytes + 18);
        header->height = little_16(bytes + 20);
        header->bits = little_16(bytes + 24);
    } else {
        const int64_t height = (int32_t)little_32(bytes + 22);

        header->width = little_32(bytes + 18);
        header->height = (uint64_t)llabs(height);
        header->top_down = height < 0;
        header->bits = little_16(bytes + 28);
        header->compression = header->header == OS2_SHORT ? PLAIN : little_32(bytes + 30);
    }
    /* In OS/2 3 means fax, and there are no masks. */
    if (header->compression != PLAIN && ((header->compression != BITFIELDS && header->compression != ALPHA_BITFIELDS) ||
                                         header->header == OS2_2 || header->bits <= 8))
        return status_set(STATUS_BAD_INPUT, "%s: a compressed BMP, which is not read", path);
    switch (header->bits) {
    case 1:
    case 2:
    case 4:
    case 8:
        return take_palette(header, bytes, size, path);
    case 16:
    case 24:
    case 32:
        return take_masks(header, bytes, size, path);
    default:
        return status_set(STATUS_BAD_INPUT, "%s: damaged (BMP: %u bits a pixel)", path, header->bits);
    }
}

enum status bmp_probe(struct picture *picture, const uint8_t *bytes, size_t size, const char *path)
{
    enum status status = STATUS_OK;
    struct header header;
    int channels = 3;

    TRY(read_header(&header, bytes, size, path));
    if (header.palette) {
        channels = 1;
        for (const uint8_t *c = header.palette; c < header.palette + header.colours * header.entry; c += header.entry)
            if (c[0] != c[1] || c[1] != c[2])
                channels = 3;
    }
    TRY(picture_take_shape(picture, header.width, header.height, channels, 8, path));
    /* Rows are padded to 4 bytes; some writers leave out the padding of the last. */
    TRY(picture_check_size(picture,
                           header.offset + (header.width * header.bits + 31) / 32 * 4 * (header.height - 1) +
                               (header.width * header.bits + 7) / 8,
                           size, path));
out:
    return status;
}

/* One row of numbers of colours; *number is the first one that the palette does not have. */
static bool decode_indices(uint8_t *to, const uint8_t *from, const struct header *header, unsigned *number)
{
    const unsigned per_byte = 8 / header->bits;

    for (size_t x = 0; x < header->width; x++) {
        *number = (from[x / per_byte] >> (8 - header->bits * (1 + x % per_byte))) & ((1U << header->bits) - 1);
        if (*number >= header->colours)
            return false;
        to[x] = (uint8_t)*number;
    }
    return true;
}

static void decode_masks(uint8_t *to, const uint8_t *from, const struct header *header)
{
    const unsigned bytes = header->bits / 8;

    for (size_t x = 0; x < header->width; x++, from += bytes) {
        const uint32_t pixel = bytes == 2   ? little_16(from)
                               : bytes == 4 ? little_32(from)
                                            : little_16(from) | (uint32_t)from[2] << 16;
        for (int c = 0; c < 3; c++) {
            const uint32_t mask = header->masks[c], low = mask & -mask;
            const uint64_t value = (pixel & mask) / low, most = mask / low;

            *to++ = (uint8_t)((value * 255 + most / 2) / most);
        }
    }
}

enum status bmp_decode(struct image *image, const uint8_t *bytes, size_t size, bool indices, const char *path)
{
    enum status status = STATUS_OK;
    struct header header;
    unsigned number = 0;

    TRY(read_header(&header, bytes, size, path));
    for (int y = 0; y < image->height; y++) {
        const size_t row_bytes = (header.width * header.bits + 31) / 32 * 4;
        const uint8_t *from = bytes + header.offset + row_bytes * (size_t)y;
        uint8_t *to = image_row(image, header.top_down ? y : image->height - 1 - y);

        if (!header.palette) {
            decode_masks(to, from, &header);
            continue;
        }
        if (!decode_indices(to, from, &header, &number)) {
            status = status_set(STATUS_BAD_INPUT, "%s: damaged (BMP: a pixel has colour %u of a palette of %zu)", path,
                                number, header.colours);
            goto out;
        }
        /* From the last one on, so that one row serves as both: numbers before, colours behind. */
        for (int x = indices ? 0 : image->width; x-- > 0;) {
            const uint8_t *colour = header.palette + to[x] * header.entry;

            for (int c = image->channels; c-- > 0;)
                to[image->channels * x + c] = colour[2 - c];
        }
    }
out:
    return status;
}
