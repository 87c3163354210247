#include "common/cli/cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/core/text.h"
#include "common/cuda/streams_queue.h"

int cli_fail(const char *format, ...)
{
    va_list arguments;
    char text[8192];

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    /* File names and arguments can hold line ends and escape sequences: a message is one line and plain text. */
    text_make_plain(text, sizeof text);
    fflush(stdout);
    fprintf(stderr, "rungs: %s\n", text);
    return CLI_BAD_USE;
}

int cli_fail_status(void)
{
    return cli_fail("%s", status_message());
}

enum status cli_find(const char *text, const struct algorithm **algorithm, const struct version **version)
{
    const char *colon = strchr(text, ':');
    struct version *const *versions;
    size_t count;
    char name[64];

    snprintf(name, sizeof name, "%.*s", colon ? (int)(colon - text) : (int)strlen(text), text);
    *version = NULL;
    *algorithm = registry_find_algorithm(name);
    if (!*algorithm) {
        char all[512] = "";

        for (const struct algorithm *a = registry_algorithms(); a; a = a->next)
            snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", all[0] ? ", " : "", a->name);
        return status_set(STATUS_BAD_INPUT, "no algorithm '%s'; there is %s", name, all);
    }
    registry_versions(*algorithm, &versions, &count);
    if (count == 0) /* common/build/ladders.mk */
        return status_set(STATUS_BAD_INPUT,
                          "this program has no ladder of %s; `make rungs-%s` builds one, `make` one with all", name,
                          name);
    return colon ? registry_find_version(*algorithm, colon + 1, version) : STATUS_OK;
}

enum status cli_parse_int(const char *option, const char *text, long minimum, long maximum, int *value)
{
    char *end;
    long number;

    errno = 0;
    number = strtol(text, &end, 10);
    if (end == text || *end)
        return status_set(STATUS_BAD_INPUT, "%s: '%s' is not a whole number", option, text);
    if (errno || number < minimum || number > maximum)
        return status_set(STATUS_BAD_INPUT, "%s: %s is outside %ld to %ld", option, text, minimum, maximum);
    *value = (int)number;
    return STATUS_OK;
}

enum status cli_set_in_flight(const char *text)
{
    enum status status = STATUS_OK;
    int most;

    TRY(cli_parse_int("--in-flight", text, 1, STREAMS_QUEUE_MOST, &most));
    streams_queue_set_depth(most);
    registry_set_queue(most > 1 ? &streams_queue : NULL);
out:
    return status;
}

enum status cli_parse_size(const char *option, const char *text, int *width, int *height)
{
    char rest;

    if (sscanf(text, "%5dx%5d%c", width, height, &rest) != 2 || *width < 1 || *height < 1 || *width > IMAGE_MAX_SIDE ||
        *height > IMAGE_MAX_SIDE)
        return status_set(STATUS_BAD_INPUT, "%s: '%s' is not a size such as 1920x1080, each side 1 to %d", option, text,
                          IMAGE_MAX_SIDE);
    return STATUS_OK;
}

enum status cli_append(struct cli_list_option *list, const char *item)
{
    const char **items = realloc(list->items, (list->count + 1) * sizeof *items);

    if (!items)
        return status_set(STATUS_NO_MEMORY, "no memory for option values");
    items[list->count++] = item;
    list->items = items;
    return STATUS_OK;
}
