/*
 * test_launch.cu: order of threads and blocks, divergence, illegal launches, faults, wild writes.
 */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/emulator/tests/units/emulator_test.h"

/* ------------------------------------------------------------------------------------------------- random orders */

enum { BLOCKS = 40, BLOCK_THREADS = 64 };

static __global__ void record_order(unsigned *next, unsigned *order)
{
    if (threadIdx.x == 0)
        order[atomicAdd(next, 1u)] = blockIdx.x;
    __syncthreads();
    order[BLOCKS + blockIdx.x * BLOCK_THREADS + atomicAdd(&next[1 + blockIdx.x], 1u)] = threadIdx.x;
}

struct orders {
    unsigned at[BLOCKS + BLOCKS * BLOCK_THREADS];
};

static void record(struct orders *orders)
{
    mirrored<unsigned, 1 + BLOCKS> next;
    mirrored<unsigned, BLOCKS + BLOCKS * BLOCK_THREADS> order;

    record_order<<<BLOCKS, BLOCK_THREADS>>>(next.device, order.device);
    order.download();
    memcpy(orders->at, order.host, sizeof(orders->at));
}

static bool is_permutation(const unsigned *order, unsigned count)
{
    unsigned seen = 0;

    for (unsigned value = 0; value < count; value++)
        for (unsigned i = 0; i < count; i++)
            seen += order[i] == value;
    return seen == count;
}

enum { EVEN_THREADS = 8, EVEN_BLOCKS = 6400, EVEN_STAGES = 3 };

/* Which of its block a thread is: at the start, behind a barrier, behind a shuffle. Nothing interrupts it between. */
static __global__ void record_places(unsigned char (*places)[EVEN_STAGES][EVEN_THREADS], unsigned (*next)[EVEN_STAGES])
{
    const unsigned block = blockIdx.x, thread = threadIdx.x;

    places[block][0][thread] = (unsigned char)next[block][0]++;
    __syncthreads();
    places[block][1][thread] = (unsigned char)next[block][1]++;
    __shfl_sync(0xff, thread, 0);
    places[block][2][thread] = (unsigned char)next[block][2]++;
}

/* Of 6400 blocks a thread has each of the eight places in 800, but for six standard deviations, and whatever place it
 * had at the stage before. */
static void test_each_order_is_as_likely(void **)
{
    static unsigned at[EVEN_STAGES][EVEN_THREADS][EVEN_THREADS], after[EVEN_STAGES][EVEN_THREADS][EVEN_THREADS];
    static mirrored<unsigned char[EVEN_STAGES][EVEN_THREADS], EVEN_BLOCKS> places;
    mirrored<unsigned[EVEN_STAGES], EVEN_BLOCKS> next;

    emulator_seed(7);
    record_places<<<EVEN_BLOCKS, EVEN_THREADS>>>(places.device, next.device);
    places.download();
    for (const auto &block : places.host)
        for (unsigned stage = 0; stage < EVEN_STAGES; stage++)
            for (unsigned thread = 0; thread < EVEN_THREADS; thread++) {
                at[stage][thread][block[stage][thread]]++;
                if (stage > 0 && thread == 0)
                    after[stage][block[stage - 1][thread]][block[stage][thread]]++;
            }
    for (unsigned stage = 0; stage < EVEN_STAGES; stage++)
        for (unsigned i = 0; i < EVEN_THREADS; i++)
            for (unsigned place = 0; place < EVEN_THREADS; place++) {
                assert_in_range(at[stage][i][place], 640, 960);
                if (stage > 0)
                    assert_in_range(after[stage][i][place], 40, 160);
            }
}

static void test_orders_follow_the_seed(void **)
{
    static struct orders first, again, second, other;

    setenv("RUNGS_EMULATOR_THREADS", "1", 1);
    emulator_seed(7);
    record(&first);
    record(&second);
    emulator_seed(7);
    record(&again);
    emulator_seed(8);
    record(&other);
    unsetenv("RUNGS_EMULATOR_THREADS");
    assert_memory_equal(&first, &again, sizeof(first));
    assert_memory_not_equal(first.at, second.at, BLOCKS * sizeof(unsigned));
    assert_memory_not_equal(first.at, other.at, BLOCKS * sizeof(unsigned));
    assert_memory_not_equal(first.at + BLOCKS, second.at + BLOCKS, BLOCK_THREADS * sizeof(unsigned));
    assert_memory_not_equal(first.at + BLOCKS, other.at + BLOCKS, BLOCK_THREADS * sizeof(unsigned));
    assert_memory_not_equal(first.at + BLOCKS, first.at + BLOCKS + BLOCK_THREADS, BLOCK_THREADS * sizeof(unsigned));
    assert_true(is_permutation(first.at, BLOCKS));
    for (int b = 0; b < BLOCKS; b++)
        assert_true(is_permutation(first.at + BLOCKS + b * BLOCK_THREADS, BLOCK_THREADS));
}

static __global__ void count_blocks(unsigned *counts)
{
    atomicAdd(&counts[blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)], 1u);
}

static void test_every_block_runs_once(void **)
{
    static const dim3 grids[] = {1, 2, 3, 4, 5, 16, 17, 63, 64, 65, 1000, {7, 11}, {3, 5, 19}, {1, 1, 900}};

    for (const dim3 &grid : grids) {
        mirrored<unsigned, 1001> counts;

        count_blocks<<<grid, 3>>>(counts.device);
        counts.download();
        for (unsigned i = 0; i < 1001; i++)
            assert_int_equal(counts.host[i], i < grid.x * grid.y * grid.z ? 3 : 0);
    }
}

/* Each thread needs what its neighbour stores; `synchronise` is what a student forgets. */
static __global__ void rotate(int *out, bool synchronise)
{
    __shared__ int values[BLOCK_THREADS];

    values[threadIdx.x] = (int)threadIdx.x;
    if (synchronise)
        __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = values[(threadIdx.x + 1) % blockDim.x];
}

static int wrong_rotations(bool synchronise)
{
    mirrored<int, 4 * BLOCK_THREADS> out;
    int wrong = 0;

    rotate<<<4, BLOCK_THREADS>>>(out.device, synchronise);
    out.download();
    for (int i = 0; i < 4 * BLOCK_THREADS; i++)
        wrong += out.host[i] != (i + 1) % BLOCK_THREADS;
    return wrong;
}

static void test_missing_barrier_shows(void **)
{
    assert_int_equal(wrong_rotations(true), 0);
    for (int n = 0; n < 20; n++)
        assert_in_range(wrong_rotations(false), BLOCK_THREADS, 3 * BLOCK_THREADS);
}

/* ---------------------------------------------------------------------------------------------------- divergence */

static __global__ void half_returns()
{
    if (threadIdx.x >= 16)
        return;
    __syncthreads();
}
static const int HALF_RETURNS_BARRIER = __LINE__ - 2;

static __global__ void two_barriers()
{
    if (threadIdx.y == 0)
        __syncthreads();
    else
        __syncthreads();
}
static const int TWO_BARRIERS_FIRST = __LINE__ - 4;

static __global__ void missing_lane()
{
    if (threadIdx.x != 3)
        __ballot_sync(0xff, 1);
    __syncthreads();
}
static const int MISSING_LANE_BALLOT = __LINE__ - 3;

static __global__ void not_in_own_mask()
{
    __shfl_sync(0xfffffffe, 1, 0);
}
static const int NOT_IN_OWN_MASK_SHUFFLE = __LINE__ - 2;

static __global__ void different_masks()
{
    __syncwarp(threadIdx.x == 0 ? 3 : 7);
}
static const int DIFFERENT_MASKS_SYNC = __LINE__ - 2;

static __global__ void traps(unsigned thread)
{
    __syncthreads();
    if (blockIdx.x == 2 && threadIdx.x == thread)
        __trap();
}

/* The message of a launch that failed on the device, less the constant start, checked to last. */
static const char *fault_message()
{
    static const char start[] = "unspecified launch failure: ";
    const char *message;
    void *pointer = NULL;

    assert_int_equal(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
    assert_int_equal(cudaMalloc(&pointer, 4), cudaErrorLaunchFailure);
    assert_int_equal(cudaGetLastError(), cudaErrorLaunchFailure);
    assert_int_equal(cudaGetLastError(), cudaErrorLaunchFailure);
    message = message_of(cudaErrorLaunchFailure);
    assert_int_equal(cudaGetLastError(), cudaSuccess);
    assert_memory_equal(message, start, strlen(start));
    return message + strlen(start);
}

static void expect_message(const char *message, const char *format, ...)
{
    char expected[500];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(expected, sizeof(expected), format, arguments);
    va_end(arguments);
    assert_string_equal(message, expected);
}

#define HERE "tests/units/test_launch.cu"

static void test_divergence_is_explained(void **)
{
    half_returns<<<1, 32>>>();
    expect_message(fault_message(),
                   "barrier divergence in kernel half_returns (" HERE ":%d), block (0,0,0): thread (0,0,0) waits at "
                   "__syncthreads() in " HERE ":%d, but thread (16,0,0) has ended",
                   __LINE__ - 4, HALF_RETURNS_BARRIER);
    two_barriers<<<dim3(1, 1), dim3(4, 2)>>>();
    expect_message(fault_message(),
                   "barrier divergence in kernel two_barriers (" HERE ":%d), block (0,0,0): thread (0,0,0) waits at "
                   "__syncthreads() in " HERE ":%d, but thread (0,1,0) waits at __syncthreads() in " HERE ":%d",
                   __LINE__ - 4, TWO_BARRIERS_FIRST, TWO_BARRIERS_FIRST + 2);
    missing_lane<<<1, 8>>>();
    expect_message(fault_message(),
                   "barrier divergence in kernel missing_lane (" HERE ":%d), block (0,0,0): thread (0,0,0) waits at "
                   "__ballot_sync() in " HERE ":%d with mask 0x000000ff, but thread (3,0,0) waits at __syncthreads() "
                   "in " HERE ":%d",
                   __LINE__ - 5, MISSING_LANE_BALLOT, MISSING_LANE_BALLOT + 1);
    not_in_own_mask<<<1, 1>>>();
    expect_message(fault_message(),
                   "kernel not_in_own_mask (" HERE ":%d), block (0,0,0), thread (0,0,0): __shfl_sync() in " HERE
                   ":%d has mask 0xfffffffe, which leaves out the calling lane 0",
                   __LINE__ - 4, NOT_IN_OWN_MASK_SHUFFLE);
    different_masks<<<1, 3>>>();
    expect_message(fault_message(),
                   "barrier divergence in kernel different_masks (" HERE ":%d), block (0,0,0): thread (0,0,0) waits at "
                   "__syncwarp() in " HERE ":%d with mask 0x00000003, but thread (1,0,0) waits at __syncwarp() in " HERE
                   ":%d with mask 0x00000007",
                   __LINE__ - 5, DIFFERENT_MASKS_SYNC, DIFFERENT_MASKS_SYNC);
    traps<<<3, 256>>>(37);
    expect_message(fault_message(), "kernel traps (" HERE ":%d), block (2,0,0), thread (37,0,0): __trap() was called",
                   __LINE__ - 2);
    /* After a reset all is well again, on stacks that were dropped in the middle of things. */
    assert_int_equal(wrong_rotations(true), 0);
}

/* Nothing more runs after a fault, and the launch that fails says so at once. */
static void test_faults_last(void **)
{
    mirrored<int, 1> out;

    traps<<<3, 256>>>(0);
    rotate<<<1, 1>>>(out.device, true);
    assert_int_equal(cudaPeekAtLastError(), cudaErrorLaunchFailure);
    assert_int_equal(cudaMemcpy(out.host, out.device, sizeof(out.host), cudaMemcpyDeviceToHost),
                     cudaErrorLaunchFailure);
    assert_non_null(strstr(message_of(cudaErrorLaunchFailure), "kernel traps"));
}

/* ----------------------------------------------------------------------------------------------- illegal launches */

static __global__ void nothing()
{
}

template <int N> static __global__ void uses_dynamic(int *out)
{
    extern __shared__ int values[];

    values[threadIdx.x] = N;
    out[0] = values[threadIdx.x];
}

template <class T> static __global__ void deduced(T *out, T value)
{
    *out = value;
}

static __global__ void overloaded(int *out)
{
    *out = 1;
}

static __global__ void overloaded(float *out)
{
    *out = 2;
}

static void launch_nothing(dim3 grid, dim3 block, size_t bytes)
{
    nothing<<<grid, block, bytes>>>();
}
static const int NOTHING_LINE = __LINE__ - 2;

static void expect_refused(const char *rule, dim3 grid, dim3 block, size_t bytes)
{
    launch_nothing(grid, block, bytes);
    expect_message(message_of(cudaErrorInvalidConfiguration),
                   "invalid configuration argument: kernel nothing (" HERE ":%d): %s", NOTHING_LINE, rule);
}

static void test_illegal_shapes_are_refused(void **)
{
    expect_refused("block of 64x32x1 = 2048 threads: at most 1024", 1, {64, 32}, 0);
    expect_refused("block of 1025x1x1: x and y are at most 1024", 1, 1025, 0);
    expect_refused("block of 1x1025x1: x and y are at most 1024", 1, {1, 1025}, 0);
    expect_refused("block of 1x1x65: z is at most 64", 1, {1, 1, 65}, 0);
    expect_refused("block of 0x1x1: each side must be at least 1", 1, 0, 0);
    expect_refused("block of 8x8x0: each side must be at least 1", 1, {8, 8, 0}, 0);
    expect_refused("block of 65536x65536x1: x and y are at most 1024", 1, {65536, 65536}, 0);
    expect_refused("grid of 0x1x1: each side must be at least 1", 0, 1, 0);
    expect_refused("grid of 5x0x1: each side must be at least 1", {5, 0}, 1, 0);
    expect_refused("grid of 4294967295x1x1: x is at most 2147483647", (unsigned)-1, 1, 0);
    expect_refused("grid of 1x65536x1: y and z are at most 65535", {1, 65536}, 1, 0);
    expect_refused("grid of 1x1x65536: y and z are at most 65535", {1, 1, 65536}, 1, 0);
    expect_refused("49153 bytes of dynamic shared memory: at most 49152 unless cudaFuncSetAttribute(nothing, "
                   "cudaFuncAttributeMaxDynamicSharedMemorySize, ...) allows more",
                   1, 1, 49153);
    expect_refused("232449 bytes of dynamic shared memory: at most 232448", 1, 1, 232449);
    launch_nothing(1, {16, 64}, 49152);
    launch_nothing({1, 1, 65535}, {1, 1, 64}, 0);
    assert_int_equal(cudaGetLastError(), cudaSuccess);
}

static void test_dynamic_shared_memory_limit(void **)
{
    mirrored<int, 1> out;

    assert_int_equal(cudaFuncSetAttribute(uses_dynamic<3>, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000),
                     cudaSuccess);
    uses_dynamic<3><<<1, 8, 100000>>>(out.device);
    out.download();
    assert_int_equal(out.host[0], 3);
    uses_dynamic<4><<<1, 8, 100000>>>(out.device); /* allowed for another kernel */
    assert_non_null(strstr(message_of(cudaErrorInvalidConfiguration), "unless cudaFuncSetAttribute(uses_dynamic<4>"));
    assert_int_equal(cudaFuncSetAttribute(uses_dynamic<4>, cudaFuncAttributeMaxDynamicSharedMemorySize, 232449),
                     cudaErrorInvalidValue);
    cudaGetLastError();
}

static void test_kernel_names(void **)
{
    mirrored<int, 1> i;
    mirrored<float, 1> f;
    void (*const pointer)(int *) = uses_dynamic<9>;

    deduced<<<1, 1>>>(i.device, 5);
    i.download();
    assert_int_equal(i.host[0], 5);
    deduced<float><<<1, 1>>>(f.device, 0.5f);
    f.download();
    assert_true(f.host[0] == 0.5f);
    overloaded<<<1, 1>>>(f.device);
    f.download();
    assert_true(f.host[0] == 2);
    pointer<<<1, 1, 4>>>(i.device);
    i.download();
    assert_int_equal(i.host[0], 9);
    (i.host[0] == 9 ? pointer : uses_dynamic<2>)<<<1, 1, 4>>>(i.device);
    i.download();
    assert_int_equal(i.host[0], 9);
}

/* --------------------------------------------------------------------------------------------------- wild writes */

static __global__ void write_at(int *out, int index)
{
    if (threadIdx.x == 5)
        out[index] = 1;
}

static __global__ void write_shared_at(int index, int *out)
{
    __shared__ uint8_t values[100];

    if (threadIdx.x == 5)
        ((volatile uint8_t *)values)[index] = 1;
    *out = 0;
}

/* Runs body in a child and gives what it wrote to stderr, to be freed. */
static char *stderr_of(void (*body)())
{
    char *text = (char *)calloc(1, 65536);
    size_t length = 0;
    ssize_t part;
    int ends[2];
    pid_t child;

    assert_int_equal(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        signal(SIGSEGV, SIG_DFL); /* not cmocka's handler */
        body();
        fprintf(stderr, "%s\n", cudaGetErrorString(cudaGetLastError()));
        _exit(0);
    }
    close(ends[1]);
    while (length < 65535 && (part = read(ends[0], text + length, 65535 - length)) > 0)
        length += (size_t)part;
    close(ends[0]);
    waitpid(child, NULL, 0);
    return text;
}

static void expect_in_stderr(void (*body)(), const char *with_sanitizer, const char *without)
{
    char *text = stderr_of(body);
#if defined(EMULATED_ASAN)
    const char *const wanted = with_sanitizer;

    (void)without;
#else
    const char *const wanted = without;

    (void)with_sanitizer;
#endif
    if (strstr(text, wanted) == NULL)
        print_error("wanted: %s\ngot: %s\n", wanted, text);
    assert_non_null(strstr(text, wanted));
    if (wanted == with_sanitizer)
        assert_non_null(strstr(text, ", block (0,0,0), thread (5,0,0)\n"));
    free(text);
}

static int *small_allocation()
{
    int *memory = NULL;

    cudaMalloc(&memory, 10 * sizeof(int));
    return memory;
}

static void overrun_global()
{
    write_at<<<1, 8>>>(small_allocation(), 10);
}

#if !defined(EMULATED_ASAN)
static int far_away;

static void write_far_away()
{
    write_at<<<1, 8>>>(small_allocation(), far_away);
}
#endif

static void underrun_global()
{
    write_at<<<1, 8>>>(small_allocation(), -1);
}

static void overrun_shared()
{
    write_shared_at<<<1, 8>>>(100, small_allocation());
}

static void test_wild_writes_are_caught(void **)
{
    expect_in_stderr(overrun_global, "AddressSanitizer: heap-buffer-overflow",
                     "a thread wrote outside of an allocation of 40 bytes at byte 40");
#if !defined(EMULATED_ASAN) /* which guards fewer bytes */
    for (far_away = -1000; far_away < 0; far_away += 37)
        expect_in_stderr(write_far_away, "", " an allocation of 40 bytes");
    for (far_away = 10; far_away < 1000; far_away += 7)
        expect_in_stderr(write_far_away, "", " an allocation of 40 bytes");
#endif
    expect_in_stderr(underrun_global, "AddressSanitizer: heap-buffer-overflow",
                     "a thread wrote outside of an allocation of 40 bytes at byte -1");
    expect_in_stderr(overrun_shared, "AddressSanitizer: heap-buffer-overflow",
                     "a thread wrote outside of the shared variable values (100 bytes) at byte 100");
}

#if !defined(EMULATED_ASAN) /* it says so itself, but cmocka takes its handler of signals away */
static __global__ void recurse(int *out, int depth)
{
    volatile char local[1000];

    local[depth % 1000] = 1;
    if (depth > 0)
        recurse(out, depth - 1);
    *out = local[depth % 1000];
}

static __global__ void null_write(int *pointer)
{
    if (threadIdx.x == 5)
        *(volatile int *)pointer = 1;
}

static __global__ void read_at(const int *pointer, ptrdiff_t index, int *out)
{
    *out = ((const volatile int *)pointer)[index];
}

static __global__ void copy_to_null(int *pointer, size_t bytes, const int *from)
{
    memcpy(pointer, from, bytes);
}

static void overflow_stack()
{
    recurse<<<1, 8>>>(small_allocation(), 1000000);
}

static void write_to_null()
{
    null_write<<<1, 8>>>(NULL);
}

static void read_far_behind()
{
    int *const memory = small_allocation();

    read_at<<<1, 8>>>(memory, 100000, memory);
}

static void read_far_before()
{
    int *const memory = small_allocation();

    read_at<<<3000, 64>>>(memory, -100000, memory); /* on several threads of the host */
}

static void go_on_after_a_wild_write()
{
    write_to_null();
    if (cudaDeviceReset() == cudaSuccess) {
        write_at<<<1, 8>>>(small_allocation(), 3);
        fprintf(stderr, "%s, then ", cudaGetErrorString(cudaDeviceSynchronize()));
    }
    read_far_behind();
}

static void call_the_c_library()
{
    int *const memory = small_allocation();

    copy_to_null<<<1, 8>>>(NULL, 40, memory);
}

static void test_wild_accesses_end_the_kernel(void **)
{
    expect_in_stderr(write_to_null, "",
                     ", block (0,0,0), thread (5,0,0): writes at address (nil), through a pointer that is NULL");
    expect_in_stderr(read_far_behind, "", "kernel read_at (" HERE);
    expect_in_stderr(read_far_behind, "", "reads 399960 bytes behind an allocation of 40 bytes, in " HERE);
    expect_in_stderr(read_far_before, "", "reads 400000 bytes before an allocation of 40 bytes, in " HERE);
    expect_in_stderr(overflow_stack, "", ": has no room left on its stack");
    expect_in_stderr(go_on_after_a_wild_write, "",
                     "no error, then an illegal memory access was encountered: kernel read_at");
    /* There the process ends: the library may hold locks. */
    expect_in_stderr(call_the_c_library, "", "in kernel copy_to_null (" HERE);
}
#endif

/* ------------------------------------------------------------------------------------------------------ the host */

static void test_kernels_run_after_a_fork(void **)
{
    int status = 0;
    pid_t child;

    assert_int_equal(wrong_rotations(true), 0);
    child = fork();
    if (child == 0)
        _exit(wrong_rotations(true));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void test_host_pointers_are_refused(void **)
{
    int on_host = 0;
    mirrored<int, 4> out;

    write_at<<<1, 8>>>(&on_host, 0);
    expect_message(message_of(cudaErrorInvalidValue),
                   "invalid argument: kernel write_at (" HERE ":%d): argument 1 points to host memory, "
                   "which a kernel cannot use",
                   __LINE__ - 4);
    assert_int_equal(on_host, 0);
}

struct view {
    int *data;
};

struct numbers {
    int data[3];
};

static __global__ void copy_third(struct view to, struct numbers from)
{
    to.data[threadIdx.x] = from.data[2];
}

static void test_structs_as_arguments(void **)
{
    mirrored<int, 4> out;
    struct view on_device = {out.device}, on_host = {out.host};
    const struct numbers numbers = {{5, 6, 7}};

    copy_third<<<1, 4>>>(on_device, numbers);
    out.download();
    assert_int_equal(out.host[3], 7);
    copy_third<<<1, 4>>>(on_host, numbers);
    assert_non_null(strstr(message_of(cudaErrorInvalidValue), "argument 1 points to host memory"));
}

static int evaluations;

static int evaluate(int value)
{
    evaluations++;
    return value;
}

static void test_arguments_are_evaluated_once(void **)
{
    mirrored<int, 8> out;

    write_at<<<evaluate(2), evaluate(8)>>>(out.device, evaluate(3));
    out.download();
    assert_int_equal(evaluations, 3);
    assert_int_equal(out.host[3], 1);
}

static __global__ void add_after_last(int *out, int value)
{
    cudaTriggerProgrammaticLaunchCompletion();
    cudaGridDependencySynchronize();
    out[threadIdx.x] += value;
}

static void test_launches_with_attributes(void **)
{
    mirrored<int, 8> out;
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {dim3(1), dim3(8), 0, NULL, &early, 1},
                       broken = {dim3(1), dim3(2048), 0, NULL, NULL, 0};

    write_at<<<1, 8>>>(out.device, 3);
    assert_int_equal(cudaLaunchKernelEx(&config, add_after_last, out.device, 5), cudaSuccess);
    out.download();
    assert_int_equal(out.host[0], 5);
    assert_int_equal(out.host[3], 6);
    assert_int_not_equal(cudaLaunchKernelEx(&broken, add_after_last, out.device, 5), cudaSuccess);
    assert_int_not_equal(cudaGetLastError(), cudaSuccess);
}

/* ----------------------------------------------------------------------------------------- some threads do nothing */

enum { MANY = 256 };

static __global__ void meet(int *out, int *met)
{
    out[threadIdx.x] = 1;
    met[threadIdx.x] = __syncthreads_count(1);
    __shfl_xor_sync(0xffffffffu, 1, 16);
}

static void test_threads_that_are_left_out(void **)
{
    mirrored<int, MANY> out, met;
    int ran = 0;

    emulator_configure(0, false, EMULATOR_LACKS_THREADS);
    meet<<<1, MANY>>>(out.device, met.device);
    out.download();
    met.download();
    for (int i = 0; i < MANY; i++)
        ran += out.host[i];
    assert_in_range(ran, MANY / 2, MANY - 1);
    for (int i = 0; i < MANY; i++)
        assert_int_equal(met.host[i], out.host[i] ? ran : 0);
    for (int i = 0; i < 40; i++) /* now and then the only thread of a block */
        meet<<<1, 1>>>(out.device, met.device);
    emulator_configure(0, false, EMULATOR_LACKS_NOTHING);
    meet<<<1, MANY>>>(out.device, met.device);
    met.download();
    assert_int_equal(met.host[MANY - 1], MANY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orders_follow_the_seed),
        cmocka_unit_test(test_each_order_is_as_likely),
        cmocka_unit_test(test_every_block_runs_once),
        cmocka_unit_test(test_missing_barrier_shows),
        cmocka_unit_test(test_divergence_is_explained),
        cmocka_unit_test(test_faults_last),
        cmocka_unit_test(test_illegal_shapes_are_refused),
        cmocka_unit_test(test_dynamic_shared_memory_limit),
        cmocka_unit_test(test_kernel_names),
        cmocka_unit_test(test_wild_writes_are_caught),
        cmocka_unit_test(test_kernels_run_after_a_fork),
        cmocka_unit_test(test_host_pointers_are_refused),
        cmocka_unit_test(test_arguments_are_evaluated_once),
        cmocka_unit_test(test_structs_as_arguments),
        cmocka_unit_test(test_launches_with_attributes),
        cmocka_unit_test(test_threads_that_are_left_out),
#if !defined(EMULATED_ASAN)
        cmocka_unit_test(test_wild_accesses_end_the_kernel),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
