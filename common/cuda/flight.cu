#include "common/cuda/flight.h"

#include <pthread.h>

#include <cstdlib>
#include <cstring>

enum { NARROW_BYTES = 256 };

/* Held while device memory is made or freed and while a graph is recorded. Images are cleared on the default stream,
 * which waits for all others, and while one of them is recorded that is refused, for it could never end; so is the
 * record. */
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

static void free_all(struct flight *flight, const struct version *version);

static bool is_narrow(const struct image *image)
{
    return image_row_bytes(image) < NARROW_BYTES;
}

static bool has_shapes(const struct flight *flight, const struct image in[], int inputs)
{
    for (int i = 0; i < inputs; i++)
        if (!image_same_shape(&flight->shapes[i], &in[i]))
            return false;
    return flight->state != NULL;
}

/* What a picture of these shapes needs on the device, unless the one before it had them, too. */
static enum status prepare(struct flight *flight, const struct version *version, const struct image in[],
                           const struct image out[], const void *params)
{
    const int inputs = version->algorithm->input_count, outputs = version->algorithm->output_count;
    enum status status = STATUS_OK;

    if (has_shapes(flight, in, inputs))
        return STATUS_OK;
    pthread_mutex_lock(&making);
    free_all(flight, version);
    CUDA_TRY(cudaStreamCreate(&flight->stream)); /* waits for the default stream, on which images are cleared */
    flight->state = calloc(1, version->state_size);
    if (!flight->state) {
        status = status_set(STATUS_NO_MEMORY, "no memory for the state of %s", version->source->id);
        goto out;
    }
    memcpy(flight->shapes, in, (size_t)inputs * sizeof *in);
    TRY(version->setup(flight->state, in, params));
    TRY(device_images_create(&flight->images, in, inputs, out, outputs));
    for (int i = 0; i < outputs; i++)
        if (out[i].width > 0 && is_narrow(&out[i]))
            CUDA_TRY(cudaMallocHost(&flight->narrow[i], flight->images.out[i].stride * (size_t)out[i].height));
out:
    pthread_mutex_unlock(&making);
    return status;
}

/* launch(), then the outputs whose rows are few bytes: the same for every picture of these shapes. */
static enum status compute(struct flight *flight, const struct version *version, const void *params)
{
    enum status status = STATUS_OK;

    TRY(version->launch(flight->state, flight->images.in, flight->images.out, params, flight->stream));
    for (int i = 0; i < version->algorithm->output_count; i++)
        if (flight->narrow[i])
            CUDA_TRY(cudaMemcpyAsync(flight->narrow[i], flight->images.out[i].data,
                                     flight->images.out[i].stride * (size_t)flight->out[i].height,
                                     cudaMemcpyDeviceToHost, flight->stream));
out:
    return status;
}

static enum status record(struct flight *flight, const struct version *version, const void *params)
{
    enum status status = STATUS_OK, computed;
    cudaGraph_t graph = NULL;

    pthread_mutex_lock(&making);
    CUDA_TRY(cudaStreamBeginCapture(flight->stream, cudaStreamCaptureModeThreadLocal));
    computed = compute(flight, version, params);
    CUDA_TRY(cudaStreamEndCapture(flight->stream, &graph)); /* also after a failure, which it tells again */
    TRY(computed);
    CUDA_TRY(cudaGraphInstantiate(&flight->graph, graph, 0));
out:
    if (graph)
        cudaGraphDestroy(graph);
    pthread_mutex_unlock(&making);
    return status;
}

enum status flight_begin(struct flight *flight, const struct version *version, const struct image in[],
                         const struct image out[], const void *params)
{
    const int inputs = version->algorithm->input_count, outputs = version->algorithm->output_count;
    enum status status = STATUS_OK;

    TRY(prepare(flight, version, in, out, params));
    memcpy(flight->out, out, (size_t)outputs * sizeof *out);
    for (int i = 0; i < inputs; i++)
        if (in[i].width > 0)
            CUDA_TRY(cudaMemcpy2DAsync(flight->images.in[i].data, flight->images.in[i].stride, in[i].data, in[i].stride,
                                       image_row_bytes(&in[i]), (size_t)in[i].height, cudaMemcpyHostToDevice,
                                       flight->stream));
    flight->pictures += flight->pictures < 2;
    if (flight->records && flight->pictures == 2 && !flight->graph)
        TRY(record(flight, version, params));
    if (flight->graph)
        CUDA_TRY(cudaGraphLaunch(flight->graph, flight->stream));
    else
        TRY(compute(flight, version, params));
    for (int i = 0; i < outputs; i++)
        if (out[i].width > 0 && !flight->narrow[i])
            CUDA_TRY(cudaMemcpy2DAsync(out[i].data, out[i].stride, flight->images.out[i].data,
                                       flight->images.out[i].stride, image_row_bytes(&out[i]), (size_t)out[i].height,
                                       cudaMemcpyDeviceToHost, flight->stream));
out:
    if (status != STATUS_OK)
        flight_free(flight, version);
    return status;
}

enum status flight_end(struct flight *flight, const struct version *version)
{
    enum status status = STATUS_OK;

    CUDA_TRY(cudaStreamSynchronize(flight->stream));
    for (int i = 0; i < version->algorithm->output_count; i++)
        for (int y = 0; flight->narrow[i] && y < flight->out[i].height; y++)
            memcpy(image_row(&flight->out[i], y), flight->narrow[i] + (size_t)y * flight->images.out[i].stride,
                   image_row_bytes(&flight->out[i]));
out:
    if (status != STATUS_OK)
        flight_free(flight, version);
    return status;
}

static void free_all(struct flight *flight, const struct version *version)
{
    const bool records = flight->records;

    if (flight->stream) { /* its work reads and writes the host's samples */
        cudaStreamSynchronize(flight->stream);
        cudaStreamDestroy(flight->stream);
    }
    if (flight->graph)
        cudaGraphExecDestroy(flight->graph);
    if (flight->state)
        version->teardown(flight->state);
    free(flight->state);
    device_images_free(&flight->images);
    for (char *memory : flight->narrow)
        if (memory)
            cudaFreeHost(memory);
    cudaGetLastError(); /* what went wrong has been reported; the next picture begins anew */
    *flight = {};
    flight->records = records;
}

void flight_free(struct flight *flight, const struct version *version)
{
    pthread_mutex_lock(&making);
    free_all(flight, version);
    pthread_mutex_unlock(&making);
}

void *flight_allocate(size_t bytes)
{
    void *memory = NULL;

    return cuda_status(cudaHostAlloc(&memory, bytes, cudaHostAllocPortable), "cudaHostAlloc", __FILE__, __LINE__) ==
                   STATUS_OK
               ? memory
               : NULL;
}

void flight_release(void *memory)
{
    cudaFreeHost(memory);
}
