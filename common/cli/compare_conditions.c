#include "common/cli/compare_conditions.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void compare_show(const json_t *value, char *text, size_t size)
{
    char *dumped = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6) | JSON_COMPACT) : NULL;

    if (json_is_string(value))
        snprintf(text, size, "%s", json_string_value(value));
    else
        snprintf(text, size, "%s", dumped && !json_is_null(value) ? dumped : "none");
    free(dumped);
}

void compare_append(char *text, size_t size, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}

void compare_difference(char *reasons, const char *what, const json_t *a, const json_t *b)
{
    char from[160], to[160];

    if ((!a && !b) || (a && b && json_equal(a, b)))
        return;
    compare_show(a, from, sizeof from);
    compare_show(b, to, sizeof to);
    compare_append(reasons, COMPARE_REASON, "%s%s: %s -> %s", reasons[0] ? "; " : "", what, from, to);
}

void compare_differences(char *reasons, const char *const *keys, const json_t *a, const json_t *b)
{
    for (; *keys; keys++)
        compare_difference(reasons, *keys, json_object_get(a, *keys), json_object_get(b, *keys));
}

void compare_find_conditions(const struct compare_results *a, const struct compare_results *b,
                             struct compare_conditions *conditions)
{
    static const char *const work[] = {"width", "height", "channels", "type", "frames", "input", "pinned", NULL};
    static const char *const cpu[] = {"cpu", "cores", NULL}, *const build[] = {"compiler", "flags", NULL};
    static const char *const gpu_notes[] = {"driver", "cuda", NULL};
    const json_t *machine_a = json_object_get(a->document, "machine"),
                 *machine_b = json_object_get(b->document, "machine");
    const json_t *gpu_a = json_object_get(machine_a, "gpu"), *gpu_b = json_object_get(machine_b, "gpu");
    const json_t *params_a = json_object_get(a->document, "params"), *params_b = json_object_get(b->document, "params");
    const char *key;
    json_t *value;

    memset(conditions, 0, sizeof *conditions);
    compare_differences(conditions->work, work, a->document, b->document);
    json_object_foreach((json_t *)params_a, key, value)
        compare_difference(conditions->work, key, value, json_object_get(params_b, key));
    json_object_foreach((json_t *)params_b, key, value) if (!json_object_get(params_a, key))
        compare_difference(conditions->work, key, NULL, value);
    compare_differences(conditions->cpu, cpu, machine_a, machine_b);
    if (a->kind != COMPARE_TUNE)
        compare_difference(conditions->cpu, "threads", json_object_get(a->document, "threads"),
                           json_object_get(b->document, "threads"));
    compare_difference(conditions->gpu, "GPU", json_object_get(gpu_a, "name"), json_object_get(gpu_b, "name"));
    compare_differences(conditions->notes, build, machine_a, machine_b);
    if (json_is_object(gpu_a) && json_is_object(gpu_b))
        compare_differences(conditions->notes, gpu_notes, gpu_a, gpu_b);
    if (a->kind == COMPARE_PROFILE)
        compare_difference(conditions->notes, "version", json_object_get(json_object_get(a->document, "bench"), "id"),
                           json_object_get(json_object_get(b->document, "bench"), "id"));
}
