/* Missing waits between kernels, copies and the host, and correct orders that look odd (faults.h). */
#include "faults.h"

__global__ void add_one(int *x)
{
    x[threadIdx.x] += 1; /* two_streams 2 launch_and_copy 2 copy_and_launch 2 memset_and_launch 2 event_too_early 2 */
}
__global__ void add_two(int *x)
{
    x[threadIdx.x] += 2;
}
__global__ void take(int *out, const int *x)
{
    out[threadIdx.x] = x[threadIdx.x]; /* second_reader 1 */
}
struct streams {
    cudaStream_t first, second; /* that wait for nobody */
    int *pinned, *managed, *other;
    cudaEvent_t event;
    streams()
    {
        cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
        cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
        cudaEventCreate(&event);
        cudaMallocHost(&pinned, N * sizeof(int));
        cudaMallocManaged(&managed, N * sizeof(int));
        cudaMalloc(&other, N * sizeof(int));
        memset(pinned, 0, N * sizeof(int));
        memset(managed, 0, N * sizeof(int));
        cudaMemset(other, 0, N * sizeof(int));
        cudaDeviceSynchronize();
    }
    ~streams()
    {
        cudaDeviceSynchronize();
        cudaEventDestroy(event);
        cudaStreamDestroy(first);
        cudaStreamDestroy(second);
        cudaFreeHost(pinned);
        cudaFree(managed);
        cudaFree(other);
    }
};
static void two_streams()
{
    streams s;

    add_one<<<1, N, 0, s.first>>>(ints);  /* two_streams 1 */
    add_one<<<1, N, 0, s.second>>>(ints); /* two_streams 1 */
}
static void launch_and_copy()
{
    streams s;

    add_one<<<1, N, 0, s.first>>>(ints);                                                /* launch_and_copy 1 */
    cudaMemcpyAsync(s.pinned, ints, N * sizeof(int), cudaMemcpyDeviceToHost, s.second); /* launch_and_copy 2 */
}
static void copy_and_launch()
{
    streams s;

    cudaMemcpyAsync(ints, s.pinned, N * sizeof(int), cudaMemcpyHostToDevice, s.first); /* copy_and_launch 1 */
    add_one<<<1, N, 0, s.second>>>(ints);                                              /* copy_and_launch 2 */
}
static void memset_and_launch()
{
    streams s;

    cudaMemset(ints, 0, N * sizeof(int)); /* memset_and_launch 1 */
    add_one<<<1, N, 0, s.first>>>(ints);  /* memset_and_launch 2 */
}
static void copy_and_copy()
{
    streams s;

    cudaMemcpyAsync(ints, s.pinned, N * sizeof(int), cudaMemcpyHostToDevice, s.first);   /* copy_and_copy 1 */
    cudaMemcpyAsync(s.other, ints, N * sizeof(int), cudaMemcpyDeviceToDevice, s.second); /* copy_and_copy 2 */
}
static void event_too_early()
{
    streams s;

    cudaEventRecord(s.event, s.first);
    add_one<<<1, N, 0, s.first>>>(ints); /* event_too_early 1 */
    cudaStreamWaitEvent(s.second, s.event);
    add_one<<<1, N, 0, s.second>>>(ints); /* event_too_early 1 */
}
static void no_wait_of_default_stream()
{
    streams s;

    add_one<<<1, N, 0, s.first>>>(ints);                                 /* cudaMemcpy_early 1 */
    cudaMemcpy(s.pinned, ints, N * sizeof(int), cudaMemcpyDeviceToHost); /* cudaMemcpy_early 2 */
}
static void second_reader()
{
    streams s;

    take<<<1, N, 0, s.first>>>(out, ints); /* second_reader 2 */
    take<<<1, N, 0, s.second>>>(s.other, ints);
    cudaMemsetAsync(ints, 0, N * sizeof(int), s.second); /* second_reader 2 */
}
static void free_of_another_stream()
{
    streams s;
    int *x;

    cudaMallocAsync(&x, N * sizeof(int), s.first);
    cudaMemsetAsync(x, 0, N * sizeof(int), s.first); /* free_early 1 */
    cudaFreeAsync(x, s.second);                      /* free_early 2 */
}
static void pinned_too_early()
{
    streams s;

    cudaMemcpyAsync(s.pinned, ints, N * sizeof(int), cudaMemcpyDeviceToHost, s.first); /* pinned_early 1 */
    if (s.pinned[5] != 0)                                                              /* pinned_early 2 */
        printf("a wrong result\n");
}
static void pinned_used_again()
{
    streams s;

    cudaMemcpyAsync(ints, s.pinned, N * sizeof(int), cudaMemcpyHostToDevice, s.first); /* pinned_again 1 */
    s.pinned[7] = 1;                                                                   /* pinned_again 2 */
}
__global__ void number_all(int *x)
{
    x[threadIdx.x] = (int)threadIdx.x; /* managed_early 2 */
}
static void managed_too_early()
{
    streams s;
    int sum = 0;

    number_all<<<1, N>>>(s.managed); /* managed_early 1 */
    for (int i = 0; i < N; i++)
        sum += s.managed[i]; /* managed_early 1 */
    if (sum == 1)
        printf("a wrong result\n");
}

static void with_an_event()
{
    streams s;

    add_one<<<1, N, 0, s.first>>>(ints);
    cudaEventRecord(s.event, s.first);
    cudaStreamWaitEvent(s.second, s.event);
    add_two<<<1, N, 0, s.second>>>(ints);
    cudaMemcpyAsync(s.pinned, ints, N * sizeof(int), cudaMemcpyDeviceToHost, s.second);
    cudaStreamSynchronize(s.second);
    if (s.pinned[9] != 3)
        printf("a wrong result\n");
}
static void with_waits_of_the_host()
{
    streams s;

    cudaMemcpyAsync(ints, s.pinned, N * sizeof(int), cudaMemcpyHostToDevice, s.first);
    cudaStreamSynchronize(s.first);
    s.pinned[0] = 4;
    add_one<<<1, N, 0, s.second>>>(ints);
    cudaEventRecord(s.event, s.second);
    cudaEventSynchronize(s.event);
    add_two<<<1, N, 0, s.first>>>(ints);
    while (cudaStreamQuery(s.first) == cudaErrorNotReady)
        continue;
    cudaMemcpy(s.pinned, ints, N * sizeof(int), cudaMemcpyDeviceToHost);
    if (s.pinned[9] != 3)
        printf("a wrong result\n");
}
static void by_the_default_stream()
{
    cudaStream_t first, second;
    int *managed;

    cudaStreamCreate(&first); /* which wait for the default stream, and it for them */
    cudaStreamCreate(&second);
    cudaMallocManaged(&managed, N * sizeof(int));
    memset(managed, 0, N * sizeof(int));
    add_one<<<1, N, 0, first>>>(managed);
    add_two<<<1, N>>>(managed);
    add_one<<<1, N, 0, second>>>(managed);
    cudaMemcpy(out, managed, sizeof(int), cudaMemcpyDeviceToDevice);
    cudaMemset(out, 0, sizeof(int));
    add_two<<<1, 1, 0, first>>>(out);
    cudaMemset(out, 0, sizeof(int));
    cudaStreamSynchronize(nullptr);
    if (managed[3] != 4)
        printf("a wrong result\n");
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
    cudaFree(managed);
}
static void halves_of_two_streams()
{
    streams s;

    add_one<<<1, N / 2, 0, s.first>>>(ints);
    add_one<<<1, N / 2, 0, s.second>>>(ints + N / 2);
    take<<<1, N / 2, 0, s.first>>>(out + N, s.other); /* both read it */
    take<<<1, N / 2, 0, s.second>>>(out + N + N / 2, s.other);
    cudaMemcpyAsync(s.pinned, ints, N / 2 * sizeof(int), cudaMemcpyDeviceToHost, s.first);
    cudaMemcpyAsync(s.pinned + N / 2, ints + N / 2, N / 2 * sizeof(int), cudaMemcpyDeviceToHost, s.second);
    s.managed[3] = 1; /* nobody else's */
    cudaDeviceSynchronize();
    cudaMemsetAsync(s.other, 0, N * sizeof(int), s.second);
    if (s.pinned[N - 1] != 1)
        printf("a wrong result\n");
}
static void told_by_a_function()
{
    static volatile bool done;
    streams s;

    done = false;
    cudaMemcpyAsync(s.pinned, ints, N * sizeof(int), cudaMemcpyDeviceToHost, s.first);
    cudaLaunchHostFunc(
        s.first, [](void *pinned) { done = ((int *)pinned)[1] == 0; }, s.pinned);
    while (!done)
        cudaStreamQuery(s.second); /* some time for it */
    if (s.pinned[2] != 0)
        printf("a wrong result\n");
}
static void by_a_graph()
{
    streams s;
    cudaGraph_t graph;
    cudaGraphExec_t made;

    cudaStreamBeginCapture(s.first, cudaStreamCaptureModeGlobal);
    add_one<<<1, N, 0, s.first>>>(ints);
    cudaMemcpyAsync(s.other, ints, N * sizeof(int), cudaMemcpyDeviceToDevice, s.first);
    cudaStreamEndCapture(s.first, &graph);
    cudaGraphInstantiate(&made, graph, nullptr, nullptr, 0);
    cudaGraphLaunch(made, s.first);
    cudaGraphLaunch(made, s.first);
    cudaEventRecord(s.event, s.first);
    cudaStreamWaitEvent(s.second, s.event);
    add_two<<<1, N, 0, s.second>>>(s.other);
    cudaDeviceSynchronize();
    cudaGraphExecDestroy(made);
    cudaGraphDestroy(graph);
}
static void reused_after_free()
{
    streams s;
    int *x;

    for (int i = 0; i < 3; i++) {
        cudaMallocAsync(&x, N * sizeof(int), s.first);
        cudaMemsetAsync(x, 0, N * sizeof(int), s.first);
        add_one<<<1, N, 0, s.first>>>(x);
        cudaFreeAsync(x, s.first);
    }
    cudaMalloc(&x, N * sizeof(int));
    cudaMemsetAsync(x, 0, N * sizeof(int), s.second);
    cudaFree(x);
}

static const fault_case CASES[] = {
    {"two_streams", "no event or synchronise", two_streams},
    {"launch_and_copy", "no event or synchronise", launch_and_copy},
    {"copy_and_launch", "no event or synchronise", copy_and_launch},
    {"memset_and_launch", "no event or synchronise", memset_and_launch},
    {"copy_and_copy", "no event or synchronise", copy_and_copy},
    {"event_too_early", "no event or synchronise", event_too_early},
    {"cudaMemcpy_early", "no event or synchronise", no_wait_of_default_stream},
    {"second_reader", "no event or synchronise", second_reader},
    {"free_early", "memory", free_of_another_stream},
    {"pinned_early", "no event or synchronise", pinned_too_early},
    {"pinned_again", "no event or synchronise", pinned_used_again},
    {"managed_early", "no event or synchronise", managed_too_early},

    {"with_an_event", "", with_an_event},
    {"with_waits_of_the_host", "", with_waits_of_the_host},
    {"by_the_default_stream", "", by_the_default_stream},
    {"halves_of_two_streams", "", halves_of_two_streams},
    {"told_by_a_function", "", told_by_a_function},
    {"by_a_graph", "", by_a_graph},
    {"reused_after_free", "", reused_after_free},
};

int main(int argc, char **argv)
{
    return run_case(argc, argv, CASES);
}
