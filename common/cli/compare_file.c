#include "common/cli/compare_file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/cli/compare_renames.h"
#include "common/cli/compare_schema.h"
#include "common/core/json_file.h"

enum { MAX_FILE_BYTES = 64 << 20, SCHEMA_VERSION = 1 };

const struct compare_kind_facts compare_kinds[COMPARE_KINDS] = {
    [COMPARE_BENCH] = {"rungs-results", "bench", "versions", "version", "bench"},
    [COMPARE_TUNE] = {"rungs-results", "tune", "points", "point", "tune"},
    [COMPARE_PROFILE] = {"rungs-results", "profile", NULL, "name", "profile"},
    [COMPARE_VIDEO] = {"rungs-video-results", "bench", "versions", "version", "video"}};

const char *compare_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "";
}

static enum status require(const struct compare_results *results, const json_t *object, const char *where,
                           const char *key, json_type type)
{
    const json_t *value = json_object_get(object, key);

    if (!value || json_typeof(value) != type)
        return status_set(STATUS_BAD_INPUT, "%s: not a complete results file: %s has no fitting \"%s\"", results->path,
                          where, key);
    return STATUS_OK;
}

/* null, or an object whose numbers are in order, which no schema can say: a hand-made file shall not turn NaN into
 * "same". */
static enum status require_times(const struct compare_results *results, const json_t *row, const char *key)
{
    const json_t *times = json_object_get(row, key);
    const double median = json_number_value(json_object_get(times, "median"));
    const double q1 = json_number_value(json_object_get(times, "q1")),
                 q3 = json_number_value(json_object_get(times, "q3"));

    if (!times || json_is_null(times))
        return STATUS_OK;
    if (!(q1 > 0 && q1 <= median && median <= q3 && isfinite(q3)) ||
        json_integer_value(json_object_get(times, "n")) < 1)
        return status_set(STATUS_BAD_INPUT, "%s: \"%s\" of a row is no median with quartiles and n", results->path,
                          key);
    return STATUS_OK;
}

static enum status check_rows(struct compare_results *results)
{
    enum status status = STATUS_OK;
    size_t place;
    json_t *row;

    json_array_foreach(results->rows, place, row)
    {
        TRY(require_times(results, row, "kernel"));
        TRY(require_times(results, row, "end_to_end"));
        TRY(require_times(results, row, "time"));
    }
out:
    return status;
}

/* Adds the sums of a profile under `key`, of all calls, as rows per call; the quartiles are the least and the most. */
static enum status add_sums(struct compare_results *results, const char *key, double calls)
{
    enum status status = STATUS_OK;
    const json_t *profile = json_object_get(results->document, "profile");
    size_t place;
    json_t *sum;

    TRY(require(results, profile, "the profile", key, JSON_ARRAY));
    json_array_foreach(json_object_get(profile, key), place, sum)
    {
        const double count = json_number_value(json_object_get(sum, "calls"));
        json_t *row;

        if (!json_object_get(sum, "average")) /* emulated: no times */
            continue;
        row = json_pack("{s:s, s:s, s:s, s:{s:f, s:f, s:f, s:I}}", "id", compare_text(sum, "name"), "outcome", "timed",
                        "what", compare_text(sum, "kind"), "time", "median",
                        json_number_value(json_object_get(sum, "average")) * count / calls, "q1",
                        json_number_value(json_object_get(sum, "least")) * count / calls, "q3",
                        json_number_value(json_object_get(sum, "most")) * count / calls, "n", (json_int_t)count);
        if (!row || json_array_append_new(results->rows, row) != 0)
            return status_set(STATUS_NO_MEMORY, "%s: out of memory", results->path);
    }
out:
    return status;
}

/* The bench's times of the profiled version, then the kernels and copies of a GPU, or the steps and phases of a CPU. */
static enum status load_profile(struct compare_results *results)
{
    enum status status = STATUS_OK;
    const json_t *profile = json_object_get(results->document, "profile");
    json_t *bench = json_object_get(results->document, "bench");

    const double calls = json_number_value(json_object_get(profile, "calls"));
    if (!(calls >= 1)) {
        status = status_set(STATUS_BAD_INPUT, "%s: not a complete results file: the profile has no fitting \"calls\"",
                            results->path);
        goto out;
    }
    results->rows = json_array();
    json_array_append(results->rows, bench);
    TRY(add_sums(results, strncmp(compare_text(bench, "id"), "cuda", 4) == 0 ? "gpu_activities" : "host_ranges",
                 calls));
out:
    return status;
}

/* The kind of a file by its schema and its member "kind", which older files of a bench lack. */
static enum status find_kind(struct compare_results *results)
{
    const char *const schema = compare_text(results->document, "schema");
    const char *const name = json_object_get(results->document, "kind") ? compare_text(results->document, "kind")
                                                                        : compare_kinds[COMPARE_BENCH].name;
    bool known = false;

    for (int kind = 0; kind < COMPARE_KINDS; kind++) {
        known = known || strcmp(schema, compare_kinds[kind].schema) == 0;
        if (strcmp(schema, compare_kinds[kind].schema) == 0 && strcmp(name, compare_kinds[kind].name) == 0) {
            results->kind = (enum compare_kind)kind;
            return STATUS_OK;
        }
    }
    if (!known)
        return status_set(STATUS_BAD_INPUT, "%s: not a results file of Rungs: no \"schema\": \"rungs-results\"",
                          results->path);
    return status_set(STATUS_BAD_INPUT, "%s: results of kind '%.40s'; compare reads bench, tune and profile",
                      results->path, name);
}

enum status compare_load(struct compare_results *results, const char *path)
{
    enum status status = STATUS_OK;

    results->path = path;
    TRY(json_file_read(&results->document, path, MAX_FILE_BYTES, "a results file"));
    TRY(find_kind(results));
    TRY(require(results, results->document, "it", "version", JSON_INTEGER));
    if (json_integer_value(json_object_get(results->document, "version")) != SCHEMA_VERSION) {
        status =
            status_set(STATUS_BAD_INPUT, "%s: results of version %lld; this rungs reads version %d", path,
                       (long long)json_integer_value(json_object_get(results->document, "version")), SCHEMA_VERSION);
        goto out;
    }
    TRY(compare_schema_check(results->document, compare_kinds[results->kind].definition, path));
    compare_renames_apply(results->document);
    if (results->kind == COMPARE_PROFILE) {
        TRY(load_profile(results));
    } else {
        results->rows = json_incref(json_object_get(results->document, compare_kinds[results->kind].rows));
    }
    TRY(check_rows(results));
out:
    return status;
}

void compare_unload(struct compare_results *results)
{
    json_decref(results->rows);
    json_decref(results->document);
}
