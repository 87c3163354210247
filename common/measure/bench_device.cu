#include "common/measure/bench_device.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "common/core/clock.h"
#include "common/cuda/device.h"

/* The emulator is a program on the CPU: there is nothing to measure. What it can answer is what it is. */
#if defined(__NVCC__)

#include "common/measure/statistics.h"

static const char *no_device(cudaError_t error)
{
    static char reason[200];

    cudaGetLastError();
    snprintf(reason, sizeof reason, "no CUDA device: %s", cudaGetErrorString(error));
    return reason;
}

enum status bench_device_facts(struct device_facts *facts)
{
    cudaDeviceProp properties;
    int device = 0;
    cudaError_t error;

    memset(facts, 0, sizeof *facts);
    cudaRuntimeGetVersion(&facts->runtime_version);
    error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaGetDeviceProperties(&properties, device);
    if (error != cudaSuccess) {
        snprintf(facts->why, sizeof facts->why, "%s", no_device(error));
        return status_set(STATUS_UNSUPPORTED, "%s", facts->why);
    }
    snprintf(facts->name, sizeof facts->name, "%.*s", (int)sizeof facts->name - 1, properties.name);
    facts->capability = 10 * properties.major + properties.minor;
    facts->multiprocessors = properties.multiProcessorCount;
    facts->l2 = (size_t)properties.l2CacheSize;
    facts->memory = properties.totalGlobalMem;
    return STATUS_OK;
}

/* ---------------------------------------------------------------------------------------------------- start */

__global__ void empty_kernel()
{
}

enum status bench_device_start(struct device_start *start)
{
    enum status status = STATUS_OK;
    void *memory = NULL;
    const double begin = clock_seconds();
    double context, allocated;

    CUDA_TRY(cudaFree(NULL));
    context = clock_seconds();
    CUDA_TRY(cudaMalloc(&memory, (size_t)1 << 20));
    allocated = clock_seconds();
    empty_kernel<<<1, 1>>>();
    CUDA_TRY(cudaGetLastError());
    CUDA_TRY(cudaDeviceSynchronize());
    start->context = context - begin;
    start->allocation = allocated - context;
    start->launch = clock_seconds() - allocated;
out:
    cudaFree(memory);
    return status;
}

enum status bench_device_pin(const struct image *image)
{
    enum status status = STATUS_OK;

    CUDA_TRY(cudaHostRegister(image->data, image->stride * (size_t)image->height, cudaHostRegisterDefault));
out:
    return status;
}

void bench_device_unpin(const struct image *image)
{
    cudaHostUnregister(image->data);
}

/* --------------------------------------------------------------------------------------------------- timing */

struct device_sets {
    int count, inputs, outputs;
    struct image (*in)[ALGORITHM_MAX_INPUTS];
    struct image (*out)[ALGORITHM_MAX_OUTPUTS];
};

static void device_sets_free(struct device_sets *sets)
{
    for (int set = 0; set < sets->count; set++) {
        for (int i = 0; sets->in && i < sets->inputs; i++)
            device_image_free(&sets->in[set][i]);
        for (int i = 0; sets->out && i < sets->outputs; i++)
            device_image_free(&sets->out[set][i]);
    }
    free(sets->in);
    free(sets->out);
}

/* Waits: this and uploads before it use the default stream, for which the timed stream does not wait. */
static enum status poison(struct device_sets *sets, int set)
{
    enum status status = STATUS_OK;

    for (int i = 0; i < sets->outputs; i++) {
        const struct image *image = &sets->out[set][i];
        if (image->width > 0)
            CUDA_TRY(cudaMemset(image->data, 0xA5, image->stride * (size_t)image->height));
    }
    CUDA_TRY(cudaDeviceSynchronize());
out:
    return status;
}

enum { MAX_DEVICE_SETS = 256 };

static enum status device_sets_create(struct device_sets *sets, const struct device_timing *timing, size_t l2)
{
    enum status status = STATUS_OK;
    size_t bytes = 0, available = 0, all = 0, count;

    sets->inputs = timing->version->algorithm->input_count;
    sets->outputs = timing->version->algorithm->output_count;
    for (int i = 0; i < sets->outputs; i++)
        bytes += image_minimal_stride(&timing->out_shapes[i]) * (size_t)timing->out_shapes[i].height;
    for (int i = 0; i < sets->inputs; i++)
        bytes += image_minimal_stride(&timing->in[0][i]) * (size_t)timing->in[0][i].height;
    CUDA_TRY(cudaMemGetInfo(&available, &all));
    count = 2 * l2 / bytes + 1;
    if (count > available / 2 / bytes)
        count = available / 2 / bytes;
    sets->count = count < 2 ? 2 : count > MAX_DEVICE_SETS ? MAX_DEVICE_SETS : (int)count;

    sets->in = (struct image(*)[ALGORITHM_MAX_INPUTS])calloc((size_t)sets->count, sizeof *sets->in);
    sets->out = (struct image(*)[ALGORITHM_MAX_OUTPUTS])calloc((size_t)sets->count, sizeof *sets->out);
    if (!sets->in || !sets->out)
        return status_set(STATUS_NO_MEMORY, "no memory for %d sets of device images", sets->count);
    for (int set = 0; set < sets->count; set++) {
        const struct image *host = timing->in[set % timing->sets];

        for (int i = 0; i < sets->inputs; i++) {
            TRY(device_image_create(&sets->in[set][i], &host[i]));
            TRY(device_upload(&sets->in[set][i], &host[i]));
        }
        for (int i = 0; i < sets->outputs; i++)
            if (timing->out_shapes[i].width > 0)
                TRY(device_image_create(&sets->out[set][i], &timing->out_shapes[i]));
        TRY(poison(sets, set));
    }
out:
    return status;
}

/* Launches 0..count-1, each on the next set. */
static enum status enqueue(const struct device_timing *timing, void *state, struct device_sets *sets, int count,
                           cudaStream_t stream)
{
    enum status status = STATUS_OK;

    for (int i = 0; i < count; i++)
        TRY(timing->version->launch(state, sets->in[i % sets->count], sets->out[i % sets->count], timing->params,
                                    stream));
out:
    return status;
}

/* *executable stays NULL when the launches cannot be captured; the stream is usable again either way. */
static enum status capture(const struct device_timing *timing, void *state, struct device_sets *sets, int count,
                           cudaStream_t stream, cudaGraphExec_t *executable)
{
    enum status status = STATUS_OK, launched;
    cudaGraph_t graph = NULL;

    *executable = NULL;
    CUDA_TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    launched = enqueue(timing, state, sets, count, stream);
    if (cudaStreamEndCapture(stream, &graph) != cudaSuccess || launched != STATUS_OK ||
        cudaGraphInstantiate(executable, graph, 0) != cudaSuccess)
        *executable = NULL;
    cudaGetLastError();
out:
    if (graph)
        cudaGraphDestroy(graph);
    return status;
}

/* One batch between two events. */
static enum status time_batch(const struct device_timing *timing, void *state, struct device_sets *sets, int count,
                              cudaStream_t stream, cudaGraphExec_t graph, const cudaEvent_t events[2], double *seconds)
{
    enum status status = STATUS_OK;
    float milliseconds = 0;

    CUDA_TRY(cudaEventRecord(events[0], stream));
    if (graph)
        CUDA_TRY(cudaGraphLaunch(graph, stream));
    else
        TRY(enqueue(timing, state, sets, count, stream));
    CUDA_TRY(cudaEventRecord(events[1], stream));
    CUDA_TRY(cudaEventSynchronize(events[1]));
    CUDA_TRY(cudaEventElapsedTime(&milliseconds, events[0], events[1]));
    *seconds = 1e-3 * (double)milliseconds;
out:
    return status;
}

static bool stable(const struct device_timing *timing)
{
    double *sorted = (double *)malloc(timing->count * sizeof *sorted);
    struct statistics statistics = {0, 0, 0, 0};

    if (sorted) {
        memcpy(sorted, timing->samples, timing->count * sizeof *sorted);
        statistics = statistics_of(sorted, timing->count);
    }
    free(sorted);
    return statistics.count > 0 && statistics_stable(&statistics);
}

static enum status download(struct device_timing *timing, struct device_sets *sets, int set, int result)
{
    enum status status = STATUS_OK;

    for (int i = 0; i < sets->outputs; i++)
        if (sets->out[set][i].width > 0)
            TRY(device_download(&timing->results[result][i], &sets->out[set][i]));
out:
    return status;
}

static enum status collect(struct device_timing *timing, void *state, struct device_sets *sets, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    cudaEvent_t events[2] = {NULL, NULL};
    cudaGraphExec_t graph = NULL;
    double seconds = 0, start;

    CUDA_TRY(cudaEventCreate(&events[0]));
    CUDA_TRY(cudaEventCreate(&events[1]));
    if (timing->once) {
        timing->batch = 1;
        timing->graph = false;
        TRY(poison(sets, 0));
        TRY(time_batch(timing, state, sets, 1, stream, NULL, events, &timing->samples[0]));
        timing->count = 1;
        TRY(download(timing, sets, 0, 0));
        goto out;
    }
    /* Once over all sets, unmeasured; then once more to see how long a launch takes. */
    for (int i = 0; i < 2; i++)
        TRY(time_batch(timing, state, sets, sets->count, stream, NULL, events, &seconds));
    timing->batch = (int)(1e-3 / (seconds / sets->count)) + 1;
    /* Whole rotations, so that each batch begins where the last one ended. */
    timing->batch = (timing->batch + sets->count - 1) / sets->count * sets->count;
    TRY(capture(timing, state, sets, timing->batch, stream, &graph));
    timing->graph = graph != NULL;
    if (graph) /* its first launch uploads it */
        TRY(time_batch(timing, state, sets, timing->batch, stream, graph, events, &seconds));
    TRY(poison(sets, 0));
    TRY(poison(sets, 1));

    start = clock_seconds();
    for (timing->count = 0; timing->count < timing->capacity;) {
        TRY(time_batch(timing, state, sets, timing->batch, stream, graph, events, &seconds));
        timing->samples[timing->count++] = seconds / timing->batch;
        const double elapsed = clock_seconds() - start;
        if (elapsed >= timing->seconds || (elapsed >= timing->seconds / 4 && stable(timing)))
            break;
    }
    for (int set = 0; set < 2; set++)
        TRY(download(timing, sets, set, set));

    for (int i = 0; i < sets->inputs; i++)
        TRY(device_upload(&sets->in[0][i], &timing->in[1][i]));
    TRY(poison(sets, 0));
    TRY(time_batch(timing, state, sets, 1, stream, NULL, events, &seconds));
    TRY(download(timing, sets, 0, 2));
out:
    if (graph)
        cudaGraphExecDestroy(graph);
    for (int i = 0; i < 2; i++)
        if (events[i])
            cudaEventDestroy(events[i]);
    return status;
}

enum status bench_device_time(struct device_timing *timing, void *state)
{
    enum status status = STATUS_OK;
    struct device_sets sets = {0, 0, 0, NULL, NULL};
    struct device_facts facts;
    cudaStream_t stream = NULL;

    timing->count = 0;
    TRY(bench_device_facts(&facts));
    CUDA_TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    TRY(device_sets_create(&sets, timing, facts.l2));
    TRY(timing->version->setup(state, sets.in[0], timing->params));
    CUDA_TRY(cudaDeviceSynchronize());
    TRY(collect(timing, state, &sets, stream));
out:
    if (stream)
        cudaStreamDestroy(stream);
    device_sets_free(&sets);
    return status;
}

#else

static enum status refuse(void)
{
    return status_set(STATUS_UNSUPPORTED, "CUDA is emulated: times would say nothing about a GPU");
}

enum status bench_device_facts(struct device_facts *facts)
{
    memset(facts, 0, sizeof *facts);
    snprintf(facts->why, sizeof facts->why, "CUDA is emulated");
    return refuse();
}

enum status bench_device_start(struct device_start *start)
{
    memset(start, 0, sizeof *start);
    return refuse();
}

enum status bench_device_pin(const struct image *image)
{
    (void)image;
    return refuse();
}

void bench_device_unpin(const struct image *image)
{
    (void)image;
}

enum status bench_device_time(struct device_timing *timing, void *state)
{
    (void)state;
    timing->count = 0;
    return refuse();
}

#endif
