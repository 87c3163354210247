/*
 * queue.h: versions of an algorithm for one picture that can have many of them under way.
 *
 *     open(version, params)     once, for pictures of any shapes
 *     submit(in, out)           up to depth() pictures may be submitted before the first is received; the samples of
 *                               inputs and outputs must stay where they are until then
 *     receive()                 waits for the oldest picture that was submitted and not received; its outputs are
 *     complete
 *     close()                   whatever is still under way is waited for
 *
 * Each submit() has its receive(), in the same order, whatever happens in between: a picture that failed says so there,
 * and the others go on. A version names its queue in its last line (.queue = &streams_queue). Its run() and launch()
 * are for one picture, as those of other versions are.
 */
#ifndef RUNGS_QUEUE_H
#define RUNGS_QUEUE_H

#include <stddef.h>

#include "common/core/status.h"
#include "common/image/image.h"

#ifdef __cplusplus
extern "C" {
#endif

struct version;

struct version_queue {
    int (*depth)(void); /* on this machine, at least 1; a CUDA version starts the runtime for it */
    enum status (*open)(const struct version *version, const void *params, void **queue);
    enum status (*submit)(void *queue, const struct image in[], const struct image out[]);
    enum status (*receive)(void *queue);
    /* NULL, or in one line what went wrong although no picture was lost by it: a device that others stood in for. */
    const char *(*note)(void *queue);
    void (*close)(void *queue); /* NULL is fine */
    /* Memory for samples where this version wants them (page-locked, say); any other does as well, but takes longer.
     * allocate() returns NULL when there is none. */
    void *(*allocate)(size_t bytes);
    void (*release)(void *memory);
};

#ifdef __cplusplus
}
#endif
#endif
