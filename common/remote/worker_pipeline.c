/*
 * worker_pipeline.c: what a worker's version is where the registry holds the versions of its steps besides: the one
 * version of worker_algorithm.
 */
#include <stddef.h>

#include "common/remote/worker.h"

enum status worker_version(const struct version **version)
{
    enum status status = STATUS_OK;

    struct version *const *versions;
    size_t count;

    TRY(registry_open());
    const struct algorithm *const algorithm = registry_find_algorithm(worker_algorithm);

    registry_versions(algorithm, &versions, &count);
    if (algorithm->video && (count != 1 || !versions[0]->pipeline))
        return status_set(STATUS_FAILED, "no pipeline: the file does not end with RUNGS_PIPELINE_VERSION");
    if (count != 1)
        return status_set(STATUS_FAILED, "the file registers %zu versions of %s, not one", count, worker_algorithm);
    *version = versions[0];
out:
    return status;
}

void worker_set_slots(int inputs, int outputs)
{
    (void)inputs, (void)outputs; /* its registry has the contracts */
}
