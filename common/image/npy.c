#include "common/image/npy.h"

#include <stdlib.h>
#include <string.h>

#include "common/image/samples.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "samples are written as they lie in memory");

static const char magic[6] = {(char)0x93, 'N', 'U', 'M', 'P', 'Y'};

enum {
    PREAMBLE = 10,          /* magic, version and the 16-bit header length of version 1.0 */
    HEADER_LIMIT = 1 << 16, /* NumPy itself refuses to parse more than 10000 bytes */
    DTYPE_LIMIT = 32
};

/* What a header says. */
struct description {
    char dtype[DTYPE_LIMIT];
    bool fortran_order;
    int dimensions;
    uint64_t shape[3]; /* the first three of them */
};

/* ------------------------------------------------------------------------- the header: a Python dict literal */

struct parser {
    const char *at, *end;
    const char *reason; /* why parsing failed */
};

static void skip_blanks(struct parser *parser)
{
    while (parser->at < parser->end && strchr(" \t\n\r\f", *parser->at) && *parser->at)
        parser->at++;
}

static bool fail(struct parser *parser, const char *reason)
{
    if (!parser->reason)
        parser->reason = reason;
    return false;
}

/* Takes one character if it comes next. */
static bool take(struct parser *parser, char character)
{
    skip_blanks(parser);
    if (parser->at == parser->end || *parser->at != character)
        return false;
    parser->at++;
    return true;
}

static bool take_word(struct parser *parser, const char *word)
{
    const size_t length = strlen(word);

    skip_blanks(parser);
    if ((size_t)(parser->end - parser->at) < length || memcmp(parser->at, word, length) != 0)
        return false;
    parser->at += length;
    return true;
}

/* A quoted string of printable ASCII without escapes: all that keys and plain dtypes need. */
static bool parse_string(struct parser *parser, char *text, size_t size)
{
    size_t length = 0;
    char quote;

    skip_blanks(parser);
    if (parser->at == parser->end || (*parser->at != '\'' && *parser->at != '"'))
        return fail(parser, "a quoted string was expected");
    quote = *parser->at++;
    while (parser->at < parser->end && *parser->at != quote) {
        if (*parser->at < ' ' || *parser->at > '~' || *parser->at == '\\' || length + 1 >= size)
            return fail(parser, "a string is too long or has unusual characters");
        text[length++] = *parser->at++;
    }
    text[length] = '\0';
    return parser->at++ < parser->end || fail(parser, "a string does not end");
}

static bool parse_number(struct parser *parser, uint64_t *value)
{
    const char *start;

    *value = 0;
    if (take(parser, '-'))
        return fail(parser, "a dimension is negative");
    skip_blanks(parser);
    start = parser->at;
    while (parser->at < parser->end && *parser->at >= '0' && *parser->at <= '9') {
        if (*value > (UINT64_MAX - 9) / 10)
            return fail(parser, "a dimension is too large");
        *value = *value * 10 + (uint64_t)(*parser->at++ - '0');
    }
    if (parser->at == start)
        return fail(parser, "the shape is not a tuple of whole numbers");
    if (parser->at < parser->end && *parser->at == 'L') /* as Python 2 wrote them */
        parser->at++;
    return true;
}

static bool parse_shape(struct parser *parser, struct description *description)
{
    description->dimensions = 0;
    if (!take(parser, '('))
        return fail(parser, "the shape is not a tuple");
    while (!take(parser, ')')) {
        uint64_t value;

        if (!parse_number(parser, &value))
            return false;
        if (description->dimensions < 3)
            description->shape[description->dimensions] = value;
        description->dimensions++;
        if (!take(parser, ',')) {
            /* (5) is a number in Python, only (5,) is a tuple. */
            if (description->dimensions == 1 || !take(parser, ')'))
                return fail(parser, "the shape is not a tuple of whole numbers");
            break;
        }
    }
    return true;
}

static bool parse_dtype(struct parser *parser, struct description *description)
{
    if (take(parser, '['))
        return fail(parser, "the dtype is a structured one");
    return parse_string(parser, description->dtype, sizeof description->dtype);
}

static bool parse_order(struct parser *parser, struct description *description)
{
    if (take_word(parser, "True"))
        description->fortran_order = true;
    else if (!take_word(parser, "False"))
        return fail(parser, "fortran_order is neither True nor False");
    return true;
}

static bool parse_header(struct parser *parser, struct description *description)
{
    static const struct {
        const char *name;
        bool (*parse)(struct parser *, struct description *);
    } keys[] = {{"descr", parse_dtype}, {"fortran_order", parse_order}, {"shape", parse_shape}};
    enum { KEYS = sizeof keys / sizeof keys[0] };
    bool seen[KEYS] = {false};

    memset(description, 0, sizeof *description);
    if (!take(parser, '{'))
        return fail(parser, "it does not start with {");
    while (!take(parser, '}')) {
        char name[16];
        size_t key = 0;

        if (!parse_string(parser, name, sizeof name))
            return false;
        while (key < KEYS && strcmp(name, keys[key].name) != 0)
            key++;
        if (key == KEYS)
            return fail(parser, "it has a key besides descr, fortran_order and shape");
        if (seen[key])
            return fail(parser, "it has a key twice");
        seen[key] = true;
        if (!take(parser, ':'))
            return fail(parser, "a : is missing");
        if (!keys[key].parse(parser, description))
            return false;
        if (!take(parser, ',')) {
            if (!take(parser, '}'))
                return fail(parser, "a , or } is missing");
            break;
        }
    }
    skip_blanks(parser);
    if (parser->at != parser->end)
        return fail(parser, "something follows the }");
    for (size_t i = 0; i < KEYS; i++) {
        if (!seen[i])
            return fail(parser, "descr, fortran_order or shape is missing");
    }
    return true;
}

/* -------------------------------------------------------------------------------------------------- reading */

/* How a dtype's samples lie in the file; false for one that is not read. */
static bool find_sample(const char *dtype, enum file_sample *sample, bool *swapped)
{
    static const struct {
        const char *name;
        enum file_sample sample;
    } known[] = {{"u1", FILE_U8},  {"u2", FILE_U16}, {"i4", FILE_I32},
                 {"u4", FILE_U32}, {"f4", FILE_F32}, {"f8", FILE_F64}};

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const char order = dtype[0];

        if (order == '\0' || strcmp(dtype + 1, known[i].name) != 0)
            continue;
        *sample = known[i].sample;
        *swapped = order == '>';
        return order == '<' || order == '>' || order == '=' || (order == '|' && *sample == FILE_U8);
    }
    return false;
}

/* Reads preamble and header; *data_size gets the bytes that follow them. */
static enum status read_description(FILE *stream, uint64_t file_size, const char *path, struct description *description,
                                    uint64_t *data_size)
{
    enum status status = STATUS_OK;
    uint8_t preamble[PREAMBLE + 2] = {0};
    size_t preamble_size = PREAMBLE;
    uint32_t length;
    char *header = NULL;
    struct parser parser;

    if (fread(preamble, 1, PREAMBLE, stream) != PREAMBLE) {
        status = status_set(STATUS_BAD_INPUT, "%s: %s", path,
                            memcmp(preamble, magic, file_size < sizeof magic ? (size_t)file_size : sizeof magic) == 0
                                ? "cut short in its header"
                                : "not a .npy file");
        goto out;
    }
    if (memcmp(preamble, magic, sizeof magic) != 0) {
        status = status_set(STATUS_BAD_INPUT, "%s: not a .npy file", path);
        goto out;
    }
    if (preamble[6] < 1 || preamble[6] > 3 || preamble[7] != 0) {
        status = status_set(STATUS_BAD_INPUT, "%s: .npy format version %d.%d: only 1.0, 2.0 and 3.0 are read", path,
                            preamble[6], preamble[7]);
        goto out;
    }
    length = preamble[8] | (uint32_t)preamble[9] << 8;
    if (preamble[6] > 1) { /* from 2.0 on the length has 32 bits */
        if (fread(preamble + PREAMBLE, 1, 2, stream) != 2) {
            status = status_set(STATUS_BAD_INPUT, "%s: cut short in its header", path);
            goto out;
        }
        length |= (uint32_t)preamble[10] << 16 | (uint32_t)preamble[11] << 24;
        preamble_size += 2;
    }
    if (length > file_size - preamble_size) {
        status = status_set(STATUS_BAD_INPUT, "%s: cut short in its header", path);
        goto out;
    }
    if (length > HEADER_LIMIT) {
        status = status_set(STATUS_BAD_INPUT, "%s: bad .npy header: %u bytes long", path, length);
        goto out;
    }
    header = malloc(length + 1);
    if (!header) {
        status = status_set(STATUS_NO_MEMORY, "%s: no memory", path);
        goto out;
    }
    if (fread(header, 1, length, stream) != length) {
        status = status_set(STATUS_BAD_INPUT, "%s: cut short in its header", path);
        goto out;
    }
    parser = (struct parser){.at = header, .end = header + length};
    if (!parse_header(&parser, description))
        status = status_set(STATUS_BAD_INPUT, "%s: bad .npy header: %s", path, parser.reason);
    *data_size = file_size - preamble_size - length;
out:
    free(header);
    return status;
}

/* Where a shape is legal: a picture's, or an array's, which is row after row of width * channels samples. */
static enum status check_shape(const struct description *description, const char *path, bool picture, bool may_be_empty)
{
    const uint64_t height = description->shape[0], width = description->shape[1], channels = description->shape[2];

    if (picture && (height < 1 || width < 1 || channels < 1 || height > IMAGE_MAX_SIDE || width > IMAGE_MAX_SIDE ||
                    channels > IMAGE_MAX_CHANNELS))
        return status_set(STATUS_BAD_INPUT,
                          "%s: %llux%llu pixels, %llu channels: must be 1 to %d a side and 1 to %d channels", path,
                          (unsigned long long)width, (unsigned long long)height, (unsigned long long)channels,
                          IMAGE_MAX_SIDE, IMAGE_MAX_CHANNELS);
    if (!picture && (height < (may_be_empty ? 0 : 1) || width < 1 || channels < 1 || height > ARRAY_MAX_SIDE - 1 ||
                     channels > ARRAY_MAX_SIDE || width > ARRAY_MAX_SIDE / channels))
        return status_set(STATUS_BAD_INPUT,
                          "%s: shape (%llu, %llu, %llu): must be at least 1, rows and their samples below 2^30", path,
                          (unsigned long long)height, (unsigned long long)width, (unsigned long long)channels);
    return STATUS_OK;
}

/* rows_before: -1 for a picture. */
static enum status load(struct image *image, const char *path, int rows_before)
{
    enum status status = STATUS_OK;
    const bool picture = rows_before < 0;
    FILE *stream = NULL;
    uint64_t file_size = 0, data_size = 0, expected, *shape;
    struct description description;
    enum file_sample sample;
    enum pixel_type type;
    bool swapped;

    memset(image, 0, sizeof *image);
    TRY(file_open(path, &stream, &file_size));
    TRY(read_description(stream, file_size, path, &description, &data_size));
    if (!find_sample(description.dtype, &sample, &swapped)) {
        status = status_set(STATUS_BAD_INPUT,
                            "%s: dtype '%s'%s: only uint8, uint16, int32, uint32, float32 and float64 are read", path,
                            description.dtype, strchr(description.dtype, 'O') ? " (Python objects)" : "");
        goto out;
    }
    if (description.fortran_order) {
        status = status_set(STATUS_BAD_INPUT, "%s: Fortran order is not read; save numpy.ascontiguousarray(a) instead",
                            path);
        goto out;
    }
    if (description.dimensions > 3 || description.dimensions < (picture ? 2 : 1)) {
        status = status_set(STATUS_BAD_INPUT, "%s: an array of %d dimensions; %s", path, description.dimensions,
                            picture ? "an image is HxW or HxWxC" : "1 to 3 are read");
        goto out;
    }
    shape = description.shape;
    for (int i = description.dimensions; i < 3; i++)
        shape[i] = 1;
    TRY(check_shape(&description, path, picture, rows_before > 0));
    /* At most 2^30 rows of 2^30 samples of 2^3 bytes: no overflow. */
    expected = shape[0] * shape[1] * shape[2] * file_sample_size(sample);
    if (data_size != expected) {
        status = status_set(STATUS_BAD_INPUT, "%s: %s: %llu bytes of data where the header says %llu", path,
                            data_size < expected ? "cut short" : "too long", (unsigned long long)data_size,
                            (unsigned long long)expected);
        goto out;
    }
    type = picture && sample == FILE_F64 ? PIXEL_F32 : file_sample_type(sample);
    rows_before = picture ? 0 : rows_before;
    status =
        (picture ? image_create : array_create)(image, (int)shape[1], (int)shape[0] + rows_before, (int)shape[2], type);
    if (status != STATUS_OK) {
        status_set(status, "%s: %s", path, status_message());
        goto out;
    }
    for (int y = 0; y < image->height; y++) {
        if (y < rows_before) {
            memset(image_row(image, y), 0, image_row_bytes(image));
        } else if (!file_samples_read(stream, sample, swapped, image_row(image, y), type, shape[1] * shape[2])) {
            status = status_set(STATUS_BAD_INPUT, "%s: cannot be read to its end", path);
            goto out;
        }
    }
out:
    if (stream)
        fclose(stream);
    if (status != STATUS_OK)
        image_free(image);
    return status;
}

enum status npy_load(struct image *image, const char *path)
{
    return load(image, path, -1);
}

enum status npy_load_array(struct image *array, const char *path, int rows_before)
{
    return load(array, path, rows_before);
}

/* -------------------------------------------------------------------------------------------------- writing */

void npy_encode(struct output_file *file, const struct image *image)
{
    const char *dtype = NULL;
    char header[192], shape[48];
    int length;

    switch (image->type) {
    case PIXEL_U8:
        dtype = "|u1";
        break;
    case PIXEL_U16:
        dtype = "<u2";
        break;
    case PIXEL_I32:
        dtype = "<i4";
        break;
    case PIXEL_F32:
        dtype = "<f4";
        break;
    case PIXEL_U32:
        dtype = "<u4";
        break;
    case PIXEL_F64:
        dtype = "<f8";
        break;
    case PIXEL_TYPE_COUNT:
        break;
    }
    if (image->channels == 1)
        snprintf(shape, sizeof shape, "(%d, %d)", image->height, image->width);
    else
        snprintf(shape, sizeof shape, "(%d, %d, %d)", image->height, image->width, image->channels);
    length = snprintf(header + PREAMBLE, sizeof header - PREAMBLE,
                      "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", dtype, shape);
    /* The format asks for a newline at the end and for data that starts at a multiple of 64 bytes. */
    length += PREAMBLE;
    while ((length + 1) % 64 != 0)
        header[length++] = ' ';
    header[length++] = '\n';
    memcpy(header, magic, sizeof magic);
    header[6] = 1;
    header[7] = 0;
    header[8] = (char)((length - PREAMBLE) & 255);
    header[9] = (char)((length - PREAMBLE) >> 8);

    file_write(file, header, (size_t)length);
    for (int y = 0; y < image->height; y++)
        file_write(file, image_row(image, y), image_row_bytes(image));
}

enum status npy_save(const struct image *image, const char *path)
{
    enum status status = STATUS_OK;
    struct output_file file = {0};

    TRY(file_create(&file, path));
    npy_encode(&file, image);
    TRY(file_commit(&file));
out:
    return status;
}
