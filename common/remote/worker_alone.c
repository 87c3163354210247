/*
 * worker_alone.c: the registry of a worker whose version stands on nobody else: it holds that version.
 */
#include "common/remote/worker.h"

static const struct version *the_version;
static int version_count;

void registry_add_version(struct version *version)
{
    the_version = version;
    version_count++;
}

void registry_add_algorithm(struct algorithm *algorithm)
{
    (void)algorithm; /* its helpers are here for the version; the judge has the contract */
}

enum status worker_version(const struct version **version)
{
    *version = the_version;
    if (version_count != 1)
        return status_set(STATUS_FAILED, "the file registers %d versions, not one", version_count);
    return STATUS_OK;
}
