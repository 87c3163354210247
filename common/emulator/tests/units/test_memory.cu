/*
 * test_memory.cu: allocation, copies and their checks, symbols, streams, events, the device.
 */
#include "common/emulator/tests/units/emulator_test.h"

static __constant__ uint16_t weights[31];
static __constant__ struct {
    int a;
    float b;
} settings;
static __device__ int counter;

static void expect_error(cudaError_t error, const char *message)
{
    assert_string_equal(cudaGetErrorString(error), message);
    assert_int_equal(cudaGetLastError(), error);
    assert_int_equal(cudaGetLastError(), cudaSuccess);
}

static void test_copies_are_checked(void **)
{
    uint8_t host[64] = {}, *device = NULL, *other = NULL;

    assert_int_equal(cudaMalloc(&device, 50), cudaSuccess);
    assert_int_equal(cudaMalloc(&other, 50), cudaSuccess);
    assert_int_equal(cudaMemcpy(device, host, 50, cudaMemcpyHostToDevice), cudaSuccess);
    assert_int_equal(cudaMemcpy(device + 49, host, 1, cudaMemcpyHostToDevice), cudaSuccess);
    assert_int_equal(cudaMemcpy(device + 50, host, 0, cudaMemcpyHostToDevice), cudaSuccess);
    expect_error(
        cudaMemcpy(device, host, 51, cudaMemcpyHostToDevice),
        "invalid argument: cudaMemcpy: 1 bytes too many for the destination, which has 50 bytes from there on");
    expect_error(cudaMemcpy(host, device + 40, 13, cudaMemcpyDeviceToHost),
                 "invalid argument: cudaMemcpy: 3 bytes too many for the source, which has 10 bytes from there on");
    expect_error(cudaMemcpy(host, host + 32, 4, cudaMemcpyHostToDevice),
                 "invalid argument: cudaMemcpy: the destination pointer is not device memory");
    expect_error(cudaMemcpy(device, host, 4, cudaMemcpyDeviceToDevice),
                 "invalid argument: cudaMemcpy: the source pointer is not device memory");
    expect_error(cudaMemcpy(device, host, 4, cudaMemcpyDeviceToHost),
                 "invalid argument: cudaMemcpy: the destination pointer is device memory, not host memory");
    expect_error(cudaMemcpy(other, device, 4, cudaMemcpyHostToDevice),
                 "invalid argument: cudaMemcpy: the source pointer is device memory, not host memory");
    expect_error(cudaMemcpy(device, NULL, 4, cudaMemcpyHostToDevice),
                 "invalid argument: cudaMemcpy: the source pointer is NULL");
    expect_error(cudaMemcpy(device, host, 4, (cudaMemcpyKind)9),
                 "invalid copy direction for memcpy: cudaMemcpy: there is no cudaMemcpyKind 9");
    assert_int_equal(cudaMemcpy(other, device, 50, cudaMemcpyDefault), cudaSuccess);
    assert_int_equal(cudaMemcpy(host, other, 50, cudaMemcpyDefault), cudaSuccess);
    expect_error(
        cudaMemset(device, 0, 51),
        "invalid argument: cudaMemset: 1 bytes too many for the destination, which has 50 bytes from there on");
    expect_error(cudaMemset(host, 0, 1), "invalid argument: cudaMemset: the destination pointer is not device memory");
    assert_int_equal(cudaFree(device), cudaSuccess);
    assert_int_equal(cudaMemcpy(device, host, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    assert_non_null(
        strstr(cudaGetErrorString(cudaGetLastError()), "the destination pointer is not device memory: freed"));
    assert_int_equal(cudaFree(device), cudaErrorInvalidValue); /* twice */
    assert_non_null(strstr(cudaGetErrorString(cudaGetLastError()), "freed twice?"));
    assert_int_equal(cudaFree(other + 1), cudaErrorInvalidValue);
    assert_int_equal(cudaFree(host), cudaErrorInvalidValue);
    assert_int_equal(cudaFreeHost(other), cudaErrorInvalidValue);
    cudaGetLastError();
    assert_int_equal(cudaFree(NULL), cudaSuccess);
    assert_int_equal(cudaFree(other), cudaSuccess);
}

static void test_pitched_copies(void **)
{
    enum { WIDTH = 7, HEIGHT = 5, PITCH = 16, HOST_PITCH = 9 };
    uint8_t host[HEIGHT * HOST_PITCH], back[HEIGHT * HOST_PITCH], *device = NULL;
    const size_t bytes = (HEIGHT - 1) * PITCH + WIDTH; /* the last row needs no padding */

    for (size_t i = 0; i < sizeof(host); i++)
        host[i] = (uint8_t)(i + 1);
    memset(back, 0, sizeof(back));
    assert_int_equal(cudaMalloc(&device, bytes), cudaSuccess);
    assert_int_equal(cudaMemset2D(device, PITCH, 9, WIDTH, HEIGHT), cudaSuccess);
    assert_int_equal(cudaMemcpy2D(back, HOST_PITCH, device, PITCH, WIDTH, HEIGHT, cudaMemcpyDeviceToHost), cudaSuccess);
    assert_true(back[0] == 9 && back[HOST_PITCH * 4 + 6] == 9 && back[7] == 0 && back[8] == 0);
    assert_int_equal(cudaMemcpy2D(device, PITCH, host, HOST_PITCH, WIDTH, HEIGHT, cudaMemcpyHostToDevice), cudaSuccess);
    assert_int_equal(cudaMemcpy2D(back, HOST_PITCH, device, PITCH, WIDTH, HEIGHT, cudaMemcpyDeviceToHost), cudaSuccess);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < HOST_PITCH; x++)
            assert_int_equal(back[y * HOST_PITCH + x], x < WIDTH ? host[y * HOST_PITCH + x] : 0);
    expect_error(
        cudaMemcpy2D(device, PITCH, host, HOST_PITCH, WIDTH + 1, HEIGHT, cudaMemcpyHostToDevice),
        "invalid argument: cudaMemcpy2D: 1 bytes too many for the destination, which has 71 bytes from there on");
    expect_error(cudaMemcpy2D(device, 6, host, HOST_PITCH, WIDTH, HEIGHT, cudaMemcpyHostToDevice),
                 "invalid pitch argument: cudaMemcpy2D: a pitch (6, 9) is less than the width 7");
    expect_error(cudaMemset2D(device, 6, 0, WIDTH, HEIGHT),
                 "invalid pitch argument: cudaMemset2D: pitch 6 is less than the width 7");
    assert_int_equal(cudaFree(device), cudaSuccess);
}

/* Fresh memory must not look like a result: neither constant nor the same twice. */
static void test_fresh_memory_holds_garbage(void **)
{
    uint8_t *device[2], host[2][4096];
    size_t zeros = 0;

    for (int i = 0; i < 2; i++) {
        assert_int_equal(cudaMalloc(&device[i], 4096), cudaSuccess);
        assert_int_equal(cudaMemcpy(host[i], device[i], 4096, cudaMemcpyDeviceToHost), cudaSuccess);
        assert_int_equal((uintptr_t)device[i] % 256, 0);
        cudaFree(device[i]);
    }
    assert_memory_not_equal(host[0], host[1], 4096);
    for (int i = 0; i < 4096; i++)
        zeros += host[0][i] == 0;
    assert_in_range(zeros, 1, 100);
}

static __global__ void read_shared(uint8_t *out)
{
    __shared__ uint8_t values[256];

    out[threadIdx.x] = values[threadIdx.x];
}

static void test_shared_memory_holds_garbage(void **)
{
    mirrored<uint8_t, 256> first, second;

    read_shared<<<1, 256>>>(first.device);
    read_shared<<<1, 256>>>(second.device);
    first.download();
    second.download();
    assert_memory_not_equal(first.host, second.host, 256);
}

static void test_fresh_memory_holds_what_it_is_told(void **)
{
    mirrored<uint8_t, 256> shared;
    uint8_t *device, host[4096];

    emulator_perturb(0x3c, 0xc7);
    assert_int_equal(cudaMalloc(&device, sizeof host), cudaSuccess);
    read_shared<<<1, 256>>>(shared.device);
    emulator_perturb(0, 0);
    assert_int_equal(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost), cudaSuccess);
    cudaFree(device);
    shared.download();
    for (size_t i = 0; i < sizeof host; i++)
        assert_int_equal(host[i], 0x3c);
    for (size_t i = 0; i < 256; i++)
        assert_int_equal(shared.host[i], 0xc7);
}

static __global__ void use_symbols(float *out)
{
    out[threadIdx.x] = weights[threadIdx.x] * settings.b + settings.a;
    atomicAdd(&counter, 1);
}

static void test_symbols(void **)
{
    mirrored<float, 31> out;
    uint16_t values[31];
    struct {
        int a;
        float b;
    } chosen = {5, 0.5f};
    int count = 100, *address = NULL;
    size_t size = 0;

    for (int i = 0; i < 31; i++)
        values[i] = (uint16_t)(1000 + i);
    assert_int_equal(cudaMemcpyToSymbol(weights, values, sizeof(values)), cudaSuccess);
    assert_int_equal(cudaMemcpyToSymbolAsync(settings, &chosen, sizeof(chosen)), cudaSuccess);
    assert_int_equal(cudaMemcpyToSymbol(counter, &count, sizeof(count)), cudaSuccess);
    use_symbols<<<1, 31>>>(out.device);
    out.download();
    for (int i = 0; i < 31; i++)
        assert_true(out.host[i] == (1000 + i) * 0.5f + 5);
    assert_int_equal(cudaMemcpyFromSymbol(&count, counter, sizeof(count)), cudaSuccess);
    assert_int_equal(count, 131);
    assert_int_equal(cudaMemcpyFromSymbol(values, weights, 2, 3 * sizeof(uint16_t)), cudaSuccess);
    assert_int_equal(values[0], 1003);
    assert_int_equal(cudaGetSymbolAddress((void **)&address, counter), cudaSuccess);
    assert_int_equal(cudaMemset(address, 0, sizeof(int)), cudaSuccess);
    assert_int_equal(cudaMemcpy(&count, address, sizeof(int), cudaMemcpyDeviceToHost), cudaSuccess);
    assert_int_equal(count, 0);
    assert_int_equal(cudaGetSymbolSize(&size, weights), cudaSuccess);
    assert_int_equal(size, sizeof(weights));
    expect_error(cudaMemcpyToSymbol(weights, values, sizeof(values), 2),
                 "invalid argument: cudaMemcpyToSymbol: 62 bytes at offset 2 of a symbol of 62 bytes");
    expect_error(cudaMemcpyToSymbol(weights, out.device, 2),
                 "invalid argument: cudaMemcpyToSymbol: the source pointer is device memory, not host memory");
}

static __global__ void increment(int *values)
{
    values[threadIdx.x]++;
}

static void test_host_memory(void **)
{
    int *pinned = NULL, *managed = NULL, *plain = (int *)calloc(8, sizeof(int)), *device = NULL;

    assert_int_equal(cudaMallocHost(&pinned, 8 * sizeof(int)), cudaSuccess);
    assert_int_equal(cudaMallocManaged(&managed, 8 * sizeof(int)), cudaSuccess);
    assert_int_equal(cudaMalloc(&device, 8 * sizeof(int)), cudaSuccess);
    memset(pinned, 0, 8 * sizeof(int));
    memset(managed, 0, 8 * sizeof(int));
    increment<<<1, 8>>>(pinned);
    increment<<<1, 8>>>(managed);
    assert_int_equal(cudaGetLastError(), cudaSuccess);
    assert_int_equal(cudaHostRegister(plain, 8 * sizeof(int), cudaHostRegisterDefault), cudaSuccess);
    assert_int_equal(cudaHostRegister(plain, 8 * sizeof(int), cudaHostRegisterDefault),
                     cudaErrorHostMemoryAlreadyRegistered);
    increment<<<1, 8>>>(plain);
    assert_true(pinned[7] == 1 && managed[7] == 1 && plain[7] == 1);
    assert_int_equal(cudaMemcpy(device, plain, 8 * sizeof(int), cudaMemcpyHostToDevice), cudaSuccess);
    assert_int_equal(cudaMemcpyAsync(managed, device, 8 * sizeof(int), cudaMemcpyDeviceToHost), cudaSuccess);
    assert_int_equal(cudaHostUnregister(plain), cudaSuccess);
    assert_int_equal(cudaHostUnregister(plain), cudaErrorHostMemoryNotRegistered);
    cudaGetLastError();
    expect_error(cudaMemcpy(pinned, device, 4, cudaMemcpyDeviceToDevice),
                 "invalid argument: cudaMemcpy: the destination pointer is host memory (pinned), not device memory");
    expect_error(
        cudaMemcpy(pinned, device, 33, cudaMemcpyDeviceToHost),
        "invalid argument: cudaMemcpy: 1 bytes too many for the destination, which has 32 bytes from there on");
    assert_int_equal(cudaFree(pinned), cudaErrorInvalidValue);
    cudaGetLastError();
    assert_int_equal(cudaFreeHost(pinned), cudaSuccess);
    assert_int_equal(cudaFree(managed), cudaSuccess);
    assert_int_equal(cudaFree(device), cudaSuccess);
    free(plain);
}

static void test_pointers_tell_their_memory(void **)
{
    int *pinned = NULL, *managed = NULL, *device = NULL, plain[4];
    struct cudaPointerAttributes attributes;

    assert_int_equal(cudaMallocHost(&pinned, 8 * sizeof(int)), cudaSuccess);
    assert_int_equal(cudaMallocManaged(&managed, 8 * sizeof(int)), cudaSuccess);
    assert_int_equal(cudaMalloc(&device, 8 * sizeof(int)), cudaSuccess);
    assert_int_equal(cudaPointerGetAttributes(&attributes, pinned + 3), cudaSuccess);
    assert_true(attributes.type == cudaMemoryTypeHost && attributes.hostPointer == pinned + 3);
    assert_int_equal(cudaPointerGetAttributes(&attributes, managed), cudaSuccess);
    assert_true(attributes.type == cudaMemoryTypeManaged && attributes.hostPointer == managed);
    assert_int_equal(cudaPointerGetAttributes(&attributes, device + 7), cudaSuccess);
    assert_true(attributes.type == cudaMemoryTypeDevice && attributes.devicePointer == device + 7);
    assert_true(attributes.device == 0 && attributes.hostPointer == NULL);
    assert_int_equal(cudaPointerGetAttributes(&attributes, plain), cudaSuccess);
    assert_true(attributes.type == cudaMemoryTypeUnregistered && attributes.devicePointer == NULL);
    assert_int_equal(cudaFreeHost(pinned), cudaSuccess);
    assert_int_equal(cudaFree(managed), cudaSuccess);
    assert_int_equal(cudaFree(device), cudaSuccess);
}

static void test_allocation_limits(void **)
{
    void *pointer = &counter;

    assert_int_equal(cudaMalloc(&pointer, 0), cudaSuccess);
    assert_null(pointer);
    assert_int_equal(cudaMalloc(&pointer, SIZE_MAX), cudaErrorMemoryAllocation);
    assert_int_equal(cudaMalloc(&pointer, SIZE_MAX - 100), cudaErrorMemoryAllocation);
    assert_int_equal(cudaMalloc(&pointer, (size_t)1 << 50), cudaErrorMemoryAllocation);
    assert_int_equal(cudaGetLastError(), cudaErrorMemoryAllocation);
    assert_null(pointer);
}

static void test_streams_and_events(void **)
{
    mirrored<int, 8> values;
    cudaStream_t stream = NULL, gone = NULL;
    cudaEvent_t start = NULL, end = NULL, untimed = NULL;
    float milliseconds = -1;

    assert_int_equal(cudaStreamCreate(&stream), cudaSuccess);
    assert_int_equal(cudaStreamCreateWithFlags(&gone, cudaStreamNonBlocking), cudaSuccess);
    assert_int_equal(cudaEventCreate(&start), cudaSuccess);
    assert_int_equal(cudaEventCreate(&end), cudaSuccess);
    assert_int_equal(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming), cudaSuccess);
    assert_int_equal(cudaEventElapsedTime(&milliseconds, start, end), cudaErrorInvalidResourceHandle);
    assert_int_equal(cudaEventRecord(start, stream), cudaSuccess);
    increment<<<1, 8, 0, stream>>>(values.device);
    assert_int_equal(cudaGetLastError(), cudaErrorInvalidResourceHandle); /* still that of cudaEventElapsedTime */
    assert_int_equal(cudaEventRecord(end, stream), cudaSuccess);
    assert_int_equal(cudaEventRecord(untimed, stream), cudaSuccess);
    assert_int_equal(cudaStreamWaitEvent(stream, untimed, 0), cudaSuccess);
    assert_int_equal(cudaEventSynchronize(end), cudaSuccess);
    assert_int_equal(cudaStreamSynchronize(stream), cudaSuccess);
    assert_int_equal(cudaEventElapsedTime(&milliseconds, start, end), cudaSuccess);
    assert_true(milliseconds > 0 && milliseconds < 60000);
    assert_int_equal(cudaEventElapsedTime(&milliseconds, start, untimed), cudaErrorInvalidResourceHandle);
    values.host[7] = 0;
    cudaGetLastError();
    values.download();
    assert_int_equal(values.host[7], 1);
    assert_int_equal(cudaStreamDestroy(gone), cudaSuccess);
    assert_int_equal(cudaStreamDestroy(gone), cudaErrorInvalidResourceHandle);
    increment<<<1, 8, 0, gone>>>(values.device);
    assert_int_equal(cudaGetLastError(), cudaErrorInvalidResourceHandle);
    assert_int_equal(cudaMemcpyAsync(values.host, values.device, 4, cudaMemcpyDeviceToHost, gone),
                     cudaErrorInvalidResourceHandle);
    cudaGetLastError();
    assert_int_equal(cudaStreamDestroy(stream), cudaSuccess);
    assert_int_equal(cudaEventDestroy(start), cudaSuccess);
    assert_int_equal(cudaEventDestroy(end), cudaSuccess);
    assert_int_equal(cudaEventDestroy(untimed), cudaSuccess);
    assert_int_equal(cudaEventDestroy(untimed), cudaErrorInvalidResourceHandle);
    cudaGetLastError();
}

static __global__ void multiply(int *values, int by)
{
    values[threadIdx.x] *= by;
}

static void test_graphs(void **)
{
    mirrored<int, 8> values;
    void (*kernel)(int *, int) = multiply;
    int by = 3, from[8] = {1, 2, 3, 4, 5, 6, 7, 8}, to[8] = {};
    cudaStream_t stream = NULL;
    cudaGraph_t graph = NULL, none = NULL;
    cudaGraphExec_t executable = NULL;

    assert_int_equal(cudaStreamCreate(&stream), cudaSuccess);
    assert_int_equal(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    assert_int_equal(cudaMemcpyAsync(values.device, from, sizeof(from), cudaMemcpyHostToDevice, stream), cudaSuccess);
    kernel<<<1, 8, 0, stream>>>(values.device, by);
    kernel = NULL; /* arguments and kernel are those of the launch */
    by = 1000;
    multiply<<<1, 4, 0, stream>>>(values.device, 2);
    assert_int_equal(cudaMemsetAsync(values.device + 7, 0, sizeof(int), stream), cudaSuccess);
    assert_int_equal(cudaMemcpyAsync(to, values.device, sizeof(to), cudaMemcpyDeviceToHost, stream), cudaSuccess);
    assert_int_equal(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
    assert_int_equal(cudaGetLastError(), cudaErrorStreamCaptureUnsupported);
    assert_int_equal(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    values.download();
    assert_int_equal(values.host[0], 0); /* nothing has run */
    assert_int_equal(cudaStreamEndCapture(stream, &none), cudaErrorInvalidValue);
    assert_null(none);
    cudaGetLastError();
    assert_int_equal(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
    assert_int_equal(cudaGraphDestroy(graph), cudaSuccess);
    assert_int_equal(cudaGraphDestroy(graph), cudaErrorInvalidValue);
    cudaGetLastError();
    for (int run = 1; run < 3; run++) {
        from[5] = 10 * run; /* copies look at memory when they run */
        assert_int_equal(cudaGraphLaunch(executable, stream), cudaSuccess);
        assert_int_equal(to[0], 6);
        assert_int_equal(to[5], 30 * run);
        assert_int_equal(to[7], 0);
    }
    assert_int_equal(cudaGraphExecDestroy(executable), cudaSuccess);
    assert_int_equal(cudaGraphLaunch(executable, stream), cudaErrorInvalidValue);
    expect_error(cudaErrorInvalidValue, "invalid argument: cudaGraphLaunch: this graph does not exist");
    assert_int_equal(cudaStreamBeginCapture(NULL, cudaStreamCaptureModeGlobal), cudaErrorStreamCaptureUnsupported);
    cudaGetLastError();

    /* What fails in a graph fails when it runs, and ends it. */
    assert_int_equal(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    multiply<<<1, 2000, 0, stream>>>(values.device, 3);
    assert_int_equal(cudaMemcpyAsync(to, from, 4, cudaMemcpyHostToHost, stream), cudaSuccess);
    assert_int_equal(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    assert_int_equal(cudaGraphInstantiate(&executable, graph), cudaSuccess);
    from[0] = 77;
    assert_int_equal(cudaGraphLaunch(executable, stream), cudaErrorInvalidConfiguration);
    cudaGetLastError();
    assert_int_equal(to[0], 6);
    assert_int_equal(cudaGraphDestroy(graph), cudaSuccess);
    assert_int_equal(cudaGraphExecDestroy(executable), cudaSuccess);
    assert_int_equal(cudaStreamDestroy(stream), cudaSuccess);
}

static void test_device(void **)
{
    cudaDeviceProp properties;
    int value = 0, blocks = 0;

    assert_int_equal(cudaGetDeviceCount(&value), cudaSuccess);
    assert_int_equal(value, 1);
    assert_int_equal(cudaSetDevice(0), cudaSuccess);
    assert_int_equal(cudaSetDevice(1), cudaErrorInvalidDevice);
    assert_int_equal(cudaGetLastError(), cudaErrorInvalidDevice);
    assert_int_equal(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
    assert_string_equal(properties.name, "Rungs emulator");
    assert_int_equal(properties.major, 9);
    assert_int_equal(cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMajor, 0), cudaSuccess);
    assert_int_equal(value, 9);
    assert_int_equal(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0), cudaSuccess);
    assert_int_equal(value, properties.multiProcessorCount);
    assert_int_equal(cudaDeviceGetAttribute(&value, (cudaDeviceAttr)9999, 0), cudaErrorInvalidValue);
    cudaGetLastError();
    assert_int_equal(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, increment, 256, 0), cudaSuccess);
    assert_int_equal(blocks, 8);
    assert_int_equal(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, increment, 64, 100000), cudaSuccess);
    assert_int_equal(blocks, 2);
    assert_string_equal(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress");
    assert_string_equal(cudaGetErrorString(cudaErrorIllegalAddress), "an illegal memory access was encountered");
    assert_string_equal(cudaGetErrorString(cudaSuccess), "no error");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copies_are_checked),
        cmocka_unit_test(test_pitched_copies),
        cmocka_unit_test(test_fresh_memory_holds_garbage),
        cmocka_unit_test(test_shared_memory_holds_garbage),
        cmocka_unit_test(test_fresh_memory_holds_what_it_is_told),
        cmocka_unit_test(test_symbols),
        cmocka_unit_test(test_host_memory),
        cmocka_unit_test(test_pointers_tell_their_memory),
        cmocka_unit_test(test_allocation_limits),
        cmocka_unit_test(test_streams_and_events),
        cmocka_unit_test(test_graphs),
        cmocka_unit_test(test_device),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
