/*
 * own.cuh: the windows of one warp that are left, in a list that only it writes.
 */
#ifndef RUNGS_DETECT_STEPS_OWN_CUH
#define RUNGS_DETECT_STEPS_OWN_CUH

#include "common/cuda/device.h"

/* Their places in the tile and responses. */
template <int WINDOWS> struct own_windows {
    unsigned short places[WINDOWS];
    float responses[WINDOWS];
};

/* Called by all lanes: appends those who keep a window to the `count` in the list; how many there are then. A list may be closed
 * up in place: what a warp has read, 32 entries from its beginning on at a time, it may overwrite. */
template <int WINDOWS>
static inline __device__ unsigned own_keep(struct own_windows<WINDOWS> *own, unsigned count, bool kept, int place,
                                           float response)
{
    const unsigned ballot = __ballot_sync(0xffffffff, kept), lane = threadIdx.x % 32;

    __syncwarp(); /* all lanes have read their entries */
    if (kept) {
        const unsigned entry = count + __popc(ballot & ((1u << lane) - 1));
        own->places[entry] = place;
        own->responses[entry] = response;
    }
    return count + __popc(ballot);
}

#endif
