#include "common/verify/case_settings.h"

#include <stdio.h>
#include <string.h>

#include "common/contract/pipeline.h"
#include "common/image/pattern.h"
#include "common/verify/check_values.h"

enum status case_parse_settings(const struct algorithm *algorithm, const char *settings, void *params)
{
    char text[256];

    snprintf(text, sizeof text, "%s", settings ? settings : "");
    for (const struct parameter *p = algorithm->parameters; p && p->name; p++) {
        const size_t length = strlen(text);

        if (p->check_maximum > 0 && p->preset > p->check_maximum && !check_settings_name(text, p->name))
            snprintf(text + length, sizeof text - length, "%s%s=%g", length ? " " : "", p->name, p->check_maximum);
    }
    if (params_parse_text(algorithm, text, params) == STATUS_OK)
        return STATUS_OK;
    return params_parse_text(algorithm, settings ? settings : "", params);
}

void case_describe(const struct algorithm *algorithm, const struct check_case *item, const void *params, char *text,
                   size_t size)
{
    char settings[256] = "";

    params_describe(algorithm, params, settings, sizeof settings);
    if (item->between)
        snprintf(settings + strlen(settings), sizeof settings - strlen(settings), " and %s in turn", item->between);
    snprintf(text, size, "%s%dx%d, %d channel%s, %s%s, %s",
             item->frames   ? "video, "
             : item->queue  ? "many pictures, "
             : item->growth ? "memory of many calls, "
                            : "",
             item->width, item->height, item->channels, item->channels == 1 ? "" : "s",
             item->golden      ? "answer worked out by hand: "
             : item->hard_case ? "hard case: "
                               : pattern_name(item->pattern),
             item->golden      ? item->golden->name
             : item->hard_case ? item->hard_case
                               : "",
             settings);
}

bool case_find_settings(const struct version *version, const struct check_case *item, const struct image in[],
                        uint64_t seed, void *params)
{
    const struct algorithm *algorithm = version->algorithm;
    size_t count = 0;

    if (item->settings || item->golden || item->between || version_is_peer(version) || !version->declines ||
        !version->declines(in, params))
        return false;
    while (algorithm->check_settings && algorithm->check_settings[count])
        count++;
    for (size_t i = 0; i < count; i++)
        if (case_parse_settings(algorithm, algorithm->check_settings[(seed / 1000 + i) % count], params) == STATUS_OK &&
            !version->declines(in, params))
            return true;
    case_parse_settings(algorithm, NULL, params); /* the defaults again */
    return false;
}
