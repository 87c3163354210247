/*
 * target.c: see target.h
 */
#include "common/cli/target.h"

#include <stdio.h>
#include <string.h>

#include "common/cli/slot_file.h"

int target_slot(const struct algorithm *algorithm, const char *path, const struct image *shapes, int otherwise)
{
    for (int i = 0; i < algorithm->output_count; i++)
        if ((!shapes || shapes[i].width > 0) && slot_check_form(&algorithm->outputs[i], path) == STATUS_OK)
            return i;
    return otherwise;
}

enum status target_parse(const struct algorithm *algorithm, const char *text, struct target *target)
{
    const char *equals = strchr(text, '=');
    char name[64], known[512] = "";

    *target = (struct target){.slot = target_slot(algorithm, text, NULL, 0), .path = text};
    if (!equals || memchr(text, '/', (size_t)(equals - text)))
        return STATUS_OK;
    target->named = true;
    snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
    target->slot = algorithm_find_output(algorithm, name);
    target->path = equals + 1;
    for (int i = 0; i < algorithm->output_count; i++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "",
                 algorithm->outputs[i].name);
    return target->slot >= 0
               ? STATUS_OK
               : status_set(STATUS_BAD_INPUT, "%s has no output '%s'; it has %s (a file of this name: -o ./%.200s)",
                            algorithm->name, name, known, text);
}

enum status targets_parse(const struct algorithm *algorithm, const struct cli_list_option *outputs,
                          struct target *targets)
{
    enum status status = STATUS_OK;

    for (size_t i = 0; i < outputs->count; i++) {
        TRY(target_parse(algorithm, outputs->items[i], &targets[i]));
        if (!*targets[i].path) {
            status = status_set(STATUS_BAD_INPUT, "-o '%s': the name of the output file is empty", outputs->items[i]);
            goto out;
        }
        TRY(slot_check_form(&algorithm->outputs[targets[i].slot], targets[i].path));
        TRY(file_check_output(targets[i].path));
    }
out:
    return status;
}

enum status targets_write(const struct application *application, struct target *targets, size_t count,
                          const struct image in[], const struct image out[])
{
    enum status status = STATUS_OK;

    for (size_t i = 0; i < count; i++) {
        TRY(file_create(&targets[i].file, targets[i].path));
        TRY(slot_encode(&targets[i].file, application->algorithm, targets[i].slot, in, out, application->params));
        TRY(file_complete(&targets[i].file));
    }
    for (size_t i = 0; i < count; i++)
        TRY(file_commit(&targets[i].file));
out:
    for (size_t i = 0; i < count; i++)
        file_discard(&targets[i].file);
    return status;
}
