#include "common/measure/bench_device.h"

#include <cstring>

#include "common/cuda/device.h"

/* Emulated there is nothing to measure. */
#if defined(__NVCC__)

#include "common/measure/statistics.h"

/* ------------------------------------------------------------------------------------------------------ copying */

enum { CEILING_SAMPLES = 10, CEILING_WARM_UP = 3 };

__global__ void copy_kernel(uint4 *to, const uint4 *from, size_t count)
{
    const size_t stride = (size_t)gridDim.x * blockDim.x;

    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride)
        to[i] = from[i];
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

/* --------------------------------------------------------------------------------------------------- operations */

enum {
    CHAINS = 8,
    CHAIN_LENGTH = 4096,
    THREADS = 256,
    BLOCKS_PER_PROCESSOR = 16,
    TABLE = 4096,
    BINS = 256,
    LANES = 32
};

/* A way to do operations: each thread keeps CHAINS sums that do not wait for each other, and a step adds to one. The
 * operands change with the round, or the compiler would multiply once. */
struct by_dp4a {
    typedef unsigned value;
    static __device__ unsigned step(unsigned a, unsigned b, unsigned sum)
    {
#if __CUDA_ARCH__ >= 610
        return __dp4a(a, b, sum);
#else
        return a + b + sum;
#endif
    }
};

struct by_dp2a {
    typedef unsigned value;
    static __device__ unsigned step(unsigned a, unsigned b, unsigned sum)
    {
#if __CUDA_ARCH__ >= 610
        return __dp2a_lo(a, b, sum);
#else
        return a + b + sum;
#endif
    }
};

struct by_fmaf {
    typedef float value;
    static __device__ float step(float a, float b, float sum)
    {
        return fmaf(a, b, sum);
    }
};

struct by_fma {
    typedef double value;
    static __device__ double step(double a, double b, double sum)
    {
        return fma(a, b, sum);
    }
};

/* Four bytes in one word; where the GPU has no instruction for it, the compiler's replacement. */
struct by_vminu4 {
    typedef unsigned value;
    static __device__ unsigned step(unsigned a, unsigned b, unsigned sum)
    {
        return __vminu4(sum, a ^ b);
    }
};

struct by_min {
    typedef unsigned value;
    static __device__ unsigned step(unsigned a, unsigned b, unsigned sum)
    {
        return min(sum, a ^ b);
    }
};

/* The total is stored only under a condition that holds for no input here but that the compiler cannot know. */
template <typename Way>
__global__ void operation_kernel(typename Way::value *out, typename Way::value a, typename Way::value b,
                                 typename Way::value never)
{
    typedef typename Way::value value;
    value sums[CHAINS], total = 0;

    for (int i = 0; i < CHAINS; i++)
        sums[i] = (value)(threadIdx.x + i);
    for (int round = 0; round < CHAIN_LENGTH; round++) {
#pragma unroll
        for (int i = 0; i < CHAINS; i++)
            sums[i] = Way::step(a, b, sums[i]);
        a += sums[0];
    }
    for (int i = 0; i < CHAINS; i++)
        total += sums[i];
    if (total == never)
        out[blockIdx.x] = total;
}

/* Each look-up's result is the next one's address: of a permutation in shared memory, at random, so that lanes meet in
 * banks as they do with data. */
__global__ void look_up_kernel(unsigned *out, unsigned never)
{
    __shared__ unsigned table[TABLE];
    unsigned at[CHAINS], total = 0;

    for (unsigned i = threadIdx.x; i < TABLE; i += blockDim.x)
        table[i] = (i * 1664525u + 1013904223u) % TABLE; /* a full-period generator */
    __syncthreads();
    for (int i = 0; i < CHAINS; i++)
        at[i] = (threadIdx.x * 2654435761u + i * 97u) % TABLE;
    for (int round = 0; round < CHAIN_LENGTH; round++)
#pragma unroll
        for (int i = 0; i < CHAINS; i++)
            at[i] = table[at[i]];
    for (int i = 0; i < CHAINS; i++)
        total += at[i];
    if (total == never)
        out[blockIdx.x] = total;
}

/* Shared atomics in a layout without conflicts: each lane's counters lie in a bank of its own, and the warps of a block
 * share them. */
__global__ void increment_kernel(unsigned *out, unsigned never)
{
    __shared__ unsigned counters[BINS * LANES];
    const unsigned lane = threadIdx.x % LANES;
    unsigned random = threadIdx.x * 2654435761u + blockIdx.x;

    for (unsigned i = threadIdx.x; i < BINS * LANES; i += blockDim.x)
        counters[i] = 0;
    __syncthreads();
    for (int round = 0; round < CHAIN_LENGTH; round++) {
        random = random * 1664525u + 1013904223u;
#pragma unroll
        for (int i = 0; i < CHAINS; i++) /* eight bins out of one random number */
            atomicAdd(&counters[(random >> (3 * i) & 0xff) * LANES + lane], 1u);
    }
    __syncthreads();
    if (counters[threadIdx.x] == never)
        out[blockIdx.x] = counters[threadIdx.x];
}

/* Keeps the rate if it is the best of its kind. `each`: operations that one step of a chain does. */
static void keep(struct ceilings *ceilings, enum operation kind, const char *by, double each, unsigned blocks,
                 double seconds)
{
    const double rate = each * (double)(1L * CHAINS * CHAIN_LENGTH * THREADS) * blocks / seconds;

    if (rate <= ceilings->operations_per_second[kind])
        return;
    ceilings->operations_per_second[kind] = rate;
    ceilings->measured_by[kind] = by;
}

template <typename Way>
static enum status measure(struct ceilings *ceilings, enum operation kind, const char *by, double each, unsigned blocks,
                           void *out, typename Way::value a, typename Way::value b)
{
    enum status status = STATUS_OK;
    double seconds = 0;

    TRY(time_device(
        [&] {
            operation_kernel<Way>
                <<<blocks, THREADS>>>((typename Way::value *)out, a, b, (typename Way::value)0x9E3779B9);
            return cudaGetLastError();
        },
        &seconds));
    keep(ceilings, kind, by, each, blocks, seconds);
out:
    return status;
}

static enum status measure_shared(struct ceilings *ceilings, enum operation kind, const char *by, unsigned blocks,
                                  void *out, void (*kernel)(unsigned *out, unsigned never))
{
    enum status status = STATUS_OK;
    double seconds = 0;

    TRY(time_device(
        [&] {
            kernel<<<blocks, THREADS>>>((unsigned *)out, 0x9E3779B9u);
            return cudaGetLastError();
        },
        &seconds));
    keep(ceilings, kind, by, 1, blocks, seconds);
out:
    return status;
}

static enum status measure_operation(enum operation kind, const struct device_facts *facts, void *out,
                                     struct ceilings *ceilings)
{
    const unsigned blocks = (unsigned)facts->multiprocessors * BLOCKS_PER_PROCESSOR;
    enum status status = STATUS_OK;

    switch (kind) {
    case OPERATION_MULTIPLY_ADD_8:
        if (facts->capability >= 61)
            TRY(measure<by_dp4a>(ceilings, kind, "dp4a", 4, blocks, out, 0x01020304u, 0x05060708u));
        break;
    case OPERATION_MULTIPLY_ADD_16: /* 16 by 8 bits is the widest that has an instruction */
        if (facts->capability >= 61)
            TRY(measure<by_dp2a>(ceilings, kind, "dp2a", 2, blocks, out, 0x01020304u, 0x05060708u));
        break;
    case OPERATION_MULTIPLY_ADD_F32:
        TRY(measure<by_fmaf>(ceilings, kind, "fma.f32", 1, blocks, out, 0.375f, 0.625f));
        break;
    case OPERATION_MULTIPLY_ADD_F64:
        TRY(measure<by_fma>(ceilings, kind, "fma.f64", 1, blocks, out, 0.375, 0.625));
        break;
    case OPERATION_TABLE_LOOK_UP:
        TRY(measure_shared(ceilings, kind, "shared memory", blocks, out, look_up_kernel));
        break;
    case OPERATION_COUNTER_INCREMENT:
        TRY(measure_shared(ceilings, kind, "shared atomics", blocks, out, increment_kernel));
        break;
    case OPERATION_COMPARISON_8:
        TRY(measure<by_vminu4>(ceilings, kind, "vminu4", 4, blocks, out, 0x01020304u, 0x05060708u));
        TRY(measure<by_min>(ceilings, kind, "min.u32", 1, blocks, out, 0x01020304u, 0x05060708u));
        break;
    case OPERATION_OTHER:
    case OPERATION_COUNT:
        break;
    }
out:
    return status;
}

enum status bench_device_ceilings(const struct cost *cost, struct ceilings *ceilings)
{
    enum status status = STATUS_OK;
    struct device_facts facts;
    void *out = NULL;

    memset(ceilings, 0, sizeof *ceilings);
    TRY(bench_device_facts(&facts));
    TRY(measure_copy(facts.multiprocessors, &ceilings->copy_bytes_per_second));
    CUDA_TRY(cudaMalloc(&out, (size_t)facts.multiprocessors * BLOCKS_PER_PROCESSOR * sizeof(double)));
    for (int i = 0; i < OPERATION_OTHER; i++)
        if (cost->operations[i] > 0)
            TRY(measure_operation((enum operation)i, &facts, out, ceilings));
out:
    cudaFree(out);
    return status;
}

#else

enum status bench_device_ceilings(const struct cost *cost, struct ceilings *ceilings)
{
    (void)cost;
    memset(ceilings, 0, sizeof *ceilings);
    return status_set(STATUS_UNSUPPORTED, "CUDA is emulated: times would say nothing about a GPU");
}

#endif
