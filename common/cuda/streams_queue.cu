#include "common/cuda/streams_queue.h"

#include <cstdio>
#include <cstdlib>

#include "common/cuda/flight.h"

static int most = STREAMS_QUEUE_DEPTH;

/* A place in the ring: picture n has place n % depth. */
struct place {
    struct flight flight;
    enum status status; /* of its beginning */
    char message[1024];
};

struct streams {
    const struct version *version;
    const void *params;
    struct place places[STREAMS_QUEUE_MOST];
    unsigned depth, submitted, received;
};

static int depth(void)
{
    return most;
}

void streams_queue_set_depth(int pictures)
{
    most = pictures;
}

static enum status open_streams(const struct version *version, const void *params, void **queue)
{
    struct streams *streams = (struct streams *)calloc(1, sizeof *streams);

    if (!streams)
        return status_set(STATUS_NO_MEMORY, "no memory for the queue of %s", version->source->id);
    streams->version = version;
    streams->params = params;
    streams->depth = (unsigned)most;
    *queue = streams;
    return STATUS_OK;
}

static enum status submit(void *queue, const struct image in[], const struct image out[])
{
    struct streams *streams = (struct streams *)queue;
    struct place *place = &streams->places[streams->submitted % streams->depth];

    if (streams->submitted - streams->received == streams->depth)
        return status_set(STATUS_FAILED, "%s has at most %u pictures under way", streams->version->source->id,
                          streams->depth);
    streams->submitted++;
    place->status = flight_begin(&place->flight, streams->version, in, out, streams->params);
    if (place->status != STATUS_OK)
        snprintf(place->message, sizeof place->message, "%s", status_message());
    return STATUS_OK;
}

static enum status receive(void *queue)
{
    struct streams *streams = (struct streams *)queue;
    struct place *place = &streams->places[streams->received % streams->depth];

    if (streams->submitted == streams->received)
        return status_set(STATUS_FAILED, "%s has no picture under way", streams->version->source->id);
    streams->received++;
    if (place->status != STATUS_OK)
        return status_set(place->status, "%s", place->message);
    return flight_end(&place->flight, streams->version);
}

static const char *note(void *)
{
    return NULL;
}

static void close_streams(void *queue)
{
    struct streams *streams = (struct streams *)queue;

    for (int i = 0; streams && i < STREAMS_QUEUE_MOST; i++)
        flight_free(&streams->places[i].flight, streams->version);
    free(streams);
}

const struct version_queue streams_queue = {depth, open_streams,  submit,          receive,
                                            note,  close_streams, flight_allocate, flight_release};
