#include "common/cli/compare_renames.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The file itself, so that the program and the tools in Python cannot differ. */
__asm__(".section .rodata\n"
        "rungs_results_renames:\n"
        ".incbin \"results/renames.tsv\"\n"
        ".byte 0\n"
        ".previous\n");
extern const char text_of_renames[] __asm__("rungs_results_renames");

enum { NAME_BYTES = 64 };

struct rename {
    char algorithm[NAME_BYTES], then[NAME_BYTES], now[NAME_BYTES], moment[NAME_BYTES];
};

/* The line at *text, and *text behind it; comments are passed over. False at the end. */
static bool next_line(const char **text, struct rename *line)
{
    while (**text) {
        const char *const begin = *text;
        const size_t length = strcspn(begin, "\n");

        *text += length + (begin[length] == '\n');
        if (sscanf(begin, "%63[a-z]\t%63[^\t\n]\t%63[^\t\n]\t%63[^\t\n]", line->algorithm, line->then, line->now,
                   line->moment) == 4)
            return true;
    }
    return false;
}

/* The first moment behind `after` at which ids changed; false when there is none. */
static bool next_moment(const char *after, char moment[NAME_BYTES])
{
    const char *text = text_of_renames;
    struct rename line;
    bool found = false;

    while (next_line(&text, &line))
        if (strcmp(line.moment, after) > 0 && (!found || strcmp(line.moment, moment) < 0)) {
            snprintf(moment, NAME_BYTES, "%s", line.moment);
            found = true;
        }
    return found;
}

/* Puts the id of today in place of one of `date`; false where that is no version any more. */
static bool bring_up_to_date(const char *algorithm, const char *date, char id[NAME_BYTES])
{
    char moment[NAME_BYTES], after[NAME_BYTES];

    snprintf(after, sizeof after, "%s", date);
    while (next_moment(after, moment)) {
        const char *text = text_of_renames;
        struct rename line;

        while (next_line(&text, &line))
            if (strcmp(line.moment, moment) == 0 && strcmp(line.algorithm, algorithm) == 0 &&
                strcmp(line.then, id) == 0) {
                if (strcmp(line.now, "-") == 0)
                    return false;
                snprintf(id, NAME_BYTES, "%s", line.now);
                break;
            }
        snprintf(after, sizeof after, "%s", moment);
    }
    return true;
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "";
}

static bool update(const json_t *document, json_t *object, const char *key)
{
    char id[NAME_BYTES];

    if (!json_is_string(json_object_get(object, key)))
        return true;
    snprintf(id, sizeof id, "%s", text_of(object, key));
    if (!bring_up_to_date(text_of(document, "algorithm"), text_of(document, "date"), id))
        return false;
    json_object_set_new(object, key, json_string(id));
    return true;
}

void compare_renames_apply(json_t *document)
{
    json_t *const rows = json_object_get(document, "versions");

    for (size_t i = json_array_size(rows); i-- > 0;)
        if (!update(document, json_array_get(rows, i), "id"))
            json_array_remove(rows, i);
    update(document, json_object_get(document, "bench"), "id");
    update(document, document, "tuned_version");
}
