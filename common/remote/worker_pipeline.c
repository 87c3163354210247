/*
 * worker_pipeline.c: what a worker's version is where the registry holds the versions of its steps besides: the one
 * version of a video algorithm.
 */
#include <stddef.h>

#include "common/remote/worker.h"

enum status worker_version(const struct version **version)
{
    enum status status = STATUS_OK;

    TRY(registry_open());
    *version = NULL;
    for (const struct algorithm *algorithm = registry_algorithms(); algorithm; algorithm = algorithm->next) {
        struct version *const *versions;
        size_t count;

        if (!algorithm->video)
            continue;
        registry_versions(algorithm, &versions, &count);
        for (size_t i = 0; i < count; i++)
            *version = versions[i];
    }
    if (!*version || !(*version)->pipeline)
        return status_set(STATUS_FAILED, "no pipeline: the file does not end with RUNGS_PIPELINE_VERSION");
out:
    return status;
}

void worker_set_slots(int inputs, int outputs)
{
    (void)inputs, (void)outputs; /* its registry has the contracts */
}
