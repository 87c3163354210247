#include "common/algo/barcode/known.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/core/file.h"

const char *barcode_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Cuts off and gives back what is before the next comma; NULL at the end. In quotation marks a comma counts as a
 * letter, and two marks as one (RFC 4180); *whole becomes false where they do not end with the field. */
static char *next_field(char **rest, bool *whole)
{
    char *field = *rest, *to = field, *from;

    if (!field)
        return NULL;
    if (*field != '"') {
        *rest = strchr(field, ',');
        if (*rest)
            *(*rest)++ = '\0';
        return field;
    }
    for (from = field + 1; *from && (*from != '"' || from[1] == '"'); from++) {
        from += *from == '"';
        *to++ = *from;
    }
    *whole = *whole && *from == '"' && (from[1] == ',' || from[1] == '\0');
    *rest = *whole && from[1] == ',' ? from + 2 : NULL;
    *to = '\0';
    return field;
}

enum { MOST_COORDINATE = 1 << 24 };
enum { FILE_COLUMN, X_MIN, Y_MIN, X_MAX, Y_MAX, COLUMNS };

/* Which field each column is, from the header line. */
static enum status read_header(const char *path, char *line, int fields[COLUMNS])
{
    static const char *const names[] = {"file", "xmin", "ymin", "xmax", "ymax"};
    char *rest = line, *field;
    bool whole = true;

    for (int c = 0; c < COLUMNS; c++)
        fields[c] = -1;
    for (int at = 0; (field = next_field(&rest, &whole)); at++)
        for (int c = 0; c < COLUMNS; c++)
            if (strcmp(field, names[c]) == 0)
                fields[c] = at;
    for (int c = 0; c < COLUMNS; c++)
        if (fields[c] < 0)
            return status_set(STATUS_BAD_INPUT, "%s: its first line has no column '%s'", path, names[c]);
    return STATUS_OK;
}

static enum status read_box(const char *path, int number, char *line, const int fields[COLUMNS],
                            struct barcode_known_box *box)
{
    int *const values[] = {NULL, &box->x_min, &box->y_min, &box->x_max, &box->y_max};
    char *rest = line, *field;
    bool whole = true;
    int found = 0;

    for (int at = 0; (field = next_field(&rest, &whole)); at++)
        for (int c = 0; c < COLUMNS; c++) {
            char *end = field;
            long value;
            if (fields[c] != at)
                continue;
            found++;
            if (c == FILE_COLUMN) {
                snprintf(box->file, sizeof box->file, "%s", barcode_file_name(field));
                continue;
            }
            value = strtol(field, &end, 10);
            if (end == field || *end || value < -MOST_COORDINATE || value > MOST_COORDINATE)
                return status_set(STATUS_BAD_INPUT, "%s:%d: '%s' is no whole number of pixels", path, number, field);
            *values[c] = (int)value;
        }
    if (!whole)
        return status_set(STATUS_BAD_INPUT, "%s:%d: a quotation mark without its end", path, number);
    if (found < COLUMNS || box->x_max <= box->x_min || box->y_max <= box->y_min)
        return status_set(STATUS_BAD_INPUT, "%s:%d: no box of a file (file, xmin, ymin, xmax, ymax)", path, number);
    return STATUS_OK;
}

enum status barcode_read_known(const char *path, struct barcode_known *known)
{
    static const char mark[] = "\xef\xbb\xbf"; /* of UTF-8, as spreadsheets write it */
    FILE *stream = NULL;
    uint64_t size;
    char line[1024];
    int fields[COLUMNS];
    enum status status = STATUS_OK;

    TRY(file_open(path, &stream, &size));
    for (int number = 1; fgets(line, sizeof line, stream); number++) {
        struct barcode_known_box box = {.file = ""}, *items;
        if (strlen(line) == sizeof line - 1) {
            status = status_set(STATUS_BAD_INPUT, "%s:%d: a line of more than %zu characters", path, number,
                                sizeof line - 2);
            goto out;
        }
        line[strcspn(line, "\r\n")] = '\0';
        if (number == 1) {
            TRY(read_header(path, strncmp(line, mark, sizeof mark - 1) == 0 ? line + sizeof mark - 1 : line, fields));
            continue;
        }
        if (!line[0])
            continue;
        TRY(read_box(path, number, line, fields, &box));
        items = realloc(known->items, (known->count + 1) * sizeof *items);
        if (!items) {
            status = status_set(STATUS_NO_MEMORY, "%s: no memory for its boxes", path);
            goto out;
        }
        known->items = items;
        known->items[known->count++] = box;
    }
    if (known->count == 0)
        status = status_set(STATUS_BAD_INPUT, "%s: there is no box in it", path);
out:
    if (stream)
        fclose(stream);
    return status;
}
