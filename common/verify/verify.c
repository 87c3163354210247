#include "common/verify/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/contract/inputs.h"
#include "common/image/pattern.h"
#include "common/verify/session.h"

/* ---------------------------------------------------------------------------------------------- one whole pass */

/* Up to this many samples the result for the other input is compared in full; above, only when one of its slots is
 * the earlier result's. */
enum { COMPARE_OTHER_SAMPLES = 1 << 14 };

/* Whether some slot of a result is wrong; *worst becomes the largest difference if that is larger. */
static bool any_wrong(const struct session *session, const struct image in[], const struct image expected[],
                      const struct image actual[], double *worst)
{
    for (int slot = 0; slot < session->algorithm->output_count; slot++) {
        struct slot_difference difference;

        compare_slot(session->version, slot, in, session->params, expected, actual, NULL, &difference);
        if (difference.wrong)
            return true;
        if (difference.worst > *worst)
            *worst = difference.worst;
    }
    return false;
}

/* A launch on `other` in company gave a wrong result. Whether it is right alone: then that is the failure. */
static bool is_right_alone(struct session *session, const struct image other[], struct image scratch[])
{
    double worst = 0;
    bool right;

    session->company = NULL;
    session_call(session, (struct setting){0}, other, scratch);
    right = session->verdict->outcome == OUTCOME_PASS && !any_wrong(session, other, session->expected, scratch, &worst);
    session->verdict->outcome = OUTCOME_PASS;
    if (right) {
        FAIL(session, CERTAINTY_SURE, "%sright alone, wrong with launches on another picture before and behind it",
             session_entry(session));
        DIAGNOSIS(session,
                  "two launches in flight share what each should have for itself: host memory that a copy still "
                  "reads, or a place that launch() writes outside of its stream's order");
    }
    return right;
}

/* One call on `other`, input of the same shape as before, in the buffers and with the state of the calls before, whose
 * last results are `earlier`. By launch() it has company: pictures of the call before are in flight with it. */
static enum status check_on(struct session *session, const struct image other[], const struct image earlier[],
                            struct image scratch[], bool always, const struct image company[])
{
    struct image expected[ALGORITHM_MAX_OUTPUTS] = {{0}}, again[ALGORITHM_MAX_OUTPUTS] = {{0}};
    const struct image *const before = session->expected;
    double worst = 0;
    enum status status = STATUS_OK;

    if (session->version->declines && session->version->declines(other, session->params))
        goto out;
    session->company = session->by_launch && !session->version->remote ? company : NULL;
    session_call(session, (struct setting){0}, other, scratch);
    if (session->verdict->outcome != OUTCOME_PASS || (!always && !outputs_any_same(earlier, scratch)))
        goto out;
    TRY(verify_reference_of(session->version, other, session->params, expected));
    if (!outputs_same_shape(expected, scratch)) /* the shape of the result depends on the values: nothing to compare */
        goto out;
    TRY(compare_canonical_expected(session->algorithm, expected));
    compare_turn_columns(session->algorithm, expected, scratch);
    session->expected = expected;
    if (any_wrong(session, other, expected, scratch, &worst)) {
        TRY(outputs_create_like(again, scratch));
        if (session->company && is_right_alone(session, other, again))
            goto out;
        TRY(explain_other_input(session, other, expected, earlier, scratch, again));
    }
out:
    session->company = NULL;
    session->expected = before;
    outputs_free(expected);
    outputs_free(again);
    return status;
}

/* Two more calls: on input that is different everywhere, then on that with but its inside changed. */
static enum status check_other_input(struct session *session, const struct image in[], const struct image earlier[],
                                     struct image scratch[])
{
    const struct algorithm *algorithm = session->algorithm;
    const bool small = outputs_samples(session->expected) <= COMPARE_OTHER_SAMPLES;
    struct image other[ALGORITHM_MAX_INPUTS] = {{0}}, second[ALGORITHM_MAX_OUTPUTS] = {{0}};
    struct input_request request = {.width = in[0].width, .height = in[0].height, .channels = in[0].channels};
    enum status status = STATUS_OK;

    if (session->request)
        request = *session->request;
    request.pattern = PATTERN_RANDOM;
    request.seed += 0x5eed0;
    request.hard_case = NULL;
    request.photograph = NULL;
    request.params = session->params;
    TRY(inputs_make(algorithm, &request, other));
    for (int i = 0; i < algorithm->input_count; i++)
        if (!image_same_shape(&other[i], &in[i])) /* a user's own input, or a maker that draws the shape, too */
            goto out;
    TRY(check_on(session, other, earlier, scratch, small, in));

    /* What lies on the device is not looked at by the host code that would keep a result. */
    if (session->verdict->outcome != OUTCOME_PASS || !small || session->by_launch ||
        !session_change_inside(session, other, 0x1451de))
        goto out;
    TRY(outputs_create_like(second, scratch));
    outputs_copy(second, scratch);
    TRY(check_on(session, other, second, scratch, true, NULL));
out:
    inputs_free(algorithm, other);
    outputs_free(second);
    return status;
}

/* Slot `first` of a result is wrong. Which to report: it, or one of those behind it, all written, whose diagnosis is
 * surer: counters say more than the table that is made of them. */
static int most_telling(struct session *session, const struct image in[], const struct image result[], int first)
{
    const struct verdict kept = *session->verdict;
    int best = first, certainty = -1;

    for (int slot = first; slot < session->algorithm->output_count; slot++) {
        struct slot_difference difference;

        compare_slot(session->version, slot, in, session->params, session->expected, result, NULL, &difference);
        if (difference.wrong == 0)
            continue;
        session_report(session, in, session->expected, result, slot, &difference, NULL, 0, NULL);
        if (session->verdict->certainty > certainty) {
            certainty = session->verdict->certainty;
            best = slot;
        }
        *session->verdict = kept;
    }
    return best;
}

/* Compares both results of the first input, slot by slot; reports and explains what is wrong. */
static enum status check_values(struct session *session, const struct setting settings[2], const struct image in[],
                                struct image results[2][ALGORITHM_MAX_OUTPUTS], struct image scratch[],
                                const char *picture)
{
    uint8_t *unwritten = NULL;
    size_t unwritten_count = 0;
    enum status status = STATUS_OK;

    for (int slot = 0; slot < session->algorithm->output_count; slot++) {
        TRY(session_find_unwritten(session, slot, &results[0][slot], &results[1][slot], &unwritten, &unwritten_count));
        for (int i = 0; i < 2; i++) {
            struct slot_difference difference;

            compare_slot(session->version, slot, in, session->params, session->expected, results[i], unwritten,
                         &difference);
            if (!(difference.worst <= session->verdict->worst))
                session->verdict->worst = difference.worst;
            if (difference.wrong == 0)
                continue;
            if (unwritten_count == 0) {
                const int other = most_telling(session, in, results[i], slot);

                if (other != slot) {
                    slot = other;
                    TRY(session_find_unwritten(session, slot, &results[0][slot], &results[1][slot], &unwritten,
                                               &unwritten_count));
                    compare_slot(session->version, slot, in, session->params, session->expected, results[i], unwritten,
                                 &difference);
                }
            }
            session_report(session, in, session->expected, results[i], slot, &difference, unwritten, unwritten_count,
                           picture);
            /* Unwritten samples differ by their poison; what differs beside them is worth an inquiry. */
            if (session_count_changes(session, slot, difference.tolerance, &results[0][slot], &results[1][slot]) >
                unwritten_count)
                TRY(explain_change(session, settings, in, results[0], results[1], scratch));
            else if (outputs_same_but_rounding(results[0], results[1]))
                explain_repeats(session, in, results[0], scratch);
            if (unwritten_count == 0 && outputs_same_but_rounding(results[0], results[1]))
                TRY(explain_flat(session, in, results[0], scratch));
            if (unwritten_count == 0 && !session->verdict->vague)
                TRY(explain_channels(session, in, results[i]));
            if (session->by_launch && !session->version->remote)
                TRY(explain_stream(session, in, scratch));
            goto out;
        }
        free(unwritten);
        unwritten = NULL;
    }
out:
    free(unwritten);
    return status;
}

static enum status verify_entry(struct session *session, const struct image in[], const char *picture)
{
    const struct setting settings[2] = {{0}, {!session->once, 1, 1, 1, 1, !session->once, 0}};
    struct image results[2][ALGORITHM_MAX_OUTPUTS] = {{{0}}}, scratch[ALGORITHM_MAX_OUTPUTS] = {{0}};
    enum status status = STATUS_OK;

    TRY(session_open(session, in));
    TRY(outputs_create_like(results[0], session->expected));
    TRY(outputs_create_like(results[1], session->expected));
    TRY(outputs_create_like(scratch, session->expected));

    for (int i = 0; i < 2; i++) {
        session_call(session, settings[i], in, results[i]);
        if (i == 1 && session->verdict->outcome == OUTCOME_FAIL && session->verdict->returned)
            TRY(explain_failure(session, settings, in, scratch));
        if (session->verdict->outcome != OUTCOME_PASS ||
            (session->once && !any_wrong(session, in, session->expected, results[i], &session->verdict->worst)))
            goto out;
    }
    TRY(check_values(session, settings, in, results, scratch, picture));
    if (session->verdict->outcome == OUTCOME_PASS && !session->once && !session->no_other_input)
        TRY(check_other_input(session, in, results[0], scratch));
out:
    session_free(session);
    outputs_free(results[0]);
    outputs_free(results[1]);
    outputs_free(scratch);
    return status;
}

/* Whether some slot has no pixel that this version is compared in. */
static bool nothing_to_compare(const struct version *version, const struct image expected[], const void *params)
{
    for (int slot = 0; slot < version->algorithm->output_count; slot++) {
        const int margin = compare_margin(version, slot, params);

        if (expected[slot].data && margin > 0 &&
            (expected[slot].width <= 2 * margin || expected[slot].height <= 2 * margin))
            return true;
    }
    return false;
}

/* run() gave wrong values. Its images on the device are its own; launch() gets the verifier's, which hold a poison
 * where nothing was written, and garbage around the input: where that says more about the fault, it is what is
 * reported. */
static enum status ask_launch(const struct session *run, const struct image in[], const char *picture,
                              struct verdict *verdict)
{
    const struct version *version = run->version;
    struct verdict other = {.outcome = OUTCOME_PASS, .samples = verdict->samples};
    struct session session = {
        .version = version,
        .algorithm = run->algorithm,
        .params = run->params,
        .request = run->request,
        .expected = run->expected,
        .by_launch = true,
        .verdict = &other,
    };
    enum status status = STATUS_OK;

    if (verdict->wrong == 0 || (version->remote ? version->remote->lost() : version_unavailable(version) != NULL))
        return STATUS_OK;
    TRY(verify_entry(&session, in, picture));
    if (other.outcome == OUTCOME_FAIL && (other.unwritten || (verdict->vague && !other.vague)))
        *verdict = other;
out:
    return status;
}

/* All calls by both entries, or those on the given input, or all by one of them and one by the other, or one call of
 * one of them. */
enum entries { BOTH_ENTRIES, THIS_INPUT, ALL_RUNS, ALL_LAUNCHES, ONE_RUN, ONE_LAUNCH };

static enum status verify_entries(const struct version *version, const struct image in[], const void *params,
                                  const struct image expected[], const struct input_request *request,
                                  enum entries entries, const char *picture, struct verdict *verdict)
{
    struct image canonical[ALGORITHM_MAX_OUTPUTS] = {{0}}, given[ALGORITHM_MAX_OUTPUTS] = {{0}};
    const char *why;
    enum status status = STATUS_OK;

    memset(verdict, 0, sizeof *verdict);
    why = version_unavailable(version);
    if (!why && version->declines)
        why = version->declines(in, params);
    if (!why && nothing_to_compare(version, expected, params))
        why = "the image has no pixels farther from the edge than the radius, and only those are compared";
    if (why) {
        verdict->outcome = OUTCOME_SKIP;
        snprintf(verdict->what, sizeof verdict->what, "%s", why);
        return STATUS_OK;
    }

    memcpy(given, expected, (size_t)version->algorithm->output_count * sizeof *given);
    TRY(outputs_create_like(canonical, given));
    outputs_copy(canonical, given);
    TRY(compare_canonical_expected(version->algorithm, canonical));
    verdict->outcome = OUTCOME_PASS;
    for (int slot = 0; slot < version->algorithm->output_count; slot++) {
        const int margin = compare_margin(version, slot, params);

        if (!given[slot].data)
            continue;
        verdict->samples += (size_t)(given[slot].width - 2 * margin) * (size_t)(given[slot].height - 2 * margin) *
                            (size_t)given[slot].channels;
    }
    for (int by_launch = 0; by_launch <= (version->launch ? 1 : 0); by_launch++) {
        if (version->launch && entries == (by_launch ? ONE_RUN : ONE_LAUNCH))
            continue;
        const bool once = entries >= ONE_RUN || entries == (by_launch ? ALL_RUNS : ALL_LAUNCHES);
        struct session session = {
            .version = version,
            .algorithm = version->algorithm,
            .params = params,
            .request = request,
            .expected = canonical,
            .by_launch = by_launch == 1,
            .once = once,
            .no_other_input = entries == THIS_INPUT,
            .verdict = verdict,
        };

        TRY(verify_entry(&session, in, picture));
        if (verdict->outcome != OUTCOME_PASS) {
            if (!session.by_launch && version->launch && entries < ONE_RUN)
                TRY(ask_launch(&session, in, picture, verdict));
            break;
        }
    }
out:
    outputs_free(canonical);
    return status;
}

enum status verify_version(const struct version *version, const struct image in[], const void *params,
                           const struct image expected[], const struct input_request *request, const char *picture,
                           struct verdict *verdict)
{
    return verify_entries(version, in, params, expected, request, BOTH_ENTRIES, picture, verdict);
}

enum status verify_on_this_input(const struct version *version, const struct image in[], const void *params,
                                 const struct image expected[], struct verdict *verdict)
{
    return verify_entries(version, in, params, expected, NULL, THIS_INPUT, NULL, verdict);
}

enum status verify_mostly(const struct version *version, const struct image in[], const void *params,
                          const struct image expected[], const struct input_request *request, bool by_launch,
                          const char *picture, struct verdict *verdict)
{
    return verify_entries(version, in, params, expected, request, by_launch ? ALL_LAUNCHES : ALL_RUNS, picture,
                          verdict);
}

enum status verify_once(const struct version *version, const struct image in[], const void *params,
                        const struct image expected[], bool by_launch, const char *picture, struct verdict *verdict)
{
    return verify_entries(version, in, params, expected, NULL, by_launch ? ONE_LAUNCH : ONE_RUN, picture, verdict);
}

enum status verify_unanswered(const struct version *version, const struct image in[], const void *params,
                              const struct input_request *request, struct verdict *verdict)
{
    struct image shapes[ALGORITHM_MAX_OUTPUTS] = {{0}}, nothing[ALGORITHM_MAX_OUTPUTS] = {{0}},
                 result[ALGORITHM_MAX_OUTPUTS] = {{0}}, scratch[ALGORITHM_MAX_OUTPUTS] = {{0}};
    struct session session = {.version = version,
                              .algorithm = version->algorithm,
                              .params = params,
                              .request = request,
                              .expected = nothing,
                              .verdict = verdict};
    enum status status = STATUS_OK;

    memset(verdict, 0, sizeof *verdict);
    if (version_unavailable(version) || (version->declines && version->declines(in, params))) {
        verdict->outcome = OUTCOME_SKIP;
        snprintf(verdict->what, sizeof verdict->what, "declined");
        return STATUS_OK;
    }
    TRY(version->algorithm->shape(in, params, shapes));
    TRY(outputs_create_like(nothing, shapes));
    TRY(outputs_create_like(result, shapes));
    TRY(outputs_create_like(scratch, shapes));
    for (int slot = 0; slot < version->algorithm->output_count; slot++)
        if (nothing[slot].data)
            image_fill(&nothing[slot], 0);
    TRY(session_open(&session, in));
    session_call(&session, (struct setting){0}, in, result);
    if (verdict->returned && !verdict->faulty)
        *verdict = (struct verdict){.outcome = OUTCOME_PASS};
    if (verdict->outcome == OUTCOME_PASS)
        TRY(check_other_input(&session, in, result, scratch));
out:
    session_free(&session);
    outputs_free(nothing);
    outputs_free(result);
    outputs_free(scratch);
    return status;
}
