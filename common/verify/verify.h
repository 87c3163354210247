/*
 * verify.h: is one version's result for one input right, and if not, what kind of wrong is it?
 */
#ifndef RUNGS_VERIFY_H
#define RUNGS_VERIFY_H

#include "common/contract/registry.h"

enum outcome { OUTCOME_PASS, OUTCOME_FAIL, OUTCOME_SKIP };

struct verdict {
    enum outcome outcome;
    size_t wrong, samples; /* samples that differ by more than the tolerance, of how many, in the slot below */
    double worst;          /* largest difference of any slot, also when it is within the tolerance */
    int slot;              /* FAIL: the output that is wrong */
    int worst_x, worst_y, worst_channel;
    char what[512];      /* FAIL: what is wrong, in one line; SKIP: why */
    char diagnosis[256]; /* FAIL: the likely cause, in one line */
    int certainty;       /* FAIL: of the diagnosis, CERTAINTY_... (diagnose.h) */
    bool pictured;       /* a picture was written */
    bool unwritten;      /* FAIL: some samples hold what they held before */
    bool returned;       /* FAIL: the version said so itself */
    bool faulty;         /* returned: for a fault that CUDA or the emulator found in it */
    bool vague;          /* FAIL: a race, or memory that nobody wrote: nothing is known of where the fault is */
};

/* Runs `version` on `in` and compares with `expected` (reference results, host images, one for each output). In the
 * calling process: call it from a child (process.h).
 *
 * The version runs on `in` twice with one state: into outputs with different poison, with guard bytes before, after and
 * (second time: rows farther apart than they need be) between the rows, from inputs that differ in what lies beyond
 * their pixels, with differently perturbed fresh memory. Then on other input of the same shape at the
 * same addresses, and by run() on that with only some samples inside changed, so that a result kept from an earlier
 * call shows, whatever it is kept under; then teardown(). A CUDA version goes through all this twice, by run() and by
 * setup() and launch() on device images, the second time by two launches in a row on a stream on which the inputs
 * arrive late. While it runs, the buffers of the call before hold garbage and must stay as they are. Checked are
 * status, guards, unwritten samples, NaN, unchanged inputs, the values of every output as the contract compares them
 * (compare.h), and that wrong values are the same each time. Under AddressSanitizer the guards cannot even be read, as
 * little as inputs beyond the 64 bytes that image.h allows.
 *
 * `request` says how the inputs were made, so that others of the same kind can be; NULL: random samples of their shape.
 * When `picture` is not NULL and values differ, a PNG of the difference is written there. Returns a failure only when
 * the verification itself could not be done (no memory); a version that says STATUS_UNSUPPORTED is a SKIP. */
enum status verify_version(const struct version *version, const struct image in[], const void *params,
                           const struct image expected[], const struct input_request *request, const char *picture,
                           struct verdict *verdict);

/* The same on no other input, for one so large that to make others and their references takes longer than the
 * versions. */
enum status verify_on_this_input(const struct version *version, const struct image in[], const void *params,
                                 const struct image expected[], struct verdict *verdict);

/* As verify_version(), of a version that has launch(), with all calls by one entry and a single one by the other. */
enum status verify_mostly(const struct version *version, const struct image in[], const void *params,
                          const struct image expected[], const struct input_request *request, bool by_launch,
                          const char *picture, struct verdict *verdict);

/* One call of run(), or of launch() where the version has one: values, guards and inputs are checked. When the result
 * is wrong, more calls find out why. */
enum status verify_once(const struct version *version, const struct image in[], const void *params,
                        const struct image expected[], bool by_launch, const char *picture, struct verdict *verdict);

/* For an input that the contract has no answer to (hard_case.unanswered): one call of run(), which may fail and may
 * give anything, but must end and stay within its buffers; then one on other input with the same state, whose result
 * must be right. */
enum status verify_unanswered(const struct version *version, const struct image in[], const void *params,
                              const struct input_request *request, struct verdict *verdict);

/* Two states with a parameter set each, called in turn on the same input, by run() and by launch(): whether something
 * that depends on the parameters is kept outside of the state. Compared with the reference. */
enum status verify_alternating(const struct version *version, const struct image in[], const void *const params[2],
                               const struct input_request *request, struct verdict *verdict);

/* For a version of a video algorithm (pipeline.h): gives it a video of `frames` frames of in[0]'s shape, in which a
 * patch that differs from in[0] wanders over in[1], with as many frames in flight as it allows, and compares every
 * result with cpu/serial's. Then, without teardown(), a second video with another first frame and as many frames. In
 * the calling process. Which frame was wrong stands in verdict->what. */
enum status verify_stream(const struct version *version, const struct image in[], const void *params, int frames,
                          struct verdict *verdict);

/* For a version with a queue (queue.h): twice as many pictures as it may have under way and some more, of several
 * sizes, a single pixel among them, then some of one size in the version's own memory, like `request` otherwise; all of
 * them twice. Compares every result, as it is when receive() has returned and after all, with cpu/serial's, and finds
 * out whether it is another picture's. In the calling process. */
enum status verify_queue(const struct version *version, const struct input_request *request, const void *params,
                         struct verdict *verdict);

/* The reference results: runs the algorithm's cpu/serial with a state of its own. out[] are ALGORITHM_MAX_OUTPUTS new
 * images, absent ones zeroed. */
enum status verify_reference(const struct algorithm *algorithm, const struct image in[], const void *params,
                             struct image out[]);

/* The same for whom `version` is compared with: a reference with itself, run with another state. */
enum status verify_reference_of(const struct version *version, const struct image in[], const void *params,
                                struct image out[]);

/* The results of `trusted`, another version, as a reference. */
enum status verify_reference_by(const struct version *trusted, const struct image in[], const void *params,
                                struct image out[]);

/* From here on verify_reference() remembers results, up to `bytes` of them, in memory that this process shares with its
 * later children: the versions of a ladder are checked in a child each, on the same inputs. Results are read-only but
 * while one is added, so that a version that runs wild cannot change them. To be called before the first child. */
enum { VERIFY_REFERENCE_BYTES = 1 << 30 }; /* of address space; memory is taken as results come */
enum status reference_store_open(size_t bytes);
void reference_store_close(void);

#ifdef __cplusplus
extern "C" {
#endif

/* A page that can't be read, right before memory[0] or right behind the last byte of memory. */
enum verify_page { VERIFY_NO_PAGE, VERIFY_PAGE_BEHIND, VERIFY_PAGE_BEFORE };

/* Host memory that holds an image with guard bytes around it; verify_launch() makes a device copy of all of it, with
 * such a page in the emulator. */
struct verify_buffer {
    struct image image; /* its pixels lie inside memory */
    uint8_t *memory;
    size_t bytes;
    enum verify_page page;
};

/* For what verify_launch() waits before launch(). */
enum verify_waits { WAITS_FOR_NOTHING, WAITS_FOR_SETUP, WAITS_FOR_ALL /* the inputs, too, and all streams after it */ };

/* Copies whole buffers to the device, calls setup(), then launch() `launches` times in a row on images there, waits,
 * and copies all buffers back. The inputs' pixels get to the device on the stream that launch() is given, behind a
 * kernel that takes its time: work that launch() puts on another stream finds garbage, and what setup() leaves on the
 * default stream comes too late. `waits` is for finding out which of the two it was.
 * `other`, unless NULL: launches on another picture, before those and behind them, whose results nobody reads. A buffer
 * without memory is an absent slot. In verify_launch.cu. */
enum status verify_launch(const struct version *version, void *state, struct verify_buffer in[], int inputs,
                          struct verify_buffer out[], int outputs, const void *params, int launches,
                          enum verify_waits waits, const struct image other[]);

/* What verifying needs of a version that runs in another process. */
struct version_remote {
    /* Memory for buffers that both processes see at the same address, aligned to 128 bytes; NULL when there is none. */
    void *(*allocate)(size_t bytes);
    void (*release)(void *memory); /* NULL is fine */
    /* What fresh memory of the heap and of the device, and fresh shared memory hold from now on; 0: whatever they
     * do. */
    void (*perturb)(int heap_byte, int shared_byte);
    bool (*lost)(void); /* the process has ended: no further call can succeed */
    /* verify_launch() over there. */
    enum status (*launch)(const struct version *version, struct verify_buffer in[], int inputs,
                          struct verify_buffer out[], int outputs, const void *params, int launches);
};

/* Under AddressSanitizer forbids (or allows again) access to everything in the `buffer->bytes` bytes at `memory` but
 * pixels, and for an input the bytes up to the next multiple of 64; nothing in other builds. */
void verify_protect(const struct verify_buffer *buffer, void *memory, bool is_input, bool forbid);

#ifdef __cplusplus
}
#endif

#endif
