#include "common/image/envi.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/core/file.h"
#include "common/image/samples.h"

enum { HEADER_LIMIT = 4 << 20 }; /* bytes; names and wavelengths of thousands of bands take some 100 KB */

static const char *const data_extensions[] = {"", ".dat", ".img", ".raw", ".bip", ".bil", ".bsq", ".bin"};
enum { DATA_EXTENSIONS = sizeof data_extensions / sizeof *data_extensions };

enum key { SAMPLES, LINES, BANDS, OFFSET, TYPE, INTERLEAVE, ORDER, COMPRESSION, DATA_FILE, KEY_COUNT };
static const char *const key_names[KEY_COUNT] = {"samples",   "lines",      "bands",      "header offset",
                                                 "data type", "interleave", "byte order", "file compression",
                                                 "data file"};

struct header {
    char *values[KEY_COUNT]; /* into the header's text; NULL where it does not say */
    uint64_t samples, lines, bands, offset;
    enum file_sample sample;
    enum { BIP, BIL, BSQ } interleave;
    bool swapped;
};

/* ------------------------------------------------------------------------------------------------ the header */

/* Cuts off blanks at both ends, in place. */
static char *trim(char *text)
{
    size_t length;

    while (isspace((unsigned char)*text))
        text++;
    for (length = strlen(text); length > 0 && isspace((unsigned char)text[length - 1]); length--)
        text[length - 1] = '\0';
    return text;
}

/* Splits "key = value" lines; a value in braces may run over several lines. */
static enum status split(struct header *header, char *text, const char *path)
{
    char *rest = text, *line = strsep(&rest, "\n");

    if (strcmp(trim(line), "ENVI") != 0)
        return status_set(STATUS_BAD_INPUT, "%s: not an ENVI header (its first line is not ENVI)", path);
    while (rest) {
        char *equals, *key, *value, *brace;

        brace = rest + strcspn(rest, "{\n");
        line = rest;
        if (*brace == '{') {
            char *end = strchr(brace, '}');

            if (!end)
                return status_set(STATUS_BAD_INPUT, "%s: bad ENVI header: a { without its }", path);
            rest = end;
        }
        strsep(&rest, "\n");
        equals = strchr(line, '=');
        if (!equals || *trim(line) == ';')
            continue; /* comments, empty lines */
        *equals = '\0';
        key = trim(line);
        value = trim(equals + 1);
        for (int i = 0; i < KEY_COUNT; i++) {
            if (strcasecmp(key, key_names[i]) != 0)
                continue;
            if (header->values[i])
                return status_set(STATUS_BAD_INPUT, "%s: bad ENVI header: it says '%s' twice", path, key_names[i]);
            header->values[i] = value;
        }
    }
    return STATUS_OK;
}

static enum status take_number(const struct header *header, enum key key, const char *path, uint64_t least,
                               uint64_t most, uint64_t *number)
{
    const char *text = header->values[key];
    char *end;

    if (!text)
        return status_set(STATUS_BAD_INPUT, "%s: bad ENVI header: it does not say '%s'", path, key_names[key]);
    if (!isdigit((unsigned char)*text))
        return status_set(STATUS_BAD_INPUT, "%s: bad ENVI header: %s = %.40s is no whole number", path, key_names[key],
                          text);
    *number = strtoull(text, &end, 10); /* too large a number becomes the largest, which no key may have */
    if (*end || *number < least || *number > most)
        return status_set(STATUS_BAD_INPUT, "%s: bad ENVI header: %s = %.40s, must be %llu to %llu", path,
                          key_names[key], text, (unsigned long long)least, (unsigned long long)most);
    return STATUS_OK;
}

static enum status take_type(struct header *header, const char *path)
{
    static const struct {
        uint64_t code;
        enum file_sample sample;
    } known[] = {{1, FILE_U8},  {2, FILE_I16},  {3, FILE_I32}, {4, FILE_F32},
                 {5, FILE_F64}, {12, FILE_U16}, {13, FILE_U32}};
    enum status status = STATUS_OK;
    uint64_t code = 0;

    TRY(take_number(header, TYPE, path, 1, 15, &code));
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (known[i].code == code) {
            header->sample = known[i].sample;
            goto out;
        }
    }
    status = status_set(STATUS_BAD_INPUT,
                        "%s: ENVI data type %d: only 1 (u8), 2 (i16), 3 (i32), 4 (f32), 5 (f64), 12 (u16) and 13 (u32) "
                        "are read",
                        path, (int)code);
out:
    return status;
}

static enum status take_interleave(struct header *header, const char *path)
{
    static const char *const names[] = {"bip", "bil", "bsq"};
    const char *text = header->values[INTERLEAVE];

    for (int i = 0; text && i < 3; i++) {
        if (strcasecmp(text, names[i]) == 0) {
            header->interleave = i;
            return STATUS_OK;
        }
    }
    return status_set(STATUS_BAD_INPUT, "%s: bad ENVI header: interleave %s%.40s, must be bip, bil or bsq", path,
                      text ? "= " : "is missing", text ? text : "");
}

static enum status understand(struct header *header, const char *path)
{
    enum status status = STATUS_OK;
    uint64_t order = 0, compression = 0;

    TRY(take_number(header, SAMPLES, path, 1, ARRAY_MAX_SIDE, &header->samples));
    TRY(take_number(header, LINES, path, 1, ARRAY_MAX_SIDE, &header->lines));
    TRY(take_number(header, BANDS, path, 1, ARRAY_MAX_SIDE / header->samples, &header->bands));
    TRY(take_type(header, path));
    TRY(take_interleave(header, path));
    if (header->values[OFFSET])
        TRY(take_number(header, OFFSET, path, 0, INT32_MAX, &header->offset));
    if (header->values[ORDER])
        TRY(take_number(header, ORDER, path, 0, 1, &order));
    header->swapped = order == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
    if (header->values[COMPRESSION])
        TRY(take_number(header, COMPRESSION, path, 0, 1, &compression));
    if (compression)
        status = status_set(STATUS_BAD_INPUT, "%s: a compressed ENVI file, which is not read", path);
out:
    return status;
}

/* *text gets the header as a string, to be freed by the caller. */
static enum status read_text(const char *path, char **text)
{
    enum status status = STATUS_OK;
    FILE *stream = NULL;
    uint64_t size = 0;

    TRY(file_open(path, &stream, &size));
    if (size > HEADER_LIMIT) {
        status = status_set(STATUS_BAD_INPUT, "%s: not an ENVI header (larger than 4 MiB)", path);
        goto out;
    }
    *text = calloc(1, size + 1);
    if (!*text)
        status = status_set(STATUS_NO_MEMORY, "%s: no memory", path);
    else if (fread(*text, 1, size, stream) != size)
        status = status_set(STATUS_BAD_INPUT, "%s: cannot be read to its end", path);
    else if (strlen(*text) != size)
        status = status_set(STATUS_BAD_INPUT, "%s: not an ENVI header (it is no text)", path);
out:
    if (stream)
        fclose(stream);
    return status;
}

/* ------------------------------------------------------------------------------------------- header and data file */

/* "a/cube.hdr" with `extension` in the place of the last `cut` bytes; to be freed by the caller, NULL: no memory. */
static char *renamed(const char *path, size_t cut, const char *extension)
{
    char *name;

    return asprintf(&name, "%.*s%s", (int)(strlen(path) - cut), path, extension) < 0 ? NULL : name;
}

static enum status find_data(const struct header *header, const char *path, char **data)
{
    const char *named = header->values[DATA_FILE], *slash = strrchr(path, '/');

    if (named) {
        if (!*named || strchr(named, '/') || strcmp(named, "..") == 0)
            return status_set(STATUS_BAD_INPUT, "%s: bad ENVI header: data file = %.200s names no file beside it", path,
                              named);
        *data = slash ? renamed(path, strlen(slash + 1), named) : strdup(named);
        return *data ? STATUS_OK : status_set(STATUS_NO_MEMORY, "%s: no memory", path);
    }
    for (int i = 0; i < DATA_EXTENSIONS; i++) {
        char *candidate = renamed(path, 4, data_extensions[i]);

        if (!candidate)
            return status_set(STATUS_NO_MEMORY, "%s: no memory", path);
        if (access(candidate, F_OK) != 0) {
            free(candidate);
        } else if (*data) {
            const enum status status = status_set(STATUS_BAD_INPUT, "%s: two data files beside it, %s and %s; name one",
                                                  path, *data, candidate);
            free(candidate);
            return status;
        } else {
            *data = candidate;
        }
    }
    if (!*data)
        return status_set(STATUS_BAD_INPUT,
                          "%s: no data file beside it (its name without .hdr, or .dat, .img, .raw, .bip ...)", path);
    return STATUS_OK;
}

static enum status find_header(const char *path, char **header)
{
    const size_t extension = strlen(strrchr(path, '.'));

    for (int whole = 0; whole < 2; whole++) {
        free(*header);
        *header = renamed(path, whole ? 0 : extension, ".hdr");
        if (!*header)
            return status_set(STATUS_NO_MEMORY, "%s: no memory", path);
        if (access(*header, F_OK) == 0)
            return STATUS_OK;
    }
    return status_set(STATUS_BAD_INPUT, "%s: raw samples need an ENVI header beside them, and there is no %s", path,
                      *header);
}

bool envi_is_name(const char *path)
{
    for (int i = 1; i < DATA_EXTENSIONS; i++)
        if (file_has_extension(path, data_extensions[i]))
            return true;
    return file_has_extension(path, ".hdr");
}

/* ---------------------------------------------------------------------------------------------------- the samples */

/* Reads a run of one band's samples and puts them `step` bytes apart. */
static bool read_scattered(FILE *stream, const struct header *header, void *run, uint8_t *to, size_t step)
{
    const enum pixel_type type = file_sample_type(header->sample);
    const size_t size = pixel_size(type);

    if (!file_samples_read(stream, header->sample, header->swapped, run, type, header->samples))
        return false;
    for (size_t x = 0; x < header->samples; x++)
        memcpy(to + x * step, (uint8_t *)run + x * size, size);
    return true;
}

static bool read_samples(FILE *stream, const struct header *header, struct image *cube, void *run)
{
    const size_t size = pixel_size(cube->type), step = (size_t)cube->channels * size;
    bool whole = true;

    for (int y = 0; whole && header->interleave == BIP && y < cube->height; y++)
        whole = file_samples_read(stream, header->sample, header->swapped, image_row(cube, y), cube->type,
                                  header->samples * header->bands);
    for (int y = 0; header->interleave == BIL && y < cube->height; y++)
        for (size_t b = 0; whole && b < header->bands; b++)
            whole = read_scattered(stream, header, run, (uint8_t *)image_row(cube, y) + b * size, step);
    for (size_t b = 0; header->interleave == BSQ && b < header->bands; b++)
        for (int y = 0; whole && y < cube->height; y++)
            whole = read_scattered(stream, header, run, (uint8_t *)image_row(cube, y) + b * size, step);
    return whole;
}

enum status envi_load(struct image *cube, const char *path)
{
    enum status status = STATUS_OK;
    struct header header = {0};
    char *header_path = NULL, *data_path = NULL, *text = NULL;
    FILE *stream = NULL;
    void *run = NULL;
    uint64_t size = 0, expected;

    memset(cube, 0, sizeof *cube);
    if (file_has_extension(path, ".hdr"))
        header_path = strdup(path);
    else
        TRY(find_header(path, &header_path));
    if (!header_path || (!file_has_extension(path, ".hdr") && !(data_path = strdup(path)))) {
        status = status_set(STATUS_NO_MEMORY, "%s: no memory", path);
        goto out;
    }
    TRY(read_text(header_path, &text));
    TRY(split(&header, text, header_path));
    TRY(understand(&header, header_path));
    if (!data_path)
        TRY(find_data(&header, header_path, &data_path));
    TRY(file_open(data_path, &stream, &size));
    /* At most 2^30 lines of 2^30 samples of 2^3 bytes: no overflow. */
    expected = header.offset + header.lines * header.samples * header.bands * file_sample_size(header.sample);
    if (size != expected) {
        status = status_set(STATUS_BAD_INPUT, "%s: %llu bytes where its header %s says %llu", data_path,
                            (unsigned long long)size, header_path, (unsigned long long)expected);
        goto out;
    }
    status =
        array_create(cube, (int)header.samples, (int)header.lines, (int)header.bands, file_sample_type(header.sample));
    if (status != STATUS_OK) {
        status_set(status, "%s: %s", path, status_message());
        goto out;
    }
    run = malloc(header.samples * pixel_size(cube->type));
    if (!run)
        status = status_set(STATUS_NO_MEMORY, "%s: no memory", path);
    else if (fseek(stream, (long)header.offset, SEEK_SET) != 0 || !read_samples(stream, &header, cube, run))
        status = status_set(STATUS_BAD_INPUT, "%s: cannot be read to its end", data_path);
out:
    if (stream)
        fclose(stream);
    if (status != STATUS_OK)
        image_free(cube);
    free(run);
    free(text);
    free(data_path);
    free(header_path);
    return status;
}
