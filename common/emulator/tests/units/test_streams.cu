/*
 * test_streams.cu: work on streams that is put off until somebody waits (RUNGS_EMULATOR_LATE=1).
 */
#include "common/emulator/tests/units/emulator_test.h"

static const int WORK = 64;

static __global__ void add(int *values, int what)
{
    values[threadIdx.x] += what;
}

static __global__ void illegal(int *values)
{
    values[threadIdx.x] = 1;
    if (threadIdx.x < 7)
        __syncthreads();
}

/* An array on the device and one in page-locked memory, and two streams. */
struct bench {
    int *device, *host;
    cudaStream_t streams[2];

    bench()
    {
        assert_int_equal(cudaMalloc(&device, WORK * sizeof(int)), cudaSuccess);
        assert_int_equal(cudaMallocHost(&host, WORK * sizeof(int)), cudaSuccess);
        for (cudaStream_t &stream : streams)
            assert_int_equal(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
        assert_int_equal(cudaMemset(device, 0, WORK * sizeof(int)), cudaSuccess);
        assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
        memset(host, 0xff, WORK * sizeof(int));
    }
    ~bench()
    {
        for (cudaStream_t stream : streams)
            cudaStreamDestroy(stream);
        cudaFree(device);
        cudaFreeHost(host);
        cudaGetLastError();
    }
    void download(cudaStream_t stream)
    {
        assert_int_equal(cudaMemcpyAsync(host, device, WORK * sizeof(int), cudaMemcpyDeviceToHost, stream),
                         cudaSuccess);
    }
};

/* A stream that does not wait for the default one is ahead of it; a blocking one is behind. */
static void test_default_stream_is_late(void **)
{
    bench its;
    cudaStream_t blocking;

    assert_int_equal(cudaMemset(its.device, 1, WORK * sizeof(int)), cudaSuccess);
    add<<<1, WORK, 0, its.streams[0]>>>(its.device, 5);
    assert_int_equal(cudaStreamSynchronize(its.streams[0]), cudaSuccess);
    its.download(its.streams[0]);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    assert_true(its.host[0] == 5 || its.host[0] == 0x01010101 || its.host[0] == 0x01010106);

    assert_int_equal(cudaStreamCreate(&blocking), cudaSuccess);
    for (int round = 0; round < 16; round++) { /* turns are drawn by lot */
        assert_int_equal(cudaMemset(its.device, 0, WORK * sizeof(int)), cudaSuccess);
        add<<<1, WORK, 0, blocking>>>(its.device, 5);
        add<<<1, WORK>>>(its.device, 1);
        its.download(blocking);
        assert_int_equal(cudaStreamSynchronize(blocking), cudaSuccess);
        assert_int_equal(its.host[3], 6);
    }
    assert_int_equal(cudaStreamDestroy(blocking), cudaSuccess);
}

static void test_default_copy_of_pageable_memory(void **)
{
    bench its;
    int values[WORK];

    add<<<1, WORK>>>(its.device, 3);
    assert_int_equal(cudaMemcpyAsync(values, its.device, sizeof(values), cudaMemcpyDeviceToHost, 0), cudaSuccess);
    assert_int_equal(values[WORK - 1], 3);
    add<<<1, WORK>>>(its.device, 3);
    assert_int_equal(cudaMemcpy(values, its.device, sizeof(values), cudaMemcpyDeviceToHost), cudaSuccess);
    assert_int_equal(values[WORK - 1], 6);
}

static void test_result_before_the_wait(void **)
{
    bench its;
    const uint64_t copies = emulator_count().stream_copies, downloads = emulator_count().stream_downloads;

    add<<<1, WORK, 0, its.streams[0]>>>(its.device, 5);
    its.download(its.streams[0]);
    assert_int_equal(its.host[3], -1);
    assert_int_equal(cudaStreamSynchronize(its.streams[1]), cudaSuccess);
    assert_int_equal(cudaStreamSynchronize(its.streams[0]), cudaSuccess);
    assert_int_equal(its.host[3], 5);
    assert_int_equal(emulator_count().stream_copies - copies, 1);
    assert_int_equal(emulator_count().stream_downloads - downloads, 1);
}

static void test_bytes_that_are_waited_for(void **)
{
    bench its;
    int pageable[WORK] = {};
    const uint64_t waited = emulator_count().waited_bytes;

    emulator_configure(0, true, EMULATOR_LACKS_NOTHING);
    its.download(its.streams[0]);
    its.download(its.streams[1]);
    its.download(its.streams[1]);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    assert_int_equal(emulator_count().waited_bytes, waited);
    assert_int_equal(emulator_count().busiest_bytes, 2 * sizeof pageable);
    assert_int_equal(cudaMemcpyAsync(pageable, its.device, sizeof pageable, cudaMemcpyDeviceToHost, its.streams[0]),
                     cudaSuccess);
    assert_int_equal(cudaMemcpy(its.host, its.device, sizeof pageable, cudaMemcpyDeviceToHost), cudaSuccess);
    assert_int_equal(cudaMemcpy(its.device, its.device + WORK / 2, 4, cudaMemcpyDeviceToDevice), cudaSuccess);
    assert_int_equal(emulator_count().waited_bytes - waited, 2 * sizeof pageable);
    emulator_configure(0, true, EMULATOR_LACKS_NOTHING);
    assert_int_equal(emulator_count().busiest_bytes, 0);
}

static void test_source_is_read_in_its_turn(void **)
{
    bench its;

    its.host[0] = 1;
    assert_int_equal(cudaMemcpyAsync(its.device, its.host, sizeof(int), cudaMemcpyHostToDevice, its.streams[0]),
                     cudaSuccess);
    its.host[0] = 2; /* too early */
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    assert_int_equal(cudaMemcpy(its.host + 1, its.device, sizeof(int), cudaMemcpyDeviceToHost), cudaSuccess);
    assert_int_equal(its.host[1], 2);
}

static void test_pageable_memory_does_not_wait(void **)
{
    bench its;
    int pageable[WORK] = {};
    const uint64_t copies = emulator_count().stream_copies;

    add<<<1, WORK, 0, its.streams[0]>>>(its.device, 5);
    assert_int_equal(cudaMemcpyAsync(pageable, its.device, sizeof pageable, cudaMemcpyDeviceToHost, its.streams[0]),
                     cudaSuccess);
    assert_int_equal(pageable[WORK - 1], 5);
    assert_int_equal(emulator_count().stream_copies, copies);
}

static void test_events_order_streams(void **)
{
    cudaEvent_t event, never;

    assert_int_equal(cudaEventCreate(&event), cudaSuccess);
    assert_int_equal(cudaEventCreate(&never), cudaSuccess);
    for (int round = 0; round < 20; round++) {
        bench its;

        add<<<1, WORK, 0, its.streams[0]>>>(its.device, 5);
        assert_int_equal(cudaEventRecord(event, its.streams[0]), cudaSuccess);
        assert_int_equal(cudaStreamWaitEvent(its.streams[1], event, 0), cudaSuccess);
        assert_int_equal(cudaStreamWaitEvent(its.streams[1], never, 0), cudaSuccess); /* was not recorded */
        its.download(its.streams[1]);
        assert_int_equal(cudaStreamSynchronize(its.streams[1]), cudaSuccess);
        assert_int_equal(its.host[0], 5);
        assert_int_equal(cudaEventQuery(event), cudaSuccess);
    }
    assert_int_equal(cudaEventDestroy(event), cudaSuccess);
    assert_int_equal(cudaEventDestroy(never), cudaSuccess);
}

/* Without the wait the other stream is sometimes first: neither order may be relied on. */
static void test_order_is_drawn(void **)
{
    int first = 0;

    for (int round = 0; round < 40; round++) {
        bench its;

        add<<<1, WORK, 0, its.streams[0]>>>(its.device, 5);
        its.download(its.streams[1]);
        assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
        first += its.host[0] == 5;
    }
    assert_in_range(first, 1, 39);
}

static void test_polling_comes_to_an_end(void **)
{
    bench its;
    int polls = 0;

    for (int i = 0; i < 5; i++)
        add<<<1, WORK, 0, its.streams[0]>>>(its.device, 1);
    its.download(its.streams[0]);
    while (cudaStreamQuery(its.streams[0]) == cudaErrorNotReady)
        polls++;
    assert_int_equal(its.host[0], 5);
    assert_in_range(polls, 1, 6);
}

static void test_default_stream_waits_for_blocking_ones(void **)
{
    bench its;
    cudaStream_t blocking;
    int value = 0;

    assert_int_equal(cudaStreamCreate(&blocking), cudaSuccess);
    add<<<1, WORK, 0, blocking>>>(its.device, 3);
    add<<<1, WORK, 0, its.streams[0]>>>(its.device, 100);
    assert_int_equal(cudaMemcpy(&value, its.device, sizeof value, cudaMemcpyDeviceToHost), cudaSuccess);
    assert_true(value == 3 || value == 103);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    assert_int_equal(cudaMemcpy(&value, its.device, sizeof value, cudaMemcpyDeviceToHost), cudaSuccess);
    assert_int_equal(value, 103);
    assert_int_equal(cudaStreamDestroy(blocking), cudaSuccess);
}

static void test_graphs_are_late_too(void **)
{
    bench its;
    cudaGraph_t graph;
    cudaGraphExec_t executable;

    assert_int_equal(cudaStreamBeginCapture(its.streams[0], cudaStreamCaptureModeGlobal), cudaSuccess);
    add<<<1, WORK, 0, its.streams[0]>>>(its.device, 5);
    its.download(its.streams[0]);
    assert_int_equal(cudaStreamEndCapture(its.streams[0], &graph), cudaSuccess);
    assert_int_equal(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
    assert_int_equal(cudaGraphLaunch(executable, its.streams[0]), cudaSuccess);
    assert_int_equal(cudaGraphLaunch(executable, its.streams[0]), cudaSuccess);
    assert_int_equal(its.host[0], -1);
    assert_int_equal(cudaGraphExecDestroy(executable), cudaSuccess);
    assert_int_equal(cudaGraphDestroy(graph), cudaSuccess);
    assert_int_equal(cudaStreamSynchronize(its.streams[0]), cudaSuccess);
    assert_int_equal(its.host[0], 10);
}

/* An event takes a second stream into the capture, and another one must bring it back. */
static void test_events_in_a_capture(void **)
{
    bench its;
    cudaStream_t first = its.streams[0], second = its.streams[1];
    cudaEvent_t fork, join, outside;
    cudaGraph_t graph;
    cudaGraphExec_t executable;

    assert_int_equal(cudaEventCreate(&fork), cudaSuccess);
    assert_int_equal(cudaEventCreate(&join), cudaSuccess);
    assert_int_equal(cudaEventCreate(&outside), cudaSuccess);
    assert_int_equal(cudaEventRecord(outside, first), cudaSuccess);
    assert_int_equal(cudaStreamBeginCapture(first, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    assert_int_equal(cudaStreamWaitEvent(first, outside, 0), cudaErrorStreamCaptureIsolation);
    add<<<1, WORK, 0, first>>>(its.device, 5);
    assert_int_equal(cudaEventRecord(fork, first), cudaSuccess);
    assert_int_equal(cudaEventQuery(fork), cudaErrorCapturedEvent);
    assert_int_equal(cudaEventSynchronize(fork), cudaErrorCapturedEvent);
    assert_int_equal(cudaStreamWaitEvent(0, fork, 0), cudaErrorStreamCaptureImplicit);
    assert_int_equal(cudaStreamWaitEvent(second, fork, 0), cudaSuccess);
    its.download(second);
    assert_int_equal(cudaStreamEndCapture(second, &graph), cudaErrorStreamCaptureUnmatched);
    cudaGetLastError();
    assert_int_equal(cudaEventRecord(join, second), cudaSuccess);
    assert_int_equal(cudaStreamWaitEvent(first, join, 0), cudaSuccess);
    assert_int_equal(cudaStreamEndCapture(first, &graph), cudaSuccess);
    assert_int_equal(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
    assert_int_equal(cudaGraphLaunch(executable, first), cudaSuccess);
    assert_int_equal(cudaStreamSynchronize(first), cudaSuccess);
    assert_int_equal(its.host[WORK - 1], 5);
    assert_int_equal(cudaStreamWaitEvent(second, fork, 0), cudaSuccess); /* of no capture any more */
    assert_int_equal(cudaStreamSynchronize(second), cudaSuccess);
    assert_int_equal(cudaGraphExecDestroy(executable), cudaSuccess);
    assert_int_equal(cudaGraphDestroy(graph), cudaSuccess);

    /* Work behind the event that the first stream waits for is not joined. */
    assert_int_equal(cudaStreamBeginCapture(first, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    assert_int_equal(cudaEventRecord(fork, first), cudaSuccess);
    assert_int_equal(cudaStreamWaitEvent(second, fork, 0), cudaSuccess);
    assert_int_equal(cudaEventRecord(join, second), cudaSuccess);
    add<<<1, WORK, 0, second>>>(its.device, 5);
    assert_int_equal(cudaStreamWaitEvent(first, join, 0), cudaSuccess);
    assert_int_equal(cudaStreamEndCapture(first, &graph), cudaErrorStreamCaptureUnjoined);
    assert_null(graph);
    cudaGetLastError();

    /* Two captures are not made one by an event. */
    assert_int_equal(cudaStreamBeginCapture(first, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    assert_int_equal(cudaStreamBeginCapture(second, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    assert_int_equal(cudaEventRecord(fork, first), cudaSuccess);
    assert_int_equal(cudaStreamWaitEvent(second, fork, 0), cudaErrorStreamCaptureMerge);
    for (cudaStream_t stream : its.streams) {
        assert_int_equal(cudaStreamEndCapture(stream, &graph), cudaSuccess);
        assert_int_equal(cudaGraphDestroy(graph), cudaSuccess);
    }
    for (cudaEvent_t event : {fork, join, outside})
        assert_int_equal(cudaEventDestroy(event), cudaSuccess);
}

/* The default stream would have to wait for what is only recorded; a stream that it does not wait for stays as it
 * is. */
static void test_default_stream_breaks_a_record(void **)
{
    bench its;
    cudaStream_t blocking;
    cudaGraph_t graph;
    cudaEvent_t event;
    const int value = 7;

    assert_int_equal(cudaStreamCreate(&blocking), cudaSuccess);
    assert_int_equal(cudaEventCreate(&event), cudaSuccess);
    assert_int_equal(cudaStreamBeginCapture(blocking, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    add<<<1, WORK, 0, blocking>>>(its.device, 5);
    assert_int_equal(cudaMemset2D(its.device, 4, 0, 4, WORK), cudaErrorStreamCaptureImplicit);
    assert_int_equal(cudaMemcpy(its.device, &value, sizeof value, cudaMemcpyHostToDevice),
                     cudaErrorStreamCaptureImplicit);
    assert_int_equal(cudaMemcpyAsync(its.device, &value, sizeof value, cudaMemcpyHostToDevice, its.streams[0]),
                     cudaSuccess);
    cudaGetLastError();
    add<<<1, WORK>>>(its.device, 100);
    assert_int_equal(cudaGetLastError(), cudaErrorStreamCaptureImplicit);
    assert_int_equal(cudaMemsetAsync(its.device, 0, sizeof value, 0), cudaErrorStreamCaptureImplicit);
    assert_int_equal(cudaMemcpyAsync(its.device, &value, sizeof value, cudaMemcpyHostToDevice, 0),
                     cudaErrorStreamCaptureImplicit);
    assert_int_equal(cudaEventRecord(event, 0), cudaErrorStreamCaptureImplicit);
    assert_int_equal(cudaStreamSynchronize(0), cudaErrorStreamCaptureImplicit);
    assert_int_equal(cudaEventDestroy(event), cudaSuccess);
    assert_int_equal(cudaStreamEndCapture(blocking, &graph), cudaErrorStreamCaptureInvalidated);
    assert_null(graph);
    cudaGetLastError();
    assert_int_equal(cudaStreamDestroy(blocking), cudaSuccess);
    assert_int_equal(cudaStreamBeginCapture(its.streams[1], cudaStreamCaptureModeThreadLocal), cudaSuccess);
    assert_int_equal(cudaMemset(its.device, 0, WORK * sizeof(int)), cudaSuccess);
    assert_int_equal(cudaStreamEndCapture(its.streams[1], &graph), cudaSuccess);
    assert_int_equal(cudaGraphDestroy(graph), cudaSuccess);
}

static void test_errors(void **)
{
    bench its;

    add<<<1, 2000, 0, its.streams[0]>>>(its.device, 5); /* at once, as the shape is known */
    assert_int_equal(cudaGetLastError(), cudaErrorInvalidConfiguration);
    illegal<<<1, WORK, 0, its.streams[0]>>>(its.device); /* by whoever waits for it */
    assert_int_equal(cudaGetLastError(), cudaSuccess);
    assert_int_equal(cudaStreamSynchronize(its.streams[0]), cudaErrorLaunchFailure);
    assert_int_equal(cudaDeviceReset(), cudaSuccess);
    its.device = its.host = NULL; /* the reset has freed them */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_default_stream_is_late),
        cmocka_unit_test(test_default_copy_of_pageable_memory),
        cmocka_unit_test(test_result_before_the_wait),
        cmocka_unit_test(test_bytes_that_are_waited_for),
        cmocka_unit_test(test_source_is_read_in_its_turn),
        cmocka_unit_test(test_pageable_memory_does_not_wait),
        cmocka_unit_test(test_events_order_streams),
        cmocka_unit_test(test_events_in_a_capture),
        cmocka_unit_test(test_order_is_drawn),
        cmocka_unit_test(test_polling_comes_to_an_end),
        cmocka_unit_test(test_default_stream_waits_for_blocking_ones),
        cmocka_unit_test(test_graphs_are_late_too),
        cmocka_unit_test(test_default_stream_breaks_a_record),
        cmocka_unit_test(test_errors),
    };

    setenv("RUNGS_EMULATOR_LATE", "1", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
