#include "common/measure/tuned.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/contract/device_info.h"
#include "common/core/json_file.h"
#include "common/core/paths.h"
#include "common/core/process.h"
#include "common/measure/bench_device.h"
#include "common/measure/machine.h"

enum { SCHEMA_VERSION = 1, MAX_NOTES = 256, MAX_FILE_BYTES = 16 << 20 };
static const char schema[] = "rungs-tuned";

static struct note {
    const struct version *version;
    bool used;
    char text[512];
} notes[MAX_NOTES];
static size_t note_count;

const char *tuned_path(void)
{
    static char path[PATH_MAX + 16];
    const char *told = getenv("RUNGS_TUNED"), *root = paths_root();

    if (told)
        return told[0] ? told : NULL;
    if (!root)
        return NULL;
    snprintf(path, sizeof path, "%s/tuned.json", root);
    return path;
}

/* --------------------------------------------------------------------------------------------------- the file */

/* *document is a new one when there is no file. */
static enum status load(const char *path, json_t **document)
{
    enum status status = STATUS_OK;

    *document = NULL;
    if (access(path, F_OK) != 0) {
        *document = json_pack("{s:s, s:i, s:[]}", "schema", schema, "version", SCHEMA_VERSION, "entries");
        return *document ? STATUS_OK : status_set(STATUS_NO_MEMORY, "no memory for %s", path);
    }
    TRY(json_file_read(document, path, MAX_FILE_BYTES, "a file of tuned values"));
    const char *name = json_string_value(json_object_get(*document, "schema"));
    if (!name || strcmp(name, schema) != 0 ||
        json_integer_value(json_object_get(*document, "version")) != SCHEMA_VERSION ||
        !json_is_array(json_object_get(*document, "entries")))
        status = status_set(STATUS_BAD_INPUT, "%s: not a file of tuned values (schema %s, version %d)", path, schema,
                            SCHEMA_VERSION);
out:
    if (status != STATUS_OK) {
        json_decref(*document);
        *document = NULL;
    }
    return status;
}

static bool has_text(const json_t *entry, const char *key, const char *text)
{
    const char *value = json_string_value(json_object_get(entry, key));

    return value && strcmp(value, text) == 0;
}

/* Whether an entry is of this algorithm and version; processor and threads are asked for only then. */
static bool is_of(const json_t *entry, const struct version *version)
{
    return has_text(entry, "algorithm", version->algorithm->name) && has_text(entry, "version", version->source->id);
}

static bool is_for(const json_t *entry, const char *processor, int threads)
{
    return has_text(entry, "processor", processor) && json_integer_value(json_object_get(entry, "threads")) == threads;
}

enum status tuned_check(void)
{
    const char *path = tuned_path();
    enum status status = STATUS_OK;
    json_t *document = NULL;

    if (!path)
        return STATUS_OK;
    TRY(file_check_output(path));
    TRY(load(path, &document));
out:
    json_decref(document);
    return status;
}

static json_t *entry_json(const struct tuned_entry *entry)
{
    const struct tunable *tunable = entry->version->tunables;
    json_t *values = json_object();

    for (int i = 0; tunable && tunable[i].name; i++) {
        int place = 0;

        while (tunable[i].legal[place] != entry->values[i])
            place++;
        json_object_set_new(values, tunable[i].name,
                            tunable[i].words ? json_string(tunable[i].words[place]) : json_integer(entry->values[i]));
    }
    return json_pack("{s:s, s:s, s:s, s:i, s:o, s:s, s:i, s:i, s:i, s:f, s:f, s:s, s:s}", "algorithm",
                     entry->version->algorithm->name, "version", entry->version->source->id, "processor",
                     entry->processor, "threads", entry->threads, "values", values, "settings", entry->settings,
                     "width", entry->width, "height", entry->height, "channels", entry->channels, "median",
                     entry->median, "default_median", entry->preset_median, "date", entry->date, "commit",
                     entry->commit);
}

enum status tuned_keep(const struct tuned_entry *entries, size_t count)
{
    const char *path = tuned_path();
    enum status status = STATUS_OK;
    struct output_file file = {0};
    json_t *document = NULL;

    if (!path)
        return STATUS_OK;
    TRY(load(path, &document));
    json_t *list = json_object_get(document, "entries");
    for (size_t i = 0; i < count; i++) {
        for (size_t old = json_array_size(list); old-- > 0;) {
            const json_t *entry = json_array_get(list, old);

            if (is_of(entry, entries[i].version) && is_for(entry, entries[i].processor, entries[i].threads))
                json_array_remove(list, old);
        }
        if (json_array_append_new(list, entry_json(&entries[i])) != 0) {
            status = status_set(STATUS_FAILED, "%s: the values cannot be put into JSON", path);
            goto out;
        }
    }
    TRY(file_create(&file, path));
    status = json_file_write(document, 6, &file);
    document = NULL;
out:
    json_decref(document);
    return status;
}

/* -------------------------------------------------------------------------------------------------- using it */

static int facts_in_child(void *argument)
{
    return bench_device_facts(argument) == STATUS_OK ? 0 : 1;
}

/* "" without a GPU. Asked once: it takes the CUDA runtime a good part of a second. */
static const char *gpu_name(bool may_fork)
{
    static char name[128];
    static bool asked;
    struct process_result result = {0};
    struct device_facts *facts;

    if (asked || device_is_emulated())
        return name;
    asked = true;
    facts = process_shared_allocate(sizeof *facts);
    if (!facts)
        return name;
    if (may_fork ? process_run(facts_in_child, facts, 120, &result) == STATUS_OK && !result.signal && !result.exit_code
                 : bench_device_facts(facts) == STATUS_OK)
        snprintf(name, sizeof name, "%s", facts->name);
    process_shared_free(facts, sizeof *facts);
    return name;
}

static struct note *new_note(const struct version *version)
{
    for (size_t i = 0; i < note_count; i++)
        if (notes[i].version == version) {
            notes[i].used = false;
            return &notes[i];
        }
    if (note_count == MAX_NOTES)
        return NULL;
    notes[note_count].version = version;
    return &notes[note_count++];
}

static void use_presets(const struct version *version)
{
    for (const struct tunable *tunable = version->tunables; tunable->name; tunable++)
        *tunable->value = tunable->preset;
}

/* Sets the tunables; false, with a message, when one has no value that is legal now. */
static bool take(const struct version *version, const json_t *entry)
{
    const json_t *values = json_object_get(entry, "values");

    for (const struct tunable *tunable = version->tunables; tunable->name; tunable++) {
        const json_t *value = json_object_get(values, tunable->name);
        char text[64];

        if (json_is_integer(value))
            snprintf(text, sizeof text, "%lld", (long long)json_integer_value(value));
        else
            snprintf(text, sizeof text, "%.*s", (int)sizeof text - 1,
                     json_is_string(value) ? json_string_value(value) : "");
        if (tunable_set(tunable, text) != STATUS_OK)
            return false;
    }
    return true;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static void apply(const struct version *version, const json_t *entry, const struct image in[], const void *params)
{
    struct note *note = new_note(version);
    const char *date = json_string_value(json_object_get(entry, "date")), *const file = last_part(tuned_path());
    char values[256];

    if (!note)
        return;
    if (!take(version, entry)) {
        snprintf(note->text, sizeof note->text, "its default, for %.100s does not fit it any more: %.200s", file,
                 status_message());
        use_presets(version);
        return;
    }
    version_describe_tunables(version, values, sizeof values);
    if (in && version_check_tunables(version, in, params) != STATUS_OK) {
        snprintf(note->text, sizeof note->text, "its default, for %.150s in %.100s is not legal here", values, file);
        use_presets(version);
        return;
    }
    note->used = true;
    snprintf(note->text, sizeof note->text, "%s, as tuned on %.10s (%.100s)", values, date ? date : "an unknown day",
             file);
}

static bool is_assigned(const struct version *version, const char *const *assignments, size_t count)
{
    for (const struct tunable *tunable = version->tunables; tunable->name; tunable++)
        if (params_assigned(assignments, count, tunable->name))
            return true;
    return false;
}

void tuned_apply(const struct version *const *versions, size_t count, const char *const *assignments,
                 size_t assignment_count, int threads, const struct image in[], const void *params, bool may_fork)
{
    const char *path = tuned_path();
    json_t *document = NULL;
    char cpu[128] = "";

    if (!path || access(path, F_OK) != 0)
        return;
    const enum status status = load(path, &document);
    for (size_t i = 0; i < count; i++) {
        const struct version *version = versions[i];
        const bool device = version_is_cuda(version);
        size_t place;
        json_t *entry;

        if (!version->tunables || is_assigned(version, assignments, assignment_count))
            continue;
        if (status != STATUS_OK) {
            struct note *note = new_note(version);

            if (note)
                snprintf(note->text, sizeof note->text, "its default: %.400s", status_message());
            continue;
        }
        json_array_foreach(json_object_get(document, "entries"), place, entry)
        {
            if (!is_of(entry, version))
                continue;
            if (!device && !cpu[0])
                machine_cpu_name(cpu, sizeof cpu);
            const char *processor = device ? gpu_name(may_fork) : cpu;
            if (processor[0] && is_for(entry, processor, device ? 0 : threads))
                apply(version, entry, in, params);
        }
    }
    json_decref(document);
}

const char *tuned_note(const struct version *version, bool *used)
{
    if (used)
        *used = false;
    for (size_t i = 0; i < note_count; i++)
        if (notes[i].version == version) {
            if (used)
                *used = notes[i].used;
            return notes[i].text;
        }
    return NULL;
}
