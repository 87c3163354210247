#include "common/core/json_file.h"

#include <stdlib.h>
#include <string.h>

#include "common/core/file.h"

enum status json_file_write(json_t *document, int digits, const char *path)
{
    enum status status = STATUS_OK;
    struct output_file file = {0};
    char *text = document ? json_dumps(document, JSON_INDENT(2) | JSON_REAL_PRECISION(digits)) : NULL;

    if (!text) {
        status = status_set(STATUS_FAILED, "%s: the results cannot be put into JSON (text that is not UTF-8?)", path);
        goto out;
    }
    TRY(file_create(&file, path));
    file_write(&file, text, strlen(text));
    file_write(&file, "\n", 1);
    TRY(file_commit(&file));
out:
    file_discard(&file);
    free(text);
    json_decref(document);
    return status;
}
