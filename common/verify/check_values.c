#include "common/verify/check_values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/image/pattern.h"

enum status case_add(struct case_list *list, struct check_case item)
{
    if (list->count == list->capacity) {
        const size_t capacity = list->capacity ? 2 * list->capacity : 128;
        struct check_case *items = realloc(list->items, capacity * sizeof *items);

        if (!items)
            return status_set(STATUS_NO_MEMORY, "no memory for the list of cases");
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count++] = item;
    return STATUS_OK;
}

enum check_calls case_one_call_of(size_t number)
{
    return number % 2 ? CHECK_ONE_LAUNCH : CHECK_ONE_RUN;
}

enum check_calls case_one_call(const struct case_list *list)
{
    return case_one_call_of(list->count);
}

const char *case_keep_settings(struct case_list *list, const struct algorithm *algorithm, const char *settings)
{
    void *params = calloc(1, algorithm->params_size);
    char **texts = realloc(list->texts, (list->text_count + 1) * sizeof *texts);
    char *text = NULL;

    if (texts)
        list->texts = texts;
    if (texts && params && params_parse_text(algorithm, settings, params) == STATUS_OK && (text = strdup(settings)))
        list->texts[list->text_count++] = text;
    free(params);
    return text;
}

bool check_settings_name(const char *settings, const char *parameter)
{
    const size_t length = strlen(parameter);

    for (const char *at = settings; (at = strstr(at, parameter)); at += length)
        if ((at == settings || at[-1] == ' ') && at[length] == '=')
            return true;
    return false;
}

bool value_is_drawn(const struct parameter *p)
{
    return p->kind == PARAMETER_INT || p->kind == PARAMETER_REAL || p->kind == PARAMETER_CHOICE;
}

static double largest_tried(const struct parameter *p)
{
    return p->check_maximum > 0 ? p->check_maximum : p->maximum;
}

int value_first(const struct parameter *p, int *count)
{
    int words = 0;

    *count = 0;
    while (p->words && p->words[words])
        words++;
    if (p->kind == PARAMETER_REAL)
        return 0;
    if (p->kind == PARAMETER_CHOICE) {
        *count = words;
        return 0;
    }
    *count = (int)(largest_tried(p) - p->minimum) + 1 + words;
    return (int)p->minimum - words;
}

void value_append(char *text, size_t size, const struct parameter *p, int index)
{
    const size_t length = strlen(text);
    int count;
    const int value = value_first(p, &count) + index, below = (int)p->minimum - value;
    const char *const blank = length ? " " : "";

    if (p->kind == PARAMETER_CHOICE)
        snprintf(text + length, size - length, "%s%s=%s", blank, p->name, p->words[value]);
    else if (below > 0) /* a word: the first one stands nearest to the range */
        snprintf(text + length, size - length, "%s%s=%s", blank, p->name, p->words[below - 1]);
    else
        snprintf(text + length, size - length, "%s%s=%d", blank, p->name, value);
}

void value_append_drawn(char *text, size_t size, const struct parameter *p, uint64_t *random)
{
    const size_t length = strlen(text);
    const double share = (double)(pattern_random(random) >> 11) * 0x1p-53, range = p->maximum - p->minimum;
    int count;

    value_first(p, &count);
    const bool evenly = pattern_random(random) % 4 == 0 && count <= MANY_VALUES;

    if (p->kind == PARAMETER_REAL)
        snprintf(text + length, size - length, "%s%s=%.4g", length ? " " : "", p->name,
                 p->minimum + (evenly ? share * range : range * expm1(share * log1p(999)) / 999));
    else if (count <= SHARED_VALUES || evenly)
        value_append(text, size, p, (int)(share * count));
    else
        value_append(text, size, p, (int)fmin(expm1(share * log1p(count)), count - 1));
}

void value_append_end(char *text, size_t size, const struct parameter *p, bool upper)
{
    const size_t length = strlen(text);
    int values;

    value_first(p, &values);
    if (p->kind == PARAMETER_REAL)
        snprintf(text + length, size - length, "%s%s=%.9g", length ? " " : "", p->name,
                 upper ? largest_tried(p) : p->minimum);
    else
        value_append(text, size, p, upper ? values - 1 : 0);
}

void value_append_end_beside(char *text, size_t size, const struct parameter *p, bool upper)
{
    enum { UPPER = 300 };
    int values;

    value_first(p, &values);
    if (upper && p->kind == PARAMETER_INT && values > MANY_VALUES)
        value_append(text, size, p, UPPER);
    else
        value_append_end(text, size, p, upper);
}

struct check_case check_values_case(const struct algorithm *algorithm)
{
    enum { WIDTH = 19, HEIGHT = 17 };
    struct check_case item = {.width = WIDTH,
                              .height = HEIGHT,
                              .channels = algorithm->check_channels ? algorithm->check_channels[0] : 1,
                              .pattern = PATTERN_RANDOM,
                              .calls = CHECK_ONE_RUN};

    for (int i = 0; algorithm->check_shapes && algorithm->check_shapes[i][0]; i++) {
        const int *shape = algorithm->check_shapes[i];

        item.channels = shape[2];
        item.width = shape[0];
        item.height = shape[1];
        if (shape[0] > 8 && shape[1] > 8 && shape[0] * shape[1] * shape[2] >= WIDTH * HEIGHT)
            break;
    }
    return item;
}
