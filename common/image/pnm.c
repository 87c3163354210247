#include "common/image/pnm.h"

#include <string.h>

struct reader {
    const uint8_t *at, *end;
};

struct header {
    bool plain; /* samples as decimal numbers */
    int channels;
    uint64_t width, height, maximum;
    const uint8_t *samples;
};

static bool is_blank(uint8_t byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

/* A decimal number, after blanks and comments, which run from # to the end of the line. False when there is none;
 * a number too large for anything here stays at the same too large value. */
static bool read_number(struct reader *reader, uint64_t *value)
{
    const uint64_t too_large = UINT32_MAX;
    const uint8_t *start;

    while (reader->at < reader->end && (is_blank(*reader->at) || *reader->at == '#')) {
        if (*reader->at == '#') {
            while (reader->at < reader->end && *reader->at != '\n' && *reader->at != '\r')
                reader->at++;
        } else {
            reader->at++;
        }
    }
    *value = 0;
    for (start = reader->at; reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9'; reader->at++) {
        *value = *value * 10 + (uint64_t)(*reader->at - '0');
        if (*value > too_large)
            *value = too_large;
    }
    return reader->at > start;
}

static bool read_header(struct header *header, const uint8_t *bytes, size_t size)
{
    struct reader reader = {.at = bytes + 2, .end = bytes + size};

    header->plain = bytes[1] == '2' || bytes[1] == '3';
    header->channels = bytes[1] == '3' || bytes[1] == '6' ? 3 : 1;
    if (!read_number(&reader, &header->width) || !read_number(&reader, &header->height) ||
        !read_number(&reader, &header->maximum) || reader.at == reader.end || !is_blank(*reader.at))
        return false;
    header->samples = reader.at + 1; /* one blank, then binary data that may look like blanks */
    return true;
}

enum status pnm_probe(struct picture *picture, const uint8_t *bytes, size_t size, const char *path)
{
    enum status status = STATUS_OK;
    struct header header;
    uint64_t samples, least;

    if (!read_header(&header, bytes, size))
        return status_set(STATUS_BAD_INPUT, "%s: damaged or cut short (PGM/PPM: its header is not complete)", path);
    if (header.maximum < 1 || header.maximum > 65535)
        return status_set(STATUS_BAD_INPUT, "%s: damaged (PGM/PPM: maximum value not within 1 to 65535)", path);
    TRY(picture_take_shape(picture, header.width, header.height, header.channels, header.maximum > 255 ? 16 : 8, path));
    samples = header.width * header.height * (unsigned)header.channels;
    least = header.plain ? 2 * samples - 1 : samples * pixel_size(picture->type);
    TRY(picture_check_size(picture, least, (size_t)(bytes + size - header.samples), path));
out:
    return status;
}

enum status pnm_decode(struct image *image, const uint8_t *bytes, size_t size, bool as_stored, const char *path)
{
    const size_t row_samples = (size_t)image->width * (size_t)image->channels;
    struct reader reader;
    struct header header;
    uint64_t most; /* what the file's maximum becomes */

    if (!read_header(&header, bytes, size))
        return status_set(STATUS_FAILED, "%s: pnm_probe() was not asked first", path);
    reader = (struct reader){.at = header.samples, .end = bytes + size};
    most = as_stored ? header.maximum : image->type == PIXEL_U16 ? 65535 : 255;
    for (int y = 0; y < image->height; y++) {
        uint8_t *row_8 = image_row(image, y);
        uint16_t *row_16 = image_row(image, y);

        if (!header.plain && header.maximum == 255) {
            memcpy(row_8, reader.at, row_samples);
            reader.at += row_samples;
            continue;
        }
        for (size_t i = 0; i < row_samples; i++) {
            uint64_t value;

            if (header.plain) {
                if (!read_number(&reader, &value))
                    return status_set(STATUS_BAD_INPUT, "%s: damaged or cut short (PGM/PPM: a sample is missing)",
                                      path);
            } else if (image->type == PIXEL_U16) {
                value = (uint64_t)reader.at[0] << 8 | reader.at[1];
                reader.at += 2;
            } else {
                value = *reader.at++;
            }
            if (value > header.maximum)
                return status_set(STATUS_BAD_INPUT, "%s: damaged (PGM/PPM: a sample above the maximum value)", path);
            value = (value * most + header.maximum / 2) / header.maximum;
            if (image->type == PIXEL_U16)
                row_16[i] = (uint16_t)value;
            else
                row_8[i] = (uint8_t)value;
        }
    }
    return STATUS_OK;
}

void pnm_encode(struct output_file *file, const struct image *image)
{
    const size_t row_samples = (size_t)image->width * (size_t)image->channels;
    char header[64];
    int length = snprintf(header, sizeof header, "P%c\n%d %d\n%d\n", image->channels == 1 ? '5' : '6', image->width,
                          image->height, image->type == PIXEL_U16 ? 65535 : 255);

    file_write(file, header, (size_t)length);
    for (int y = 0; y < image->height; y++) {
        const uint16_t *row = image_row(image, y);

        if (image->type == PIXEL_U8) {
            file_write(file, row, row_samples);
            continue;
        }
        for (size_t i = 0; i < row_samples; i++) { /* 16-bit samples are big endian */
            const uint8_t sample[2] = {(uint8_t)(row[i] >> 8), (uint8_t)row[i]};
            file_write(file, sample, sizeof sample);
        }
    }
}
