#include "common/contract/parameters.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/contract/registry.h"
#include "common/core/paths.h"

static void append_name(char *list, size_t size, const char *name)
{
    size_t used = strlen(list);

    snprintf(list + used, size - used, "%s%s", used ? ", " : "", name);
}

/* ------------------------------------------------------------------------------------------- parameter sets */

static void set_presets(const struct algorithm *algorithm, void *params)
{
    memset(params, 0, algorithm->params_size);
    for (const struct parameter *p = algorithm->parameters; p->name; p++) {
        char *field = (char *)params + p->offset;

        if (p->kind == PARAMETER_MODEL)
            continue; /* opened once it is clear that no other file is named */
        if (p->kind == PARAMETER_TEXT)
            snprintf(field, PARAMETER_TEXT_SIZE, "%s", p->words ? p->words[0] : "");
        else if (p->kind == PARAMETER_REAL)
            *(double *)field = p->preset;
        else
            *(int *)field = (int)p->preset;
    }
}

void params_keep_own_steps(const struct algorithm *algorithm, const char *id, void *params)
{
    for (const struct parameter *p = algorithm->parameters; p && p->name; p++) {
        char *named = (char *)params + p->offset;

        if (p->swaps_step && side_of(named) != side_of(id))
            snprintf(named, PARAMETER_TEXT_SIZE, "%s", p->words ? p->words[0] : "");
    }
}

/* A relative path is looked for from the working directory, then from the top of the source tree, where the contracts'
 * own settings have their files. */
static enum status open_model(struct model *model, const char *path, model_loader load)
{
    char own[2 * MODEL_PATH_SIZE];

    snprintf(own, sizeof own, "%s/%s", paths_root() ? paths_root() : ".", path);
    if (path[0] != '/' && access(path, F_OK) != 0 && access(own, F_OK) == 0)
        path = paths_from_here(own);
    return model_open(model, path, load);
}

static enum status parse_number(const char *name, const char *value, bool whole, double minimum, double maximum,
                                double *number)
{
    char *end;

    errno = 0;
    *number = strtod(value, &end);
    if (end == value || *end || isnan(*number))
        return status_set(STATUS_BAD_INPUT, "parameter %s: '%s' is not a number", name, value);
    if (!(*number >= minimum && *number <= maximum))
        return status_set(STATUS_BAD_INPUT, "parameter %s: %s is outside %.10g to %.10g", name, value, minimum,
                          maximum);
    if (whole && *number != floor(*number))
        return status_set(STATUS_BAD_INPUT, "parameter %s: %s is not a whole number", name, value);
    return STATUS_OK;
}

static enum status set_parameter(const struct parameter *p, const char *value, void *params)
{
    enum status status = STATUS_OK;
    char *field = (char *)params + p->offset;
    double number = 0;

    if (p->kind == PARAMETER_CHOICE) {
        char words[256] = "";

        for (int i = 0; p->words[i]; i++) {
            if (strcmp(p->words[i], value) == 0) {
                *(int *)field = i;
                return STATUS_OK;
            }
            append_name(words, sizeof words, p->words[i]);
        }
        return status_set(STATUS_BAD_INPUT, "parameter %s: '%s' is none of %s", p->name, value, words);
    }
    if (p->kind == PARAMETER_MODEL && !*value)
        return status_set(STATUS_BAD_INPUT, "parameter %s: names no file", p->name);
    if (p->kind == PARAMETER_MODEL)
        return open_model((struct model *)field, value, p->load);
    if (p->kind == PARAMETER_TEXT) {
        if (strlen(value) >= PARAMETER_TEXT_SIZE)
            return status_set(STATUS_BAD_INPUT, "parameter %s: longer than %d characters", p->name,
                              PARAMETER_TEXT_SIZE - 1);
        snprintf(field, PARAMETER_TEXT_SIZE, "%s", value);
        return STATUS_OK;
    }
    for (int i = 0; p->kind == PARAMETER_INT && p->words && p->words[i]; i++)
        if (strcmp(p->words[i], value) == 0) {
            *(int *)field = -1 - i;
            return STATUS_OK;
        }
    TRY(parse_number(p->name, value, p->kind == PARAMETER_INT, p->minimum, p->maximum, &number));
    if (p->kind == PARAMETER_INT)
        *(int *)field = (int)number;
    else
        *(double *)field = number;
out:
    return status;
}

static const char *tunable_text(const struct tunable *tunable, int value, char number[16])
{
    for (int i = 0; tunable->words && tunable->legal[i]; i++)
        if (tunable->legal[i] == value)
            return tunable->words[i];
    snprintf(number, 16, "%d", value);
    return number;
}

enum status tunable_set(const struct tunable *tunable, const char *value)
{
    enum status status = STATUS_OK;
    double number = 0;
    char legal[256] = "", text[16];

    if (!tunable->words)
        TRY(parse_number(tunable->name, value, true, 0, INT_MAX, &number));
    for (int i = 0; tunable->legal[i]; i++) {
        const char *word = tunable_text(tunable, tunable->legal[i], text);

        if (tunable->words ? strcmp(word, value) == 0 : tunable->legal[i] == (int)number) {
            *tunable->value = tunable->legal[i];
            return STATUS_OK;
        }
        append_name(legal, sizeof legal, word);
    }
    return status_set(STATUS_BAD_INPUT, "parameter %s: %s is none of %s", tunable->name, value, legal);
out:
    return status;
}

struct tunable *version_tunable(const struct version *version, const char *name)
{
    for (struct tunable *tunable = version->tunables; tunable && tunable->name; tunable++)
        if (strcmp(tunable->name, name) == 0)
            return tunable;
    return NULL;
}

void tunable_describe(const struct tunable *tunable, int value, char *text, size_t size)
{
    const size_t used = strlen(text);
    char number[16];

    snprintf(text + used, size - used, "%s%s=%s", used ? " " : "", tunable->name, tunable_text(tunable, value, number));
}

void version_describe_tunables(const struct version *version, char *text, size_t size)
{
    text[0] = '\0';
    for (const struct tunable *tunable = version->tunables; tunable && tunable->name; tunable++)
        tunable_describe(tunable, *tunable->value, text, size);
}

enum status version_check_tunables(const struct version *version, const struct image in[], const void *params)
{
    const char *why = version->illegal ? version->illegal(in, params) : NULL;
    char values[256];

    if (!why)
        return STATUS_OK;
    version_describe_tunables(version, values, sizeof values);
    return status_set(STATUS_BAD_INPUT, "%s:%s: %s: %s", version->algorithm->name, version->source->id, values, why);
}

static enum status unknown_parameter(const struct algorithm *algorithm, const struct version *version, const char *name)
{
    char known[512] = "";

    for (const struct parameter *p = algorithm->parameters; p->name; p++)
        append_name(known, sizeof known, p->name);
    if (version)
        for (const struct tunable *tunable = version->tunables; tunable && tunable->name; tunable++)
            append_name(known, sizeof known, tunable->name);
    return status_set(STATUS_BAD_INPUT, "%s%s%s has no parameter '%s'; it has %s", algorithm->name, version ? ":" : "",
                      version ? version->source->id : "", name, known);
}

static enum status assign(const struct algorithm *algorithm, const struct version *const *list, size_t count,
                          const char *assignment, void *params)
{
    enum status status = STATUS_OK;
    const char *equals = strchr(assignment, '=');
    char name[64];

    if (!equals || equals == assignment)
        return status_set(STATUS_BAD_INPUT, "parameter '%s' must look like name=value", assignment);
    snprintf(name, sizeof name, "%.*s", (int)(equals - assignment), assignment);

    for (const struct parameter *p = algorithm->parameters; p->name; p++)
        if (strcmp(p->name, name) == 0)
            return set_parameter(p, equals + 1, params);
    if (count == 0)
        return unknown_parameter(algorithm, NULL, name);
    for (size_t i = 0; i < count; i++)
        if (!version_tunable(list[i], name))
            return unknown_parameter(algorithm, list[i], name);
    for (size_t i = 0; i < count; i++)
        TRY(tunable_set(version_tunable(list[i], name), equals + 1));
out:
    return status;
}

bool params_assigned(const char *const *assignments, size_t assignment_count, const char *name)
{
    const size_t length = strlen(name);

    for (size_t i = 0; i < assignment_count; i++)
        if (strncmp(assignments[i], name, length) == 0 && assignments[i][length] == '=')
            return true;
    return false;
}

/* Of the models that no assignment named: the file that comes with the source tree. */
static enum status open_default_models(const struct algorithm *algorithm, void *params)
{
    enum status status = STATUS_OK;
    char path[4096];

    for (const struct parameter *p = algorithm->parameters; p->name; p++) {
        struct model *model = (struct model *)((char *)params + p->offset);

        if (p->kind != PARAMETER_MODEL || model->path[0] || !p->words)
            continue;
        snprintf(path, sizeof path, "%s%s%s", paths_root() ? paths_root() : "", paths_root() ? "/" : "", p->words[0]);
        TRY(model_open(model, paths_from_here(path), p->load));
    }
out:
    return status;
}

enum status params_parse(const struct algorithm *algorithm, const struct version *const *list, size_t count,
                         const char *const *assignments, size_t assignment_count, void *params)
{
    enum status status = STATUS_OK;

    set_presets(algorithm, params);
    for (size_t i = 0; i < assignment_count; i++)
        TRY(assign(algorithm, list, count, assignments[i], params));
    TRY(open_default_models(algorithm, params));
    if (algorithm->finish)
        TRY(algorithm->finish(params));
out:
    return status;
}

enum status params_parse_text(const struct algorithm *algorithm, const char *text, void *params)
{
    enum status status = STATUS_OK;
    char copy[256];
    const char *assignments[32];
    size_t count = 0;
    char *rest = copy;

    if (strlen(text) >= sizeof copy)
        return status_set(STATUS_BAD_INPUT, "settings longer than %zu characters", sizeof copy - 1);
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word; (word = strtok_r(rest, " ", &rest));) {
        if (count == sizeof assignments / sizeof assignments[0])
            return status_set(STATUS_BAD_INPUT, "more than %zu settings in one text", count);
        assignments[count++] = word;
    }
    TRY(params_parse(algorithm, NULL, 0, assignments, count, params));
out:
    return status;
}

void params_describe(const struct algorithm *algorithm, const void *params, char *text, size_t size)
{
    if (algorithm->describe)
        algorithm->describe(params, text, size);
    else
        snprintf(text, size, "no parameters");
}
