/*
 * test_devices.cu: several devices (RUNGS_DEVICES=3): each host thread has its own, memory and streams belong to one,
 * and a device that is lost or has no memory left does not disturb the others.
 */
#include <pthread.h>

#include "common/emulator/tests/units/emulator_test.h"

static const int WORK = 64;

static __global__ void add(int *values, int what)
{
    values[threadIdx.x] += what;
}

/* An array on whichever device is current. */
static int *make_values()
{
    int *values = NULL;

    assert_int_equal(cudaMalloc(&values, WORK * sizeof(int)), cudaSuccess);
    assert_int_equal(cudaMemset(values, 0, WORK * sizeof(int)), cudaSuccess);
    return values;
}

static void test_count_and_bounds(void **)
{
    int count = 0, device = -1;

    assert_int_equal(cudaGetDeviceCount(&count), cudaSuccess);
    assert_int_equal(count, 3);
    assert_int_equal(cudaSetDevice(3), cudaErrorInvalidDevice);
    assert_int_equal(cudaSetDevice(-1), cudaErrorInvalidDevice);
    cudaGetLastError();
    assert_int_equal(cudaSetDevice(2), cudaSuccess);
    assert_int_equal(cudaGetDevice(&device), cudaSuccess);
    assert_int_equal(device, 2);
    assert_int_equal(cudaSetDevice(0), cudaSuccess);
}

static void *other_thread(void *device)
{
    cudaGetDevice((int *)device);
    return NULL;
}

static void test_device_is_the_threads(void **)
{
    pthread_t thread;
    int device = -1;

    assert_int_equal(cudaSetDevice(1), cudaSuccess);
    assert_int_equal(pthread_create(&thread, NULL, other_thread, &device), 0);
    pthread_join(thread, NULL);
    assert_int_equal(device, 0);
    assert_int_equal(cudaSetDevice(0), cudaSuccess);
}

static void test_memory_of_another_device(void **)
{
    int *const values = make_values();
    int host[WORK];

    assert_int_equal(cudaSetDevice(1), cudaSuccess);
    add<<<1, WORK>>>(values, 1);
    assert_int_equal(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    assert_non_null(
        strstr(cudaGetErrorString(cudaGetLastError()), "on device 1: argument 1 points to memory of device 0"));
    assert_int_equal(cudaDeviceReset(), cudaSuccess); /* device 1 alone */
    assert_int_equal(cudaSetDevice(0), cudaSuccess);
    add<<<1, WORK>>>(values, 2);
    assert_int_equal(cudaMemcpy(host, values, sizeof host, cudaMemcpyDeviceToHost), cudaSuccess);
    assert_int_equal(host[5], 2);
    assert_int_equal(cudaFree(values), cudaSuccess);
}

static void test_streams_and_events_of_another_device(void **)
{
    cudaStream_t stream;
    cudaEvent_t event;

    assert_int_equal(cudaStreamCreate(&stream), cudaSuccess);
    assert_int_equal(cudaEventCreate(&event), cudaSuccess);
    assert_int_equal(cudaSetDevice(2), cudaSuccess);

    int *const values = make_values();

    add<<<1, WORK, 0, stream>>>(values, 1);
    assert_int_equal(cudaGetLastError(), cudaErrorInvalidResourceHandle);
    assert_int_equal(cudaEventRecord(event, 0), cudaErrorInvalidResourceHandle);
    assert_int_equal(cudaEventRecord(event, stream), cudaErrorInvalidResourceHandle);
    cudaGetLastError();
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    assert_int_equal(cudaFree(values), cudaSuccess);
    assert_int_equal(cudaSetDevice(0), cudaSuccess);
    assert_int_equal(cudaEventRecord(event, stream), cudaSuccess);
    assert_int_equal(cudaStreamDestroy(stream), cudaSuccess);
    assert_int_equal(cudaEventDestroy(event), cudaSuccess);
}

static void test_waits_for_its_own_streams(void **)
{
    cudaStream_t streams[2];
    int *values[2], *host;

    assert_int_equal(cudaMallocHost(&host, 2 * WORK * sizeof(int)), cudaSuccess);
    memset(host, 0xff, 2 * WORK * sizeof(int));
    for (int device = 0; device < 2; device++) {
        assert_int_equal(cudaSetDevice(device), cudaSuccess);
        values[device] = make_values();
        assert_int_equal(cudaStreamCreate(&streams[device]), cudaSuccess);
        add<<<1, WORK, 0, streams[device]>>>(values[device], 7 + device);
        assert_int_equal(cudaMemcpyAsync(host + device * WORK, values[device], WORK * sizeof(int),
                                         cudaMemcpyDeviceToHost, streams[device]),
                         cudaSuccess);
    }
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess); /* device 1's */
    assert_int_equal(host[WORK], 8);
    assert_int_equal(host[0], -1);
    assert_int_equal(cudaStreamSynchronize(streams[0]), cudaSuccess); /* any thread may */
    assert_int_equal(host[0], 7);
    for (int device = 0; device < 2; device++) {
        assert_int_equal(cudaSetDevice(device), cudaSuccess);
        assert_int_equal(cudaStreamDestroy(streams[device]), cudaSuccess);
        assert_int_equal(cudaFree(values[device]), cudaSuccess);
    }
    assert_int_equal(cudaFreeHost(host), cudaSuccess);
    assert_int_equal(cudaSetDevice(0), cudaSuccess);
}

static void test_memory_is_each_devices_own(void **)
{
    int *values = NULL;

    setenv("RUNGS_EMULATOR_MEMORY", "1000000,100", 1);
    assert_int_equal(cudaMalloc(&values, 1000), cudaSuccess);
    assert_int_equal(cudaFree(values), cudaSuccess);
    for (int device = 1; device < 3; device++) { /* the last figure is that of all devices behind it */
        assert_int_equal(cudaSetDevice(device), cudaSuccess);
        assert_int_equal(cudaMalloc(&values, 1000), cudaErrorMemoryAllocation);
        assert_int_equal(cudaGetLastError(), cudaErrorMemoryAllocation);
        assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    }
    assert_int_equal(cudaSetDevice(0), cudaSuccess);
    unsetenv("RUNGS_EMULATOR_MEMORY");
}

/* The last test, since launches are counted from the beginning: device 2 had one, which it refused. */
static void test_lost_device(void **)
{
    setenv("RUNGS_EMULATOR_LOSE", "2:2", 1);
    assert_int_equal(cudaSetDevice(2), cudaSuccess);

    int *const values = make_values();

    add<<<1, WORK>>>(values, 1);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    add<<<1, WORK>>>(values, 1);
    assert_int_equal(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
    assert_non_null(strstr(cudaGetErrorString(cudaGetLastError()), "device 2 is lost"));
    assert_int_equal(cudaMemset(values, 0, 4), cudaErrorLaunchFailure);
    cudaGetLastError(); /* it is the host thread's, whatever device comes next */
    assert_int_equal(cudaSetDevice(0), cudaSuccess);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    assert_int_equal(cudaSetDevice(2), cudaErrorLaunchFailure);
    assert_int_equal(cudaDeviceReset(), cudaSuccess);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    assert_int_equal(cudaSetDevice(0), cudaSuccess);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_count_and_bounds),
        cmocka_unit_test(test_device_is_the_threads),
        cmocka_unit_test(test_memory_of_another_device),
        cmocka_unit_test(test_streams_and_events_of_another_device),
        cmocka_unit_test(test_waits_for_its_own_streams),
        cmocka_unit_test(test_memory_is_each_devices_own),
        cmocka_unit_test(test_lost_device),
    };

    setenv("RUNGS_DEVICES", "3", 1);
    setenv("RUNGS_EMULATOR_LATE", "1", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
