/*
 * flight.h: one picture on its way through a CUDA version: upload, launch() and download on a stream of its own, so
 * that they go on beside those of other pictures. What the queues of this room share.
 *
 * A flight that records enqueues the first picture of its shapes like any other. With the second it records what
 * launch() and the downloads of narrow outputs enqueue as a graph, and from then on a picture is an upload and one call
 * that starts the graph. launch() must enqueue the same for every picture, and nothing that a stream in capture
 * refuses.
 */
#ifndef RUNGS_FLIGHT_H
#define RUNGS_FLIGHT_H

#include "common/contract/queue.h"
#include "common/cuda/device.h"

/* Zeroed, but for `records`: nothing made yet. Belongs to the device that was current at its first picture. */
struct flight {
    cudaStream_t stream;
    void *state; /* the version's, for pictures of these shapes */
    struct image shapes[ALGORITHM_MAX_INPUTS];
    struct device_images images;
    /* Outputs whose rows are a few bytes (tables) arrive here, page-locked, in one piece with their padding: as rows
     * they are a thousand copies of 12 bytes. */
    char *narrow[ALGORITHM_MAX_OUTPUTS];
    struct image out[ALGORITHM_MAX_OUTPUTS]; /* the host's, of the picture under way */
    bool records;
    int pictures;          /* of these shapes, counted up to 2 */
    cudaGraphExec_t graph; /* NULL: not recorded yet */
};

/* Only enqueues, where the host's memory is page-locked and the flight's last picture had these shapes. On failure
 * nothing is under way, and the flight is as new, but for `records`. */
enum status flight_begin(struct flight *flight, const struct version *version, const struct image in[],
                         const struct image out[], const void *params);
/* Waits until the outputs are complete. On failure as above. */
enum status flight_end(struct flight *flight, const struct version *version);
void flight_free(struct flight *flight, const struct version *version);

/* Page-locked memory, for all devices. */
void *flight_allocate(size_t bytes);
void flight_release(void *memory);

#endif
