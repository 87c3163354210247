#include "common/lab/judge_result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/core/file.h"

json_t *judge_text(const char *characters)
{
    char clean[2048];
    json_t *string;

    /* The text may be the version's, and ends up in reports and terminals: no control characters. */
    snprintf(clean, sizeof clean, "%s", characters);
    for (char *c = clean; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = *c == '\n' ? ' ' : '?';
    string = json_string(clean);
    for (char *c = clean; !string && *c; c++)
        if ((unsigned char)*c > '~')
            *c = '?';
    return string ? string : json_string(clean);
}

enum status judge_write(json_t *result, const char *path)
{
    char *dump = json_dumps(result, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
    struct output_file file = {0};
    enum status status = STATUS_OK;

    if (!dump)
        return status_set(STATUS_NO_MEMORY, "no memory for %s", path);
    TRY(file_create(&file, path));
    file_write(&file, dump, strlen(dump));
    TRY(file_commit(&file));
out:
    file_discard(&file);
    free(dump);
    return status;
}
