/*
 * status.h: how functions of Rungs say that they failed.
 *
 * A function that can fail returns an enum status. When it is not STATUS_OK, one line that a person can act on
 * (what failed, which file, why) waits in status_message() for the calling thread. Only main() exits.
 *
 * Handles are declared at the top of a function, and one label `out:` frees them:
 *
 *     enum status status = STATUS_OK;
 *     struct image gray = {0};
 *
 *     TRY(image_create(&gray, width, height, 1, PIXEL_U8));
 *     TRY(image_load(&photo, "photo.png"));
 * out:
 *     image_free(&gray);
 *     return status;
 */
#ifndef RUNGS_STATUS_H
#define RUNGS_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

enum status {
    STATUS_OK = 0,
    STATUS_BAD_INPUT,   /* the user's: a file, an option, a parameter */
    STATUS_UNSUPPORTED, /* fine in itself, but not on this machine or in this build */
    STATUS_NO_MEMORY,
    STATUS_FAILED /* ours or the device's: a CUDA call, a child process */
};

/* Keeps the formatted message for this thread and returns `code`, so that a failure is one line:
 *     return status_set(STATUS_BAD_INPUT, "%s: width is 0", path);                                    */
enum status status_set(enum status code, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

/* The message of the last failure on this thread; "" when there was none. Valid until the next status_set(). */
const char *status_message(void);

/* Runs a call that returns an enum status; on failure keeps it in the local `status` and jumps to `out`. */
#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        status = (call);                                                                                               \
        if (status != STATUS_OK)                                                                                       \
            goto out;                                                                                                  \
    } while (0)

#ifdef __cplusplus
}
#endif
#endif
