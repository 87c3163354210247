#include "common/verify/growth.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/contract/device_info.h"
#include "common/core/allocations.h"

/* ------------------------------------------------------------------------------------------------------ the calls */

enum { CALLS = 4, STATES = 3, SURE = 16 /* more of what grew: a heap that keeps freed blocks for later ends that */ };

struct used {
    size_t heap, device;
};

static struct used count_used(const struct version *version)
{
    const struct mallinfo2 heap = mallinfo2();

    /* The emulator's threads and kept works take of the heap as they please. */
    return version_is_cuda(version) ? (struct used){0, device_memory_used()}
                                    : (struct used){heap.uordblks + heap.hblkhd, 0};
}

/* Whether one of both is larger each time than the time before, from the second time on. */
static bool grows(const struct used used[], int count, bool *on_device)
{
    bool heap = true, device = true;

    for (int i = 1; i < count; i++) {
        heap &= used[i].heap > used[i - 1].heap;
        device &= used[i].device > used[i - 1].device;
    }
    *on_device = device;
    return heap || device;
}

/* One more call, or with `anew` a state more, which ends with it. */
static enum status once_more(struct session *session, const struct image in[], struct image result[], bool anew)
{
    enum status status = STATUS_OK;

    session_call(session, (struct setting){0}, in, result);
    if (anew)
        TRY(session_new_state(session));
out:
    return status;
}

/* What grew does so in each of many more calls, or it is no fault; *fault says which. */
static enum status make_sure(struct session *session, const struct image in[], struct image result[], bool anew)
{
    struct used used[SURE + 1] = {count_used(session->version)};
    char line[300];
    bool on_device, left;
    enum status status = STATUS_OK;

    for (int i = 1; i <= SURE && session->verdict->outcome == OUTCOME_PASS; i++) {
        if (i == SURE)
            allocations_begin();
        TRY(once_more(session, in, result, anew));
        used[i] = count_used(session->version);
    }
    left = allocations_end(line, sizeof line);
    if (session->verdict->outcome != OUTCOME_PASS || !grows(used, SURE + 1, &on_device) || !(left || on_device))
        goto out;
    FAIL(session, CERTAINTY_SURE, "%s%zu bytes of %s more in use after each %s, allocated%s", session_entry(session),
         on_device ? used[SURE].device - used[SURE - 1].device : used[SURE].heap - used[SURE - 1].heap,
         on_device ? "device memory" : "the heap", anew ? "state that has ended" : "call",
         line[0] ? line : " where addr2line (of binutils) would say");
    DIAGNOSIS(session, "%s",
              anew ? "memory leak: teardown() does not free all that calls with the state allocated"
                   : "memory leak: every call allocates what no call frees; setup() and run() may do so the first time "
                     "alone");
out:
    return status;
}

/* Calls by one entry. */
static enum status watch_entry(struct session *session, const struct image in[])
{
    struct image result[ALGORITHM_MAX_OUTPUTS] = {{0}};
    struct used calls[CALLS], states[STATES];
    bool on_device;
    enum status status = STATUS_OK;

    TRY(session_open(session, in));
    TRY(outputs_create_like(result, session->expected));
    for (int s = 0; s < STATES && session->verdict->outcome == OUTCOME_PASS; s++) {
        const int count = s == STATES - 1 ? CALLS : 1;
        for (int c = 0; c < count && session->verdict->outcome == OUTCOME_PASS; c++) {
            TRY(once_more(session, in, result, false));
            calls[c] = count_used(session->version);
        }
        if (session->verdict->outcome == OUTCOME_PASS && count == CALLS && grows(calls + 1, CALLS - 1, &on_device))
            TRY(make_sure(session, in, result, false));
        TRY(session_new_state(session));
        states[s] = count_used(session->version);
    }
    if (session->verdict->outcome == OUTCOME_PASS && grows(states, STATES, &on_device))
        TRY(make_sure(session, in, result, true));
out:
    session_free(session);
    outputs_free(result);
    return status;
}

enum status verify_growth(const struct version *version, const struct image in[], const void *params,
                          const struct image expected[], struct verdict *verdict)
{
    enum status status = STATUS_OK;

    memset(verdict, 0, sizeof *verdict);
    if (version->declines && version->declines(in, params)) {
        verdict->outcome = OUTCOME_SKIP;
        snprintf(verdict->what, sizeof verdict->what, "%s", version->declines(in, params));
        return STATUS_OK;
    }
    verdict->outcome = OUTCOME_PASS;
    for (int by_launch = 0; by_launch <= (version->launch ? 1 : 0) && verdict->outcome == OUTCOME_PASS; by_launch++) {
        struct session session = {.version = version,
                                  .algorithm = version->algorithm,
                                  .params = params,
                                  .expected = expected,
                                  .by_launch = by_launch == 1,
                                  .once = true,
                                  .verdict = verdict};

        TRY(watch_entry(&session, in));
    }
out:
    return status;
}
