/*
 * worker_alone.c: the registry of a worker whose version stands on nobody else: it holds that version.
 */
#include "common/remote/worker.h"

static struct version *the_version;
static int version_count;

/* The contract as far as a worker needs it: how many slots there are, which the judge says with each request. */
static struct algorithm contract;

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
    if (version_count != 1)
        return status_set(STATUS_FAILED, "the file registers %d versions, not one", version_count);
    contract.name = the_version->algorithm_name;
    the_version->algorithm = &contract;
    *version = the_version;
    return STATUS_OK;
}

void worker_set_slots(int inputs, int outputs)
{
    contract.input_count = inputs;
    contract.output_count = outputs;
}
