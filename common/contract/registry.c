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
    algorithm_count_slots(algorithm);
    algorithm->next = algorithms;
    algorithms = algorithm;
}

void registry_add_version(struct version *version)
{
    version->next = registered;
    registered = version;
}

/* ------------------------------------------------------------------------------------------------ opening */

/* In the table, which is in the order of the climb; behind all of it for a stand-in, which is not there. */
static size_t place_of(const struct version *version)
{
    size_t place = 0;

    while (place < version_source_count && version->source != &version_sources[place])
        place++;
    return place;
}

static int compare_versions(const void *left, const void *right)
{
    const struct version *a = *(struct version *const *)left, *b = *(struct version *const *)right;
    int order = strcmp(a->algorithm_name, b->algorithm_name);

    if (order == 0)
        order = side_of(a->source->id)->order - side_of(b->source->id)->order;
    if (order == 0)
        order = place_of(a) < place_of(b) ? -1 : place_of(a) > place_of(b);
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
    if (!version->remote) /* a stand-in was registered with its source */
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

void registry_set_queue(const struct version_queue *queue)
{
    for (size_t i = 0; i < version_count; i++)
        if (!queue || (versions[i]->launch && !versions[i]->remote && !versions[i]->queue))
            versions[i]->queue = queue;
}

bool version_is_cuda(const struct version *version)
{
    return version->launch || (version->pipeline && version->pipeline->on_device);
}

bool version_is_peer(const struct version *version)
{
    return side_of(version->source->id)->yardstick;
}

const struct version *version_below(const struct version *version)
{
    for (size_t i = 0; version->source->below && i < version_count; i++)
        if (versions[i]->algorithm == version->algorithm &&
            strcmp(versions[i]->source->id, version->source->below) == 0)
            return versions[i];
    return NULL;
}
