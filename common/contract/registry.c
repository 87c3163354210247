#include "common/contract/registry.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/contract/device_info.h"
#include "common/contract/pipeline.h"

static struct algorithm *algorithms; /* sorted by registry_open() */
static struct version *registered;   /* in whatever order the constructors ran */
static struct version **versions;    /* sorted: algorithm, then place in the ladder */
static size_t version_count;

void registry_add_algorithm(struct algorithm *algorithm)
{
    algorithm->next = algorithms;
    algorithms = algorithm;
}

void registry_add_version(struct version *version)
{
    version->next = registered;
    registered = version;
}

/* ------------------------------------------------------------------------------------------------ opening */

static int side_rank(const char *id)
{
    return strncmp(id, "cpu/", 4) == 0 ? 0 : strncmp(id, "cuda/", 5) == 0 ? 1 : 2;
}

static int name_rank(const char *id)
{
    static const char *const ladder[] = {"cpu/serial", "cpu/omp", "cpu/simd"};
    const int steps = sizeof ladder / sizeof ladder[0];

    for (int i = 0; i < steps; i++)
        if (strcmp(id, ladder[i]) == 0)
            return i;
    return steps;
}

/* strcmp() but for runs of digits, which count as numbers: v1.9 comes before v1.10. */
static int compare_natural(const char *a, const char *b)
{
    for (;;) {
        if (*a >= '0' && *a <= '9' && *b >= '0' && *b <= '9') {
            char *a_end, *b_end;
            unsigned long a_number = strtoul(a, &a_end, 10), b_number = strtoul(b, &b_end, 10);

            if (a_number != b_number)
                return a_number < b_number ? -1 : 1;
            a = a_end;
            b = b_end;
        } else if (*a != *b || *a == '\0') {
            return (unsigned char)*a - (unsigned char)*b;
        } else {
            a++;
            b++;
        }
    }
}

static int compare_versions(const void *left, const void *right)
{
    const struct version *a = *(struct version *const *)left, *b = *(struct version *const *)right;
    int order = strcmp(a->algorithm_name, b->algorithm_name);

    if (order == 0)
        order = side_rank(a->source->id) - side_rank(b->source->id);
    if (order == 0)
        order = name_rank(a->source->id) - name_rank(b->source->id);
    if (order == 0)
        order = compare_natural(a->source->id, b->source->id);
    return order;
}

static void sort_algorithms(void)
{
    struct algorithm *sorted = NULL;

    while (algorithms) {
        struct algorithm *next = algorithms, **place = &sorted;

        algorithms = next->next;
        while (*place && strcmp((*place)->name, next->name) < 0)
            place = &(*place)->next;
        next->next = *place;
        *place = next;
    }
    algorithms = sorted;
}

static const struct version_source *find_source(const char *path)
{
    for (size_t i = 0; i < version_source_count; i++)
        if (strcmp(version_sources[i].path, path) == 0)
            return &version_sources[i];
    return NULL;
}

/* Remembers the documented defaults before anything changes them. */
static enum status keep_presets(const struct version *version)
{
    int count = 0;

    for (struct tunable *tunable = version->tunables; tunable && tunable->name; tunable++, count++) {
        const int *legal = tunable->legal;

        while (*legal && *legal != *tunable->value)
            legal++;
        if (!*legal)
            return status_set(STATUS_FAILED, "%s: the default of %s, %d, is none of its legal values", version->path,
                              tunable->name, *tunable->value);
        tunable->preset = *tunable->value;
    }
    if (count > VERSION_MAX_TUNABLES)
        return status_set(STATUS_FAILED, "%s has %d tunables, more than %d", version->path, count,
                          VERSION_MAX_TUNABLES);
    return STATUS_OK;
}

static enum status join(struct version *version)
{
    if (!version->remote) /* else whoever registered it said where it comes from */
        version->source = find_source(version->path);
    if (!version->source)
        return status_set(STATUS_FAILED, "%s registers a version, but the build does not list it", version->path);
    version->algorithm = registry_find_algorithm(version->algorithm_name);
    if (!version->algorithm)
        return status_set(STATUS_FAILED, "%s registers for algorithm %s, which has no common/algo/%s.c", version->path,
                          version->algorithm_name, version->algorithm_name);
    if (strcmp(version->source->algorithm, version->algorithm_name) != 0)
        return status_set(STATUS_FAILED, "%s registers for algorithm %s, but its folder says %s", version->path,
                          version->algorithm_name, version->source->algorithm);
    return keep_presets(version);
}

/* A version that was not built still has its place in every list, with the reason. Lives as long as the program. */
static enum status add_placeholder(const struct version_source *source)
{
    struct version *version = calloc(1, sizeof *version);

    if (!version)
        return status_set(STATUS_NO_MEMORY, "no memory for the table of versions");
    version->path = source->path;
    version->algorithm_name = source->algorithm;
    versions[version_count++] = version;
    return join(version);
}

static bool is_named(const struct version *version, const struct version *other, const char *id)
{
    return other->algorithm == version->algorithm && strcmp(other->source->id, id) == 0;
}

/* The rung that the header's From: names. */
static enum status check_from(const struct version *version)
{
    const char *from = version->source->from;

    for (size_t i = 0; i < version_count; i++)
        if (is_named(version, versions[i], from) && versions[i] != version &&
            side_rank(from) == side_rank(version->source->id))
            return STATUS_OK;
    return status_set(STATUS_FAILED, "%s: From: %s, which is no other rung of its side", version->path, from);
}

/* Puts every rung behind the one that it names, and leaves the order as it is otherwise. */
static enum status follow_from(void)
{
    struct version **ordered = calloc(version_count + 1, sizeof *ordered);
    enum status status = STATUS_OK;

    if (!ordered)
        return status_set(STATUS_NO_MEMORY, "no memory for the table of versions");
    for (size_t count = 0; count < version_count; count++) {
        size_t next = 0, waiting = version_count;

        for (; next < version_count; next++) {
            const struct version *version = versions[next];
            size_t at = 0;

            if (!version) /* has its place */
                continue;
            if (!version->source->from)
                break;
            while (at < count && !is_named(version, ordered[at], version->source->from))
                at++;
            if (at < count)
                break;
            waiting = waiting == version_count ? next : waiting;
        }
        if (next == version_count) {
            status = status_set(STATUS_FAILED, "%s: From: %s, which climbs from this one itself",
                                versions[waiting]->path, versions[waiting]->source->from);
            goto out;
        }
        ordered[count] = versions[next];
        versions[next] = NULL;
    }
    memcpy(versions, ordered, version_count * sizeof *versions);
out:
    free(ordered);
    return status;
}

enum status registry_open(void)
{
    enum status status = STATUS_OK;

    sort_algorithms();
    versions = calloc(version_source_count + 1, sizeof *versions);
    if (!versions)
        return status_set(STATUS_NO_MEMORY, "no memory for the table of versions");

    for (struct version *version = registered; version; version = version->next) {
        TRY(join(version));
        for (size_t i = 0; i < version_count; i++)
            if (versions[i]->source == version->source)
                return status_set(STATUS_FAILED, "%s registers two versions: one file is one version", version->path);
        versions[version_count++] = version;
    }
    for (size_t i = 0; i < version_source_count; i++) {
        size_t at = 0;

        if (version_sources[i].not_built) {
            TRY(add_placeholder(&version_sources[i]));
            continue;
        }
        while (at < version_count && versions[at]->source != &version_sources[i])
            at++;
        if (at == version_count)
            return status_set(STATUS_FAILED, "%s was built but registered no version: its last line is missing",
                              version_sources[i].path);
    }
    qsort(versions, version_count, sizeof *versions, compare_versions);
    for (size_t i = 0; i < version_count; i++)
        if (versions[i]->source->from)
            TRY(check_from(versions[i]));
    TRY(follow_from());
out:
    return status;
}

/* ----------------------------------------------------------------------------------------------- look-ups */

const struct algorithm *registry_algorithms(void)
{
    return algorithms;
}

const struct algorithm *registry_find_algorithm(const char *name)
{
    for (const struct algorithm *algorithm = algorithms; algorithm; algorithm = algorithm->next)
        if (strcmp(algorithm->name, name) == 0)
            return algorithm;
    return NULL;
}

void registry_versions(const struct algorithm *algorithm, struct version *const **first, size_t *count)
{
    size_t begin = 0, end;

    while (begin < version_count && versions[begin]->algorithm != algorithm)
        begin++;
    for (end = begin; end < version_count && versions[end]->algorithm == algorithm;)
        end++;
    *first = versions + begin;
    *count = end - begin;
}

/* 0 no match, 1 a prefix of the id or of the name behind its slash, 2 all of it. */
static int match(const char *id, const char *text)
{
    const char *name = strchr(id, '/') + 1;
    size_t length = strlen(text);

    if (strcmp(id, text) == 0 || strcmp(name, text) == 0)
        return 2;
    return strncmp(id, text, length) == 0 || strncmp(name, text, length) == 0;
}

static void append_name(char *list, size_t size, const char *name)
{
    size_t used = strlen(list);

    snprintf(list + used, size - used, "%s%s", used ? ", " : "", name);
}

enum status registry_find_version(const struct algorithm *algorithm, const char *text, const struct version **version)
{
    struct version *const *candidates;
    size_t count, partial = 0, whole = 0;
    char all[512] = "", matching[512] = "";
    const struct version *found = NULL;

    registry_versions(algorithm, &candidates, &count);
    for (size_t i = 0; i < count; i++) {
        const char *id = candidates[i]->source->id;
        int degree = match(id, text);

        append_name(all, sizeof all, id);
        if (degree)
            append_name(matching, sizeof matching, id);
        partial += degree == 1;
        whole += degree == 2;
        if (degree == 2 || (degree == 1 && whole == 0))
            found = candidates[i];
    }
    if (!*text || (whole == 0 && partial == 0))
        return status_set(STATUS_BAD_INPUT, "%s has no version '%s'; it has %s", algorithm->name, text, all);
    if (whole != 1 && whole + partial > 1)
        return status_set(STATUS_BAD_INPUT, "version '%s' of %s could be %s", text, algorithm->name, matching);
    *version = found;
    return STATUS_OK;
}

const char *version_unavailable(const struct version *version)
{
    const char *why = version->source->not_built;

    if (!why && version_is_cuda(version) && !version->remote)
        why = device_needs_capability(0);
    return !why && version->unavailable ? version->unavailable() : why;
}

bool version_is_cuda(const struct version *version)
{
    return version->launch || (version->pipeline && version->pipeline->on_device);
}

bool version_is_peer(const struct version *version)
{
    return strncmp(version->source->id, "peer/", 5) == 0;
}

const struct version *version_below(const struct version *version)
{
    int side = side_rank(version->source->id);

    if (side == 2)
        return NULL;
    for (size_t i = 0; version->source->from && i < version_count; i++)
        if (is_named(version, versions[i], version->source->from))
            return versions[i];
    for (size_t i = 1; i < version_count; i++)
        if (versions[i] == version && versions[i - 1]->algorithm == version->algorithm &&
            side_rank(versions[i - 1]->source->id) == side)
            return versions[i - 1];
    return NULL;
}

/* ------------------------------------------------------------------------------------------- parameter sets */

static void set_presets(const struct algorithm *algorithm, void *params)
{
    memset(params, 0, algorithm->params_size);
    for (const struct parameter *p = algorithm->parameters; p->name; p++) {
        char *field = (char *)params + p->offset;

        if (p->kind == PARAMETER_TEXT)
            snprintf(field, PARAMETER_TEXT_SIZE, "%s", p->words ? p->words[0] : "");
        else if (p->kind == PARAMETER_REAL)
            *(double *)field = p->preset;
        else
            *(int *)field = (int)p->preset;
    }
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

enum status params_parse(const struct algorithm *algorithm, const struct version *const *list, size_t count,
                         const char *const *assignments, size_t assignment_count, void *params)
{
    enum status status = STATUS_OK;

    set_presets(algorithm, params);
    for (size_t i = 0; i < assignment_count; i++)
        TRY(assign(algorithm, list, count, assignments[i], params));
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
