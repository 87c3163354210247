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

/* ------------------------------------------------------------------------------------------------- ceilings */

enum { CEILING_SAMPLES = 10, CEILING_WARM_UP = 3 };

__global__ void copy_kernel(uint4 *to, const uint4 *from, size_t count)
{
    const size_t stride = (size_t)gridDim.x * blockDim.x;

    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride)
        to[i] = from[i];
}

enum { CHAINS = 8, CHAIN_LENGTH = 4096, ARITHMETIC_THREADS = 256, ARITHMETIC_BLOCKS_PER_PROCESSOR = 16 };

/* Eight sums that do not wait for each other; the operands change with the round, or the compiler would multiply once.
 * The sum is stored only under a condition that holds for no input here but that the compiler cannot know. */
__global__ void arithmetic_kernel(unsigned *out, unsigned a, unsigned b)
{
#if __CUDA_ARCH__ >= 610
    unsigned sums[CHAINS], total = 0;

    for (int i = 0; i < CHAINS; i++)
        sums[i] = threadIdx.x + i;
    for (int round = 0; round < CHAIN_LENGTH; round++) {
#pragma unroll
        for (int i = 0; i < CHAINS; i++)
            sums[i] = __dp4a(a, b, sums[i]);
        a += sums[0];
    }
    for (int i = 0; i < CHAINS; i++)
        total ^= sums[i];
    if (total == 0x9E3779B9)
        out[blockIdx.x] = total;
#else
    (void)out, (void)a, (void)b;
#endif
}

/* The median seconds of what `enqueue` puts on the default stream. */
template <typename Enqueue> static enum status time_device(Enqueue enqueue, double *seconds)
{
    enum status status = STATUS_OK;
    cudaEvent_t begin = NULL, end = NULL;
    double samples[CEILING_SAMPLES];

    *seconds = 0;
    CUDA_TRY(cudaEventCreate(&begin));
    CUDA_TRY(cudaEventCreate(&end));
    for (int i = -CEILING_WARM_UP; i < CEILING_SAMPLES; i++) {
        float milliseconds = 0;

        CUDA_TRY(cudaEventRecord(begin));
        CUDA_TRY(enqueue());
        CUDA_TRY(cudaEventRecord(end));
        CUDA_TRY(cudaEventSynchronize(end));
        CUDA_TRY(cudaEventElapsedTime(&milliseconds, begin, end));
        if (i >= 0)
            samples[i] = 1e-3 * (double)milliseconds;
    }
    *seconds = statistics_of(samples, CEILING_SAMPLES).median;
out:
    if (begin)
        cudaEventDestroy(begin);
    if (end)
        cudaEventDestroy(end);
    return status;
}

static enum status measure_copy(int processors, double *rate)
{
    enum status status = STATUS_OK;
    char *from = NULL, *to = NULL;
    size_t available = 0, all = 0, bytes = (size_t)1 << 30;
    double seconds = 0;

    CUDA_TRY(cudaMemGetInfo(&available, &all));
    if (bytes > available / 4)
        bytes = available / 4 / sizeof(uint4) * sizeof(uint4);
    CUDA_TRY(cudaMalloc(&from, bytes));
    CUDA_TRY(cudaMalloc(&to, bytes));
    CUDA_TRY(cudaMemset(from, 0x5A, bytes));
    TRY(time_device([&] { return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice); }, &seconds));
    *rate = 2 * (double)bytes / seconds;
    /* Few fat blocks that walk the memory, and one thread for each 16 bytes: which wins differs between GPUs. */
    for (int way = 0; way < 2; way++) {
        const size_t count = bytes / sizeof(uint4), threads = 512;
        const unsigned blocks = way ? (unsigned)((count + threads - 1) / threads) : (unsigned)processors * 8;

        TRY(time_device(
            [&] {
                copy_kernel<<<blocks, threads>>>((uint4 *)to, (const uint4 *)from, count);
                return cudaGetLastError();
            },
            &seconds));
        if (2 * (double)bytes / seconds > *rate)
            *rate = 2 * (double)bytes / seconds;
    }
out:
    cudaFree(from);
    cudaFree(to);
    return status;
}

static enum status measure_arithmetic(int processors, double *rate)
{
    enum status status = STATUS_OK;
    const unsigned blocks = (unsigned)processors * ARITHMETIC_BLOCKS_PER_PROCESSOR;
    unsigned *out = NULL;
    double seconds = 0;

    CUDA_TRY(cudaMalloc(&out, blocks * sizeof *out));
    TRY(time_device(
        [&] {
            arithmetic_kernel<<<blocks, ARITHMETIC_THREADS>>>(out, 0x01020304u, 0x05060708u);
            return cudaGetLastError();
        },
        &seconds));
    *rate = (double)(4L * CHAINS * CHAIN_LENGTH * ARITHMETIC_THREADS) * blocks / seconds;
out:
    cudaFree(out);
    return status;
}

enum status bench_device_ceilings(struct device_ceilings *ceilings)
{
    enum status status = STATUS_OK;
    struct device_facts facts;

    memset(ceilings, 0, sizeof *ceilings);
    TRY(bench_device_facts(&facts));
    TRY(measure_copy(facts.multiprocessors, &ceilings->copy_bytes_per_second));
    if (facts.capability >= 61)
        TRY(measure_arithmetic(facts.multiprocessors, &ceilings->multiply_accumulates_per_second));
out:
    return status;
}

/* --------------------------------------------------------------------------------------------------- timing */

struct device_sets {
    int count, inputs;
    struct image (*in)[ALGORITHM_MAX_INPUTS];
    struct image *out;
};

static void device_sets_free(struct device_sets *sets)
{
    for (int set = 0; set < sets->count; set++) {
        for (int i = 0; sets->in && i < sets->inputs; i++)
            device_image_free(&sets->in[set][i]);
        if (sets->out)
            device_image_free(&sets->out[set]);
    }
    free(sets->in);
    free(sets->out);
}

/* Waits: this and uploads before it use the default stream, for which the timed stream does not wait. */
static enum status poison(const struct image *image)
{
    enum status status = STATUS_OK;

    CUDA_TRY(cudaMemset(image->data, 0xA5, image->stride * (size_t)image->height));
    CUDA_TRY(cudaDeviceSynchronize());
out:
    return status;
}

enum { MAX_DEVICE_SETS = 256 };

static enum status device_sets_create(struct device_sets *sets, const struct device_timing *timing, size_t l2)
{
    enum status status = STATUS_OK;
    size_t bytes = image_minimal_stride(timing->out_shape) * (size_t)timing->out_shape->height;
    size_t available = 0, all = 0, count;

    sets->inputs = timing->version->algorithm->input_count;
    for (int i = 0; i < sets->inputs; i++)
        bytes += image_minimal_stride(&timing->in[0][i]) * (size_t)timing->in[0][i].height;
    CUDA_TRY(cudaMemGetInfo(&available, &all));
    count = 2 * l2 / bytes + 1;
    if (count > available / 2 / bytes)
        count = available / 2 / bytes;
    sets->count = count < 2 ? 2 : count > MAX_DEVICE_SETS ? MAX_DEVICE_SETS : (int)count;

    sets->in = (struct image(*)[ALGORITHM_MAX_INPUTS])calloc((size_t)sets->count, sizeof *sets->in);
    sets->out = (struct image *)calloc((size_t)sets->count, sizeof *sets->out);
    if (!sets->in || !sets->out)
        return status_set(STATUS_NO_MEMORY, "no memory for %d sets of device images", sets->count);
    for (int set = 0; set < sets->count; set++) {
        const struct image *host = timing->in[set % timing->sets];

        for (int i = 0; i < sets->inputs; i++) {
            TRY(device_image_create(&sets->in[set][i], &host[i]));
            TRY(device_upload(&sets->in[set][i], &host[i]));
        }
        TRY(device_image_create(&sets->out[set], timing->out_shape));
        TRY(poison(&sets->out[set]));
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
        TRY(timing->version->launch(state, sets->in[i % sets->count], &sets->out[i % sets->count], timing->params,
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

static enum status collect(struct device_timing *timing, void *state, struct device_sets *sets, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    cudaEvent_t events[2] = {NULL, NULL};
    cudaGraphExec_t graph = NULL;
    double seconds = 0, start;

    CUDA_TRY(cudaEventCreate(&events[0]));
    CUDA_TRY(cudaEventCreate(&events[1]));
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
    TRY(poison(&sets->out[0]));
    TRY(poison(&sets->out[1]));

    start = clock_seconds();
    for (timing->count = 0; timing->count < timing->capacity;) {
        TRY(time_batch(timing, state, sets, timing->batch, stream, graph, events, &seconds));
        timing->samples[timing->count++] = seconds / timing->batch;
        const double elapsed = clock_seconds() - start;
        if (elapsed >= timing->seconds || (elapsed >= timing->seconds / 4 && stable(timing)))
            break;
    }
    TRY(device_download(&timing->results[0], &sets->out[0]));
    TRY(device_download(&timing->results[1], &sets->out[1]));

    for (int i = 0; i < sets->inputs; i++)
        TRY(device_upload(&sets->in[0][i], &timing->in[1][i]));
    TRY(poison(&sets->out[0]));
    TRY(time_batch(timing, state, sets, 1, stream, NULL, events, &seconds));
    TRY(device_download(&timing->results[2], &sets->out[0]));
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
    struct device_sets sets = {0, 0, NULL, NULL};
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

enum status bench_device_ceilings(struct device_ceilings *ceilings)
{
    memset(ceilings, 0, sizeof *ceilings);
    return refuse();
}

enum status bench_device_time(struct device_timing *timing, void *state)
{
    (void)state;
    timing->count = 0;
    return refuse();
}

#endif
