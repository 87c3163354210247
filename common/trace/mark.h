/*
 * mark.h: named ranges of time on the host: a call, the steps of a pipeline inside it, the phases inside a step.
 * Whoever listens gets them: NVTX in native builds (common/trace/nvtx.cu), so that nsys and ncu show these names, and
 * the recorder of `rungs profile`. Without a listener a mark costs one test.
 */
#ifndef RUNGS_MARK_H
#define RUNGS_MARK_H

#ifdef __cplusplus
extern "C" {
#endif

enum mark_level { MARK_CALL, MARK_STEP, MARK_PHASE, MARK_LEVELS };

/* From here on the calling thread is in the range `name` (NULL: in none) of this level. Ends the range that it was in
 * at this level and those inside it. The text must live until the range ends. */
void mark(enum mark_level level, const char *name);

struct mark_listener {
    void (*begin)(enum mark_level level, const char *name); /* both on the marking thread; ranges nest */
    void (*end)(enum mark_level level, const char *name);
};

enum { MARK_MAX_LISTENERS = 4 };

/* Adds a listener, which must live for ever. To be called while no range is open and one thread runs; more than
 * MARK_MAX_LISTENERS are not heard. */
void mark_listen(const struct mark_listener *listener);

#ifdef __cplusplus
}
#endif
#endif
