/*
 * worker_alone.c: the registry of a worker whose version stands on nobody else: it holds that version.
 */
#include <string.h>

#include "common/remote/worker.h"

static struct version *the_version;
static int version_count;
static struct algorithm *algorithms;

void registry_add_version(struct version *version)
{
    the_version = version;
    version_count++;
}

void registry_add_algorithm(struct algorithm *algorithm)
{
    algorithm_count_slots(algorithm);
    algorithm->next = algorithms;
    algorithms = algorithm;
}

enum status worker_version(const struct version **version)
{
    *version = the_version;
    if (version_count != 1)
        return status_set(STATUS_FAILED, "the file registers %d versions, not one", version_count);
    for (const struct algorithm *algorithm = algorithms; algorithm; algorithm = algorithm->next)
        if (strcmp(algorithm->name, the_version->algorithm_name) == 0)
            the_version->algorithm = algorithm;
    if (!the_version->algorithm)
        return status_set(STATUS_FAILED, "the file registers for %s, which is no algorithm",
                          the_version->algorithm_name);
    return STATUS_OK;
}
