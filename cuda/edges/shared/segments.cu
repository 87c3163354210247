#include "cuda/edges/shared/segments.h"

enum { THREADS = 256 };

static __global__ void clear_kernel(struct segments segments, struct image points)
{
    const unsigned own = blockIdx.x * THREADS + threadIdx.x;

    if (own == 0)
        *segments.ticket = 0;
    if (own < segments.count)
        segments.words[own] = 0;
    if (own < (unsigned)points.height)
        *(int4 *)image_row(&points, (int)own) = make_int4(0, 0, 0, 0);
}

enum status segments_setup(struct segments *segments, const struct image *in, const struct edges_params *params)
{
    const size_t pixels = (size_t)in->width * (size_t)in->height;
    enum status status = STATUS_OK;

    if (params->outputs == EDGES_MASK || segments->words)
        return STATUS_OK;
    segments->count = (unsigned)((pixels + SEGMENTS_PIXELS - 1) / SEGMENTS_PIXELS);
    TRY(device_allocate((void **)&segments->ticket, sizeof *segments->ticket));
    TRY(device_allocate((void **)&segments->words, segments->count * sizeof *segments->words));
out:
    return status;
}

enum status segments_clear(const struct segments *segments, const struct image *points, cudaStream_t stream)
{
    const unsigned threads = max(segments->count, (unsigned)points->height);
    enum status status = STATUS_OK;

    clear_kernel<<<ceiling_divide(threads, THREADS), THREADS, 0, stream>>>(*segments, *points);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

void segments_teardown(struct segments *segments)
{
    device_free(segments->ticket);
    device_free(segments->words);
    *segments = {};
}
