#include "common/lab/judge_result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/core/file.h"

json_t *judge_text(const char *characters)
{
    json_t *string = json_string(characters);

    if (!string) {
        char clean[1024];

        snprintf(clean, sizeof clean, "%s", characters);
        for (char *c = clean; *c; c++)
            if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
                *c = '?';
        string = json_string(clean);
    }
    return string;
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
