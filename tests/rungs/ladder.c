/*
 * ladder.c: the contract of a ladder that only tests/test_rungs.sh builds, and a program that opens the registry and
 * prints "id<rung below" of each rung in order, then what two calls of its version with state gave; exit 1 and the
 * message where the registry refuses.
 */
#include "tests/rungs/ladder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/contract/device_info.h"

const char *device_needs_capability(int capability)
{
    (void)capability;
    return NULL;
}

static const struct parameter parameters[] = {{0}};
static struct algorithm ladder = {
    .name = "ladder", .params_size = sizeof(struct ladder_params), .parameters = parameters};

RUNGS_ALGORITHM(ladder)

static enum status call(const struct version *version)
{
    enum status status = STATUS_OK;
    void *state = calloc(1, version->state_size ? version->state_size : 1);
    int32_t calls[2] = {0};

    if (!state)
        return status_set(STATUS_NO_MEMORY, "no memory for a state");
    for (int i = 0; i < 2; i++) {
        struct image out = {.width = 1, .height = 1, .channels = 1, .type = PIXEL_I32, .data = &calls[i]};

        TRY(version->run(state, NULL, &out, NULL));
    }
    printf("calls %d %d\n", calls[0], calls[1]);
out:
    if (version->teardown)
        version->teardown(state);
    free(state);
    return status;
}

int main(void)
{
    struct version *const *versions;
    size_t count;
    enum status status = STATUS_OK;

    TRY(registry_open());
    registry_versions(&ladder, &versions, &count);
    for (size_t i = 0; i < count; i++) {
        const struct version *below = version_below(versions[i]);

        printf("%s<%s ", versions[i]->source->id, below ? below->source->id : "");
    }
    putchar('\n');
    for (size_t i = 0; i < count; i++)
        if (versions[i]->state_size)
            TRY(call(versions[i]));
out:
    if (status != STATUS_OK)
        printf("%s\n", status_message());
    return status != STATUS_OK;
}
