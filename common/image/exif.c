#include "common/image/exif.h"

#include <string.h>

#include "common/image/bytes.h"

int exif_orientation(const uint8_t *block, size_t size)
{
    enum { HEADER = 8, ENTRY = 12, ORIENTATION = 0x0112, BYTE = 1, SHORT = 3, LONG = 4 };
    const bool little = size >= HEADER && memcmp(block, "II*\0", 4) == 0;
    uint32_t (*const number_16)(const uint8_t *bytes) = little ? little_16 : big_16;
    uint32_t (*const number_32)(const uint8_t *bytes) = little ? little_32 : big_32;
    size_t at, count;

    if (!little && !(size >= HEADER && memcmp(block, "MM\0*", 4) == 0))
        return 1;
    at = number_32(block + 4);
    if (at > size || size - at < 2)
        return 1;
    count = number_16(block + at);
    for (at += 2; count > 0 && size - at >= ENTRY; count--, at += ENTRY) {
        const uint8_t *entry = block + at, *value = entry + 8;
        const uint32_t type = number_16(entry + 2);
        uint32_t orientation;

        if (number_16(entry) != ORIENTATION)
            continue;
        orientation = type == SHORT ? number_16(value) : type == LONG ? number_32(value) : type == BYTE ? value[0] : 1;
        return orientation >= 1 && orientation <= 8 ? (int)orientation : 1;
    }
    return 1;
}

enum status exif_turn(struct image *image, int orientation)
{
    /* Which sides of the stored picture are read from their end, after the sides are exchanged. */
    static const struct {
        bool exchanged, from_right, from_below;
    } ways[] = {
        [2] = {false, true, false}, [3] = {false, true, true}, [4] = {false, false, true}, [5] = {true, false, false},
        [6] = {true, false, true},  [7] = {true, true, true},  [8] = {true, true, false}};
    const size_t size = (size_t)image->channels * pixel_size(image->type);
    const bool exchanged = orientation > 1 && ways[orientation].exchanged;
    enum status status = STATUS_OK;
    struct image turned = {0};

    if (orientation == 1)
        return STATUS_OK;
    TRY(image_create(&turned, exchanged ? image->height : image->width, exchanged ? image->width : image->height,
                     image->channels, image->type));
    for (int y = 0; y < turned.height; y++) {
        uint8_t *to = image_row(&turned, y);

        for (int x = 0; x < turned.width; x++, to += size) {
            int column = exchanged ? y : x, row = exchanged ? x : y;

            column = ways[orientation].from_right ? image->width - 1 - column : column;
            row = ways[orientation].from_below ? image->height - 1 - row : row;
            memcpy(to, (const uint8_t *)image_row(image, row) + (size_t)column * size, size);
        }
    }
    image_free(image);
    *image = turned;
out:
    return status;
}
