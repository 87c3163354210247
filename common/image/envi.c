#include "common/image/envi.h"

#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "common/core/file.h"
#include "common/image/samples.h"

enum { HEADER_LIMIT = 4 << 20 }; /* bytes; names and wavelengths of thousands of bands take some 100 KB */

static const char *const data_extensions[] = {"", ".dat", ".img", ".raw", ".bip", ".bil", ".bsq", ".bin"};
enum { DATA_EXTENSIONS = sizeof data_extensions / sizeof *data_extensions };

enum key {
    SAMPLES,
    LINES,
    BANDS,
    OFFSET,
    TYPE,
    INTERLEAVE,
    ORDER,
    COMPRESSION,
    DATA_FILE,
    BAD_BANDS,
    IGNORE,
    KEY_COUNT
};
static const char *const key_names[KEY_COUNT] = {
    "samples",          "lines",     "bands", "header offset",    "data type", "interleave", "byte order",
    "file compression", "data file", "bbl",   "data ignore value"};

struct header {
    char *values[KEY_COUNT]; /* into the header's text; NULL where it does not say */
    uint64_t samples, lines, bands, offset;
    enum file_sample sample;
    enum { BIP, BIL, BSQ } interleave;
    bool swapped;
    int *places; /* of each band of the file: its number in the cube, -1 = left out */
    int kept;    /* bands */
    double ignore;
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

/* Whether a key, with any blanks around and between its words, is `name`. */
static bool is_key(const char *key, const char *name)
{
    for (key += strspn(key, " \t"); *name; name++) {
        if (*name == ' ' && strspn(key, " \t") == 0)
            return false;
        if (*name == ' ')
            key += strspn(key, " \t");
        else if (tolower((unsigned char)*key++) != *name)
            return false;
    }
    return key[strspn(key, " \t")] == '\0';
}

/* Comments become blanks, so that no brace in one counts, and every line ends with a newline. */
static void blank_comments(char *text)
{
    for (char *c = text; *c; c++)
        if (*c == '\r')
            *c = '\n';
    for (char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
        if (line[strspn(line, " \t")] == ';')
            memset(line, ' ', strcspn(line, "\n"));
}

/* The end of a value that begins at or after `value`, the last one that counts; NULL: a { without its }. */
static char *end_of_value(char *value)
{
    char *end = value + strspn(value, " \t\n");

    if (*end == '{') /* perhaps on a line of its own */
        return (end = strchr(end, '}')) ? end + 1 : NULL;
    return value + strcspn(value, "\n");
}

/* Splits "key = value" lines; a value in braces may run over several lines. */
static enum status split(struct header *header, char *text, const char *path)
{
    static const char mark[] = "\xef\xbb\xbf"; /* of UTF-8 */
    char *rest, *line;

    blank_comments(text);
    rest = strncmp(text, mark, sizeof mark - 1) == 0 ? text + sizeof mark - 1 : text;
    rest += strspn(rest, " \t\n");
    line = strsep(&rest, "\n");
    if (strcmp(trim(line), "ENVI") != 0)
        return status_set(STATUS_BAD_INPUT, "%s: not an ENVI header (its first line is not ENVI)", path);
    while (rest) {
        char *equals = rest + strcspn(rest, "=\n"), *key = rest, *value, *end;

        if (*equals != '=') {
            strsep(&rest, "\n");
            continue;
        }
        value = equals + 1;
        end = end_of_value(value);
        if (!end)
            return status_set(STATUS_BAD_INPUT, "%s: bad ENVI header: a { without its }", path);
        *equals = '\0';
        rest = *end ? end + 1 : NULL;
        if (rest && *end != '\n') /* behind a brace nothing counts */
            strsep(&rest, "\n");
        *end = '\0';
        for (int i = 0; i < KEY_COUNT; i++) {
            if (!is_key(key, key_names[i]))
                continue;
            if (header->values[i])
                return status_set(STATUS_BAD_INPUT, "%s: bad ENVI header: it says '%s' twice", path, key_names[i]);
            value = trim(value);
            if (*value != '{' && i != DATA_FILE)
                value[strcspn(value, ";")] = '\0';
            header->values[i] = trim(value);
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

/* Which bands stay, and where. */
static enum status take_bands(struct header *header, const char *path)
{
    char *text = header->values[BAD_BANDS];
    uint64_t said = 0;

    header->places = malloc(header->bands * sizeof *header->places);
    if (!header->places)
        return status_set(STATUS_NO_MEMORY, "%s: no memory", path);
    for (uint64_t b = 0; b < header->bands; b++)
        header->places[b] = (int)b;
    header->kept = (int)header->bands;
    if (!text)
        return STATUS_OK;
    header->kept = 0;
    for (text += strspn(text, "{, \t\n"); *text && *text != '}'; text += strspn(text, ", \t\n"), said++) {
        char *end;
        const double good = strtod(text, &end);

        if (end == text || !isfinite(good) || said == header->bands)
            break;
        header->places[said] = good != 0 ? header->kept++ : -1;
        text = end;
    }
    if (said != header->bands || *text != '}')
        return status_set(STATUS_BAD_INPUT, "%s: bad ENVI header: bbl must be { } with a number for each of %llu bands",
                          path, (unsigned long long)header->bands);
    if (header->kept == 0)
        return status_set(STATUS_BAD_INPUT, "%s: its bbl leaves out all bands", path);
    return STATUS_OK;
}

static enum status take_ignore(struct header *header, const char *path)
{
    const char *text = header->values[IGNORE];
    char *end = NULL;

    if (text)
        header->ignore = strtod(text, &end);
    if (text && (end == text || *end))
        return status_set(STATUS_BAD_INPUT, "%s: bad ENVI header: data ignore value = %.40s is no number", path, text);
    return STATUS_OK;
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
    TRY(take_bands(header, path));
    TRY(take_ignore(header, path));
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

/* The file whose name is `wanted` up to the case of its last `extension` letters; *found stays NULL where there is
 * none, and is to be freed by the caller. */
static enum status find_beside(const char *wanted, size_t extension, char **found)
{
    const char *slash = strrchr(wanted, '/');
    const size_t folder_length = slash ? (size_t)(slash + 1 - wanted) : 0;
    const size_t stem = strlen(wanted) - extension - folder_length;
    enum status status = STATUS_OK;
    char *folder = NULL;
    DIR *directory = NULL;
    struct stat about;

    if (stat(wanted, &about) == 0 && !S_ISDIR(about.st_mode)) {
        *found = strdup(wanted);
        return *found ? STATUS_OK : status_set(STATUS_NO_MEMORY, "%s: no memory", wanted);
    }
    folder = folder_length ? strndup(wanted, folder_length) : strdup(".");
    if (!folder) {
        status = status_set(STATUS_NO_MEMORY, "%s: no memory", wanted);
        goto out;
    }
    directory = opendir(folder);
    for (const struct dirent *entry; extension > 0 && directory && (entry = readdir(directory));) {
        if (strncmp(entry->d_name, wanted + folder_length, stem) != 0 ||
            strcasecmp(entry->d_name + stem, wanted + folder_length + stem) != 0)
            continue;
        if (*found) {
            status = status_set(STATUS_BAD_INPUT, "%s: there are %s and %s%s; name one", wanted, *found,
                                folder_length ? folder : "", entry->d_name);
            goto out;
        }
        if (asprintf(found, "%s%s", folder_length ? folder : "", entry->d_name) < 0) {
            *found = NULL;
            status = status_set(STATUS_NO_MEMORY, "%s: no memory", wanted);
            goto out;
        }
    }
out:
    if (directory)
        closedir(directory);
    free(folder);
    return status;
}

/* The header name.dat.hdr of name.dat; NULL when there is none. */
static enum status find_own_header(const char *data, char **header)
{
    enum status status = STATUS_OK;
    char *wanted = renamed(data, 0, ".hdr");

    if (!wanted)
        return status_set(STATUS_NO_MEMORY, "%s: no memory", data);
    TRY(find_beside(wanted, 4, header));
out:
    free(wanted);
    return status;
}

/* A file beside the header with one of the extensions; NULL when there is none, or it has a header of its own. */
static enum status find_candidate(const char *path, const char *extension, char **data)
{
    enum status status = STATUS_OK;
    char *wanted = renamed(path, 4, extension), *own = NULL;

    if (!wanted)
        return status_set(STATUS_NO_MEMORY, "%s: no memory", path);
    TRY(find_beside(wanted, strlen(extension), data));
    if (*data)
        TRY(find_own_header(*data, &own));
    if (own && strcmp(own, path) != 0) {
        free(*data);
        *data = NULL;
    }
out:
    free(own);
    free(wanted);
    return status;
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
        char *candidate = NULL;
        enum status status = find_candidate(path, data_extensions[i], &candidate);

        if (status == STATUS_OK && candidate && *data)
            status = status_set(STATUS_BAD_INPUT, "%s: two data files beside it, %s and %s; name one", path, *data,
                                candidate);
        if (status != STATUS_OK) {
            free(candidate);
            return status;
        }
        *data = candidate ? candidate : *data;
    }
    if (!*data)
        return status_set(STATUS_BAD_INPUT,
                          "%s: no data file beside it (its name without .hdr, or .dat, .img, .raw, .bip ...)", path);
    return STATUS_OK;
}

/* The last part of a path. */
static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* The header name.hdr may be another's, so name.dat.hdr comes first. */
static enum status find_header(const char *path, char **header)
{
    const char *dot = strrchr(file_name(path), '.');
    enum status status = STATUS_OK;
    char *shared = NULL;

    TRY(find_own_header(path, header));
    if (*header || !dot)
        goto out;
    shared = renamed(path, strlen(dot), ".hdr");
    if (!shared) {
        status = status_set(STATUS_NO_MEMORY, "%s: no memory", path);
        goto out;
    }
    TRY(find_beside(shared, 4, header));
out:
    if (status == STATUS_OK && !*header)
        status = status_set(STATUS_BAD_INPUT, "%s: raw samples need an ENVI header beside them, and there is no %s%s",
                            path, shared ? shared : path, shared ? "" : ".hdr");
    free(shared);
    return status;
}

/* A header that names its data is not one of another file. */
static enum status check_named(const struct header *header, const char *header_path, const char *data)
{
    const char *named = header->values[DATA_FILE];

    if (!named || strcasecmp(named, file_name(data)) == 0)
        return STATUS_OK;
    return status_set(STATUS_BAD_INPUT, "%s: its header %s says that it is of %.200s", data, header_path, named);
}

bool envi_is_name(const char *path)
{
    char *header = NULL;
    bool found = false;

    for (int i = 1; i < DATA_EXTENSIONS; i++)
        if (file_has_extension(path, data_extensions[i]))
            return true;
    if (file_has_extension(path, ".hdr"))
        return true;
    if (!strchr(file_name(path), '.') && find_own_header(path, &header) == STATUS_OK)
        found = header != NULL;
    free(header);
    return found;
}

/* ---------------------------------------------------------------------------------------------------- the samples */

/* Reads what lies side by side in the file, a row of one band or, with `several`, of all, and puts what stays into a
 * row of the cube. */
static bool read_run(FILE *stream, const struct header *header, void *run, uint8_t *row, size_t band, bool several)
{
    const enum pixel_type type = file_sample_type(header->sample);
    const size_t size = pixel_size(type), step = (size_t)header->kept * size, bands = several ? header->bands : 1;
    const uint8_t *from = run;

    if (!file_samples_read(stream, header->sample, header->swapped, run, type, header->samples * bands))
        return false;
    for (size_t x = 0; x < header->samples; x++, row += step)
        for (size_t b = 0; b < bands; b++, from += size)
            if (header->places[band + b] >= 0)
                memcpy(row + (size_t)header->places[band + b] * size, from, size);
    return true;
}

static bool read_samples(FILE *stream, const struct header *header, struct image *cube, void *run)
{
    bool whole = true;

    for (int y = 0; whole && header->interleave == BIP && y < cube->height; y++)
        whole = read_run(stream, header, run, image_row(cube, y), 0, true);
    for (int y = 0; header->interleave == BIL && y < cube->height; y++)
        for (size_t b = 0; whole && b < header->bands; b++)
            whole = read_run(stream, header, run, image_row(cube, y), b, false);
    for (size_t b = 0; header->interleave == BSQ && b < header->bands; b++)
        for (int y = 0; whole && y < cube->height; y++)
            whole = read_run(stream, header, run, image_row(cube, y), b, false);
    return whole;
}

/* ------------------------------------------------------------------------------------------------------ the cube */

enum status envi_load(struct image *cube, const char *path, struct kept_pixels *kept)
{
    enum status status = STATUS_OK;
    struct header header = {0};
    char *header_path = NULL, *data_path = NULL, *text = NULL;
    FILE *stream = NULL;
    void *run = NULL;
    uint64_t size = 0, expected;

    memset(cube, 0, sizeof *cube);
    if (kept)
        *kept = (struct kept_pixels){0};
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
    if (data_path)
        TRY(check_named(&header, header_path, data_path));
    else
        TRY(find_data(&header, header_path, &data_path));
    TRY(file_open(data_path, &stream, &size));
    /* At most 2^30 lines of 2^30 samples of 2^3 bytes: no overflow. */
    expected = header.offset + header.lines * header.samples * header.bands * file_sample_size(header.sample);
    if (size != expected) {
        status = status_set(STATUS_BAD_INPUT, "%s: %llu bytes where its header %s says %llu", data_path,
                            (unsigned long long)size, header_path, (unsigned long long)expected);
        goto out;
    }
    status = array_create(cube, (int)header.samples, (int)header.lines, header.kept, file_sample_type(header.sample));
    if (status != STATUS_OK) {
        status_set(status, "%s: %s", path, status_message());
        goto out;
    }
    run = malloc(header.samples * (header.interleave == BIP ? header.bands : 1) * pixel_size(cube->type));
    if (!run)
        status = status_set(STATUS_NO_MEMORY, "%s: no memory", path);
    else if (fseek(stream, (long)header.offset, SEEK_SET) != 0 || !read_samples(stream, &header, cube, run))
        status = status_set(STATUS_BAD_INPUT, "%s: cannot be read to its end", data_path);
    else if (header.values[IGNORE])
        status = kept_choose(cube, header.ignore, path, kept);
out:
    if (stream)
        fclose(stream);
    if (status != STATUS_OK)
        image_free(cube);
    free(header.places);
    free(run);
    free(text);
    free(data_path);
    free(header_path);
    return status;
}
