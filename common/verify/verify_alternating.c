#include <stdio.h>
#include <string.h>

#include "common/verify/session.h"

/* Calls first the second one, then the other, twice: `sessions` are open, `scratch` has room for a result of each. The
 * settings of the second are the stranger ones, which the first call shows to be right or wrong by themselves. */
static enum status call_in_turn(struct session sessions[2], const struct image in[],
                                struct image scratch[2][ALGORITHM_MAX_OUTPUTS])
{
    struct verdict *const verdict = sessions[0].verdict;
    enum status status = STATUS_OK;

    for (int call = 0; call < 4; call++) {
        const int which = (call + 1) % 2;
        struct session *const session = &sessions[which];
        struct image *const result = scratch[which];
        struct slot_difference difference;
        char with[128] = "", without[128] = "";

        session_call(session, (struct setting){0}, in, result);
        if (verdict->outcome != OUTCOME_PASS)
            goto out;

        const int slot = session_first_wrong(session, in, session->expected, result, &difference);

        if (slot < 0)
            continue;
        session_report(session, in, session->expected, result, slot, &difference, NULL, 0, NULL);
        if (call == 0)
            goto out;
        params_describe(session->algorithm, session->params, with, sizeof with);
        params_describe(session->algorithm, sessions[1 - which].params, without, sizeof without);
        FAIL(session, call < 2 ? CERTAINTY_GOOD : CERTAINTY_SURE, "%swrong for %s%s after a call with %s (%zu samples)",
             session_entry(session), with, call < 2 ? "" : ", which was right before,", without, difference.wrong);
        DIAGNOSIS(session, "something that depends on the parameters is kept from another call: a static, or a "
                           "__constant__ symbol that two states share");
        goto out;
    }
out:
    return status;
}

enum status verify_alternating(const struct version *version, const struct image in[], const void *const params[2],
                               const struct input_request *request, struct verdict *verdict)
{
    struct image expected[2][ALGORITHM_MAX_OUTPUTS] = {{{0}}}, scratch[2][ALGORITHM_MAX_OUTPUTS] = {{{0}}};
    struct session sessions[2] = {{0}};
    enum status status = STATUS_OK;

    memset(verdict, 0, sizeof *verdict);
    for (int i = 0; i < 2 && verdict->outcome != OUTCOME_SKIP; i++) {
        const char *why = version_unavailable(version);

        if (!why && version->declines)
            why = version->declines(in, params[i]);
        if (why) {
            verdict->outcome = OUTCOME_SKIP;
            snprintf(verdict->what, sizeof verdict->what, "%s", why);
            goto out;
        }
        TRY(verify_reference_of(version, in, params[i], expected[i]));
        TRY(compare_canonical_expected(version->algorithm, expected[i]));
        TRY(outputs_create_like(scratch[i], expected[i]));
    }
    for (int by_launch = 0; by_launch <= (version->launch ? 1 : 0) && verdict->outcome == OUTCOME_PASS; by_launch++) {
        for (int i = 0; i < 2; i++) {
            sessions[i] = (struct session){.version = version,
                                           .algorithm = version->algorithm,
                                           .params = params[i],
                                           .request = request,
                                           .expected = expected[i],
                                           .by_launch = by_launch == 1,
                                           .once = true,
                                           .verdict = verdict};
            TRY(session_open(&sessions[i], in));
        }
        TRY(call_in_turn(sessions, in, scratch));
        for (int i = 0; i < 2; i++)
            session_free(&sessions[i]);
    }
out:
    for (int i = 0; i < 2; i++) {
        if (sessions[i].version)
            session_free(&sessions[i]);
        outputs_free(expected[i]);
        outputs_free(scratch[i]);
    }
    return status;
}
