#include "common/cli/compare_schema.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The file itself, so that the program and the tools in Python cannot differ. */
__asm__(".section .rodata\n"
        "rungs_results_schema:\n"
        ".incbin \"results/schema.json\"\n"
        ".byte 0\n"
        ".previous\n");
extern const char text_of_schema[] __asm__("rungs_results_schema");

enum { WHERE_BYTES = 200 };

/* A text without control characters. */
#define PLAIN "^[^\\u0000-\\u001f\\u007f-\\u009f]*$"

struct checker {
    const json_t *definitions;
    char reason[512]; /* of the last thing that did not fit */
};

static bool check(struct checker *checker, const json_t *value, const json_t *rule, const char *where);

static bool no_match(struct checker *checker, const char *where, const char *what, const json_t *value)
{
    char *text = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;

    snprintf(checker->reason, sizeof checker->reason, "%s%s%s: %.60s%s%s", where[0] ? "'" : "", where[0] ? where : "it",
             where[0] ? "'" : "", text ? text : "", text ? " " : "", what);
    free(text);
    return false;
}

/* ----------------------------------------------------------------------------------------------- patterns */

/* The code point at *text, which is valid UTF-8, and the place after it. */
static uint32_t next_point(const char **text)
{
    const unsigned char *at = (const unsigned char *)*text;
    const int length = at[0] < 0x80 ? 1 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
    uint32_t point = length == 1 ? at[0] : at[0] & (0xffu >> (length + 1));

    for (int i = 1; i < length; i++)
        point = point << 6 | (at[i] & 0x3f);
    *text += length;
    return point;
}

/* The same in a pattern, where it may be spelled \u001f. */
static uint32_t next_pattern_point(const char **pattern)
{
    unsigned point;

    if (sscanf(*pattern, "\\u%4x", &point) != 1)
        return next_point(pattern);
    *pattern += strlen("\\u001f");
    return point;
}

/* Whether a point fits the class [...] or character at *pattern. A class has single points and ranges; '-' stands
 * last. */
static bool fits_class(const char *pattern, uint32_t point)
{
    bool inside = false, negated;

    if (*pattern != '[')
        return next_point(&pattern) == point;
    negated = *++pattern == '^';
    pattern += negated;
    while (*pattern != ']') {
        const uint32_t low = next_pattern_point(&pattern);
        uint32_t high = low;

        if (*pattern == '-' && pattern[1] != ']') {
            pattern++;
            high = next_pattern_point(&pattern);
        }
        inside = inside || (point >= low && point <= high);
    }
    return inside != negated;
}

/* "^...$" of classes and characters, each perhaps with + or *, of which none can take what the next one needs. */
static bool fits_pattern(const char *text, const char *pattern)
{
    for (pattern++; *pattern != '$';) {
        const char *after = *pattern == '[' ? strchr(pattern, ']') + 1 : pattern + 1, *next = text;
        const char quantifier = *after;
        int count = 0;

        while (*text && (count == 0 || quantifier == '+' || quantifier == '*') &&
               fits_class(pattern, next_point(&next))) {
            text = next;
            count++;
        }
        if (count == 0 && quantifier != '*')
            return false;
        pattern = after + (quantifier == '+' || quantifier == '*');
    }
    return *text == '\0';
}

/* -------------------------------------------------------------------------------------------------- rules */

static bool is_of(const json_t *value, const char *type)
{
    return (strcmp(type, "object") == 0 && json_is_object(value)) ||
           (strcmp(type, "array") == 0 && json_is_array(value)) ||
           (strcmp(type, "string") == 0 && json_is_string(value)) ||
           (strcmp(type, "boolean") == 0 && json_is_boolean(value)) ||
           (strcmp(type, "null") == 0 && json_is_null(value)) ||
           (strcmp(type, "number") == 0 && json_is_number(value)) ||
           (strcmp(type, "integer") == 0 && json_is_integer(value));
}

/* Of one type, or of one of several. */
static bool fits_type(const json_t *value, const json_t *types)
{
    const json_t *type;
    size_t place;

    if (json_is_string(types))
        return is_of(value, json_string_value(types));
    json_array_foreach((json_t *)types, place, type) if (is_of(value, json_string_value(type))) return true;
    return false;
}

static bool fits_limits(const json_t *value, const json_t *rule)
{
    const json_t *least = json_object_get(rule, "minimum"), *most = json_object_get(rule, "maximum"),
                 *below = json_object_get(rule, "exclusiveMinimum");
    const double number = json_number_value(value);

    return (!least || number >= json_number_value(least)) && (!below || number > json_number_value(below)) &&
           (!most || number <= json_number_value(most));
}

static bool check_object(struct checker *checker, const json_t *value, const json_t *rule, const char *where)
{
    const json_t *properties = json_object_get(rule, "properties"),
                 *others = json_object_get(rule, "additionalProperties");
    json_t *name, *item;
    char inner[WHERE_BYTES];
    const char *key;
    size_t place;

    json_array_foreach(json_object_get(rule, "required"), place,
                       name) if (!json_object_get(value, json_string_value(name)))
    {
        snprintf(inner, sizeof inner, "has no '%s'", json_string_value(name));
        return no_match(checker, where, inner, NULL);
    }
    json_object_foreach((json_t *)value, key, item)
    {
        const json_t *known = json_object_get(properties, key);

        if (!fits_pattern(key, PLAIN))
            return no_match(checker, where, "has a name with control characters", NULL);
        known = known ? known : others;
        snprintf(inner, sizeof inner, "%.100s%s%.90s", where, where[0] ? "." : "", key);
        if (known && !check(checker, item, known, inner))
            return false;
    }
    return true;
}

static bool check_any(struct checker *checker, const json_t *value, const json_t *choices, const char *where)
{
    /* The first one says what was expected. */
    for (size_t i = 1; i < json_array_size(choices); i++)
        if (check(checker, value, json_array_get(choices, i), where))
            return true;
    return check(checker, value, json_array_get(choices, 0), where);
}

static bool check(struct checker *checker, const json_t *value, const json_t *rule, const char *where)
{
    const char *reference = json_string_value(json_object_get(rule, "$ref"));
    const char *pattern = json_string_value(json_object_get(rule, "pattern"));
    const json_t *constant = json_object_get(rule, "const"), *words = json_object_get(rule, "enum");
    const json_t *types = json_object_get(rule, "type"), *items = json_object_get(rule, "items");
    const json_t *choices = json_object_get(rule, "anyOf");
    json_t *item;
    char inner[WHERE_BYTES];
    size_t place;

    if (reference &&
        !check(checker, value, json_object_get(checker->definitions, reference + strlen("#/$defs/")), where))
        return false;
    if (choices)
        return check_any(checker, value, choices, where);
    if (constant && !json_equal(value, constant))
        return no_match(checker, where, "is not what it must be", value);
    if (words) {
        bool known = false;

        json_array_foreach((json_t *)words, place, item) known = known || json_equal(value, item);
        if (!known)
            return no_match(checker, where, "is unknown", value);
    }
    if (types && !fits_type(value, types))
        return no_match(checker, where, "has the wrong type", value);
    if (pattern && json_is_string(value) && !fits_pattern(json_string_value(value), pattern)) {
        snprintf(inner, sizeof inner, "is not %s", json_string_value(json_object_get(rule, "description")));
        return no_match(checker, where, inner, value);
    }
    if (json_is_number(value) && !fits_limits(value, rule))
        return no_match(checker, where, "is out of its range", value);
    if (json_is_object(value))
        return check_object(checker, value, rule, where);
    if (items)
        json_array_foreach((json_t *)value, place, item)
        {
            snprintf(inner, sizeof inner, "%.170s[%zu]", where, place);
            if (!check(checker, item, items, inner))
                return false;
        }
    return true;
}

enum status compare_schema_check(const json_t *document, const char *definition, const char *path)
{
    struct checker checker = {0};
    json_error_t error;
    json_t *schema = json_loads(text_of_schema, 0, &error);
    enum status status = STATUS_OK;

    if (!schema)
        return status_set(STATUS_NO_MEMORY, "no memory for results/schema.json: %s", error.text);
    checker.definitions = json_object_get(schema, "$defs");
    if (!check(&checker, document, json_object_get(checker.definitions, definition), ""))
        status = status_set(STATUS_BAD_INPUT, "%s: %s", path, checker.reason);
    json_decref(schema);
    return status;
}
