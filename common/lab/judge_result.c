#include "common/lab/judge_result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/core/file.h"
#include "common/remote/remote.h"

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

void judge_add_prints(json_t *result)
{
    static char text[1 << 16];

    for (int on_stderr = 0; on_stderr < 2; on_stderr++) {
        json_t *lines = json_array();

        remote_heard(on_stderr, text, sizeof text);
        for (char *rest = text, *line; (line = strsep(&rest, "\n"));)
            if (rest || *line)
                json_array_append_new(lines, judge_text(line));
        json_object_set_new(result, on_stderr ? "complained" : "printed", lines);
    }
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
