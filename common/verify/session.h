/*
 * session.h: one version on inputs of one shape, by run() or by launch(), with one state at a time: what verify.c and
 * explain.c stand on.
 */
#ifndef RUNGS_SESSION_H
#define RUNGS_SESSION_H

#include "common/verify/compare.h"
#include "common/verify/diagnose.h"
#include "common/verify/guard.h"
#include "common/verify/outputs.h"

struct session {
    const struct version *version;
    const struct algorithm *algorithm;
    const void *params;
    const struct input_request *request;
    const struct image *expected; /* canonical (compare.h) */
    bool by_launch;
    bool once;                   /* buffers for settings with rows as close as they may be, and no others */
    bool no_other_input;         /* than the one that is given */
    const struct image *company; /* launch(): of another picture before and behind that of the input; NULL: none */
    void *state;
    struct guarded in[2][ALGORITHM_MAX_INPUTS], out[2][ALGORITHM_MAX_OUTPUTS]; /* by setting.stride */
    struct verdict *verdict;
};

/* A failure: sets what happened, once the call can go no further. */
#define FAIL(session, sure, ...)                                                                                       \
    do {                                                                                                               \
        (session)->verdict->outcome = OUTCOME_FAIL;                                                                    \
        (session)->verdict->certainty = (sure);                                                                        \
        snprintf((session)->verdict->what, sizeof(session)->verdict->what, __VA_ARGS__);                               \
    } while (0)
#define DIAGNOSIS(session, ...)                                                                                        \
    snprintf((session)->verdict->diagnosis, sizeof(session)->verdict->diagnosis, __VA_ARGS__)

/* "run(): ", "launch(): ", or "" for a version that has run() alone. */
const char *session_entry(const struct session *session);

/* Makes buffers for inputs of these shapes and a state. version, algorithm, params, request, expected, by_launch and
 * verdict are filled in before. session_free() in either case. */
enum status session_open(struct session *session, const struct image in[]);
void session_free(struct session *session);

/* Ends the state there is and makes a new one. */
enum status session_new_state(struct session *session);

/* One call of the version under a setting, on the pixels of `in`; its results, canonical, go to result[] (made before).
 * Sets the verdict to FAIL or SKIP when the call itself, its guards or its inputs are not as they must be. */
void session_call(struct session *session, struct setting setting, const struct image in[], struct image result[]);

/* Samples of two results of a slot on one input that differ by more than the tolerance; NaN both times is the same. */
size_t session_count_changes(const struct session *session, int slot, double tolerance, const struct image *first,
                             const struct image *second);

/* The first slot of `actual` that is wrong, -1 when none is; how it differs. */
int session_first_wrong(const struct session *session, const struct image in[], const struct image expected[],
                        const struct image actual[], struct slot_difference *difference);

/* The samples of `slot` that hold one poison in one result and the other in the second: *unwritten is a new array of a
 * byte per sample, or NULL when there is none. */
enum status session_find_unwritten(const struct session *session, int slot, const struct image *first,
                                   const struct image *second, uint8_t **unwritten, size_t *count);

/* Fails the verdict for wrong values in `slot`, with a diagnosis and, unless NULL, a picture. */
void session_report(struct session *session, const struct image in[], const struct image expected[],
                    const struct image actual[], int slot, const struct slot_difference *difference,
                    const uint8_t *unwritten, size_t unwritten_count, const char *picture);

/* ------------------------------------------------------------------------------------------------- explain.c */

/* Changes one sample in sixteen of the last input that is a picture of bytes, at least one, and keeps what a lazy key
 * would be made of: the corners, or for every other size the whole frame. False when there is no such input, or nothing
 * in it to change. */
bool session_change_inside(const struct session *session, struct image in[], uint64_t seed);

/* Two calls on the same input gave `first` and `second`: finds out what makes the difference. */
enum status explain_change(struct session *session, const struct setting settings[2], const struct image in[],
                           const struct image first[], const struct image second[], struct image scratch[]);

/* The version returned a failure under the second setting, and none under the first: finds out which part of it is
 * why. Where the first fails too when it is repeated, the failure keeps its own words. */
enum status explain_failure(struct session *session, const struct setting settings[2], const struct image in[],
                            struct image scratch[]);

/* A wrong result: finds out whether it is right for an input whose channels are exchanged. Where a slot of the result
 * has as many channels, diagnose() sees it there. */
enum status explain_channels(struct session *session, const struct image in[], const struct image actual[]);

/* Two calls on the same input gave the same wrong result `first`: looks whether further ones do, too, or a race
 * happened to end twice in the same way. */
void explain_repeats(struct session *session, const struct image in[], const struct image first[],
                     struct image scratch[]);

/* A wrong result `first` whose samples are all the same, twice: finds out whether it is what fresh memory held. */
enum status explain_flat(struct session *session, const struct image in[], const struct image first[],
                         struct image scratch[]);

/* launch() gave a wrong result: finds out whether it is right with inputs that need not be waited for. */
enum status explain_stream(struct session *session, const struct image in[], struct image scratch[]);

/* The version was right for one input, and its results `actual` for `other` are wrong: a race, something that is kept
 * of the earlier call, or a fault that only this input shows. `earlier` are the results of that call. */
enum status explain_other_input(struct session *session, const struct image other[], const struct image expected[],
                                const struct image earlier[], const struct image actual[], struct image scratch[]);

#endif
