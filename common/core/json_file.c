#include "common/core/json_file.h"

#include <stdlib.h>
#include <string.h>

#include "common/core/text.h"

json_t *json_plain(const char *text)
{
    char *plain = text_plain_copy(text);
    json_t *value = plain ? json_string(plain) : NULL;

    free(plain);
    return value;
}

static void set_plain(json_t *object, const char *name, json_t *value)
{
    char *plain = text_plain_copy(name);

    if (plain)
        json_object_set_new(object, plain, value);
    else
        json_decref(value);
    free(plain);
}

/* A new document in which every text is plain; NULL when there is no memory. */
static json_t *plain_copy(const json_t *value)
{
    json_t *copy, *item;
    const char *name;
    size_t place;

    if (json_is_string(value))
        return json_plain(json_string_value(value));
    if (json_is_array(value)) {
        copy = json_array();
        json_array_foreach(value, place, item) json_array_append_new(copy, plain_copy(item));
        return copy;
    }
    if (json_is_object(value)) {
        copy = json_object();
        json_object_foreach((json_t *)value, name, item) set_plain(copy, name, plain_copy(item));
        return copy;
    }
    return json_deep_copy(value);
}

enum status json_file_read(json_t **document, const char *path, size_t most, const char *what)
{
    enum status status = STATUS_OK;
    FILE *stream = NULL;
    uint64_t size = 0;
    json_error_t error;
    json_t *read = NULL;

    *document = NULL;
    TRY(file_open(path, &stream, &size));
    if (size > most) {
        status = status_set(STATUS_BAD_INPUT, "%s: larger than %zu MiB: not %s", path, most >> 20, what);
        goto out;
    }
    read = json_loadf(stream, JSON_REJECT_DUPLICATES, &error);
    if (!read) {
        /* It quotes what it does not understand. */
        text_make_plain(error.text, sizeof error.text);
        status = status_set(STATUS_BAD_INPUT, "%s:%d: not valid JSON: %s", path, error.line, error.text);
        goto out;
    }
    *document = plain_copy(read);
    if (!*document)
        status = status_set(STATUS_NO_MEMORY, "%s: no memory", path);
out:
    json_decref(read);
    if (stream)
        fclose(stream);
    return status;
}

enum status json_file_write(json_t *document, int digits, struct output_file *file)
{
    enum status status = STATUS_OK;
    char *text = document ? json_dumps(document, JSON_INDENT(2) | JSON_REAL_PRECISION(digits)) : NULL;

    if (!text) {
        status =
            status_set(STATUS_FAILED, "%s: the results cannot be put into JSON (text that is not UTF-8?)", file->path);
        goto out;
    }
    file_write(file, text, strlen(text));
    file_write(file, "\n", 1);
    TRY(file_commit(file));
out:
    file_discard(file);
    free(text);
    json_decref(document);
    return status;
}
