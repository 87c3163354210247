/* What nvcc takes and the translator has to know. */
#include <assert.h>
#include <cuda.h>
#include <device_launch_parameters.h>
#include <math.h>
#include <stdio.h>

#ifndef __DRIVER_TYPES_H__
#error samples ask for this name
#endif
#if __CUDA_ARCH__ >= 600
__device__ int device_only()
{
    return 40;
}
#endif

__device__ float lerp(float a, float b, float t)
{
    return a + t * (b - a);
}

/* Counts what happens to it on the host; a kernel's parameter is its bytes. */
static int copies, destroyed;
struct counted {
    int value;
    explicit counted(int v) : value(v)
    {
    }
    counted(const counted &other) : value(other.value)
    {
        copies++;
    }
    ~counted()
    {
        destroyed++;
    }
};

__shared__ int outer[32];
extern __shared__ float dynamic[][4];

__host__ __device__ int where()
{
#ifdef __CUDA_ARCH__
    return 1;
#else
    return 0;
#endif
}

__global__ void whole(int *out, counted c, int extra)
{
    outer[threadIdx.x] = (int)threadIdx.x;
    dynamic[threadIdx.x][3] = lerp(0, 8, 0.5f);
    __syncthreads();
    c.value += (int)threadIdx.x; /* each thread has its own */
    atomicAdd(out, outer[31 - threadIdx.x] + (int)dynamic[31 - threadIdx.x][3] + c.value + extra);
#if __CUDA_ARCH__ >= 700
    atomicAdd_system(out, device_only());
#endif
}

__global__ void with_default(int *out, int value = 5)
{
    *out += value;
}

__global__ void by_reference(int &x)
{
    x++;
}

template <class T> __global__ void typed(T *to, T value)
{
    *to = value;
}

#define RUN(kernel, ...) kernel<<<gridDim, blockDim, 32 * 4 * sizeof(float)>>>(__VA_ARGS__)

static void host_function(void *data)
{
    ++*(int *)data;
}

int main()
{
    const dim3 gridDim(1), blockDim(32);
    int *out, least, greatest, calls = 0, grid, block, dim3 = 3;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    size_t nodes;
    struct cudaDeviceProp properties;
    cudaStreamAttrValue attribute;

    cudaMallocManaged(&out, sizeof(int));
    *out = 0;
    {
        const counted c(100);

        RUN(whole, out, c, 7);
    }
    assert(cudaDeviceSynchronize() == cudaSuccess);
    /* of 32 threads: 0..31 twice, and 4 + 100 + 7 + 40 each */
    assert(*out == 2 * 496 + 32 * (4 + 100 + 7 + 40));
    assert(copies == 1 && destroyed == 2 && where() == 0);

    *out = 0;
    with_default<<<1, 1>>>(out);
    by_reference<<<1, 3>>>(*out);
    assert(cudaDeviceSynchronize() == cudaSuccess && *out == 8);
    int value = 12;
    void *arguments[] = {&out, &value};
    assert(cudaLaunchKernel((const void *)typed<int>, gridDim, 1, arguments, 0, 0) == cudaSuccess && *out == 12);

    assert(cudaDeviceGetStreamPriorityRange(&least, &greatest) == cudaSuccess && greatest <= least);
    assert(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest) == cudaSuccess);
    assert(cudaLaunchHostFunc(stream, host_function, &calls) == cudaSuccess);
    cudaStreamSynchronize(stream);
    assert(calls == 1 && dim3 == 3);
    assert(cudaOccupancyMaxPotentialBlockSize(&grid, &block, typed<int>) == cudaSuccess && block == 1024 && grid == 16);
    assert(cudaMemPrefetchAsync(out, sizeof(int), cudaCpuDeviceId, stream) == cudaSuccess);
    assert(cudaFuncSetCacheConfig(typed<int>, cudaFuncCachePreferL1) == cudaSuccess);
    cudaGetDeviceProperties(&properties, 0);
    assert(properties.persistingL2CacheMaxSize > 0 && properties.accessPolicyMaxWindowSize > 0);
    assert(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, properties.persistingL2CacheMaxSize) == cudaSuccess);
    attribute.accessPolicyWindow = {out, sizeof(int), 1.0f, cudaAccessPropertyPersisting, cudaAccessPropertyNormal};
    assert(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &attribute) == cudaSuccess);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    typed<<<1, 1, 0, stream>>>(out, 13);
    cudaStreamEndCapture(stream, &graph);
    assert(cudaGraphGetNodes(graph, NULL, &nodes) == cudaSuccess && nodes == 1);
    assert(cudaGraphInstantiate(&executable, graph, NULL, NULL, 0) == cudaSuccess && *out == 12);
    cudaGraphLaunch(executable, stream);
    cudaStreamSynchronize(stream);
    assert(*out == 13);
    return 0;
}
