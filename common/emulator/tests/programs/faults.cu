/* Small kernels with one fault each, and correct ones that look odd (faults.h). */
#include "faults.h"

/* ---------------------------------------------------------------------------------------------- races in one block */

__global__ void shared_without_barrier(int *out)
{
    __shared__ int s[N];

    s[threadIdx.x] = (int)threadIdx.x;         /* no_barrier 1 */
    out[threadIdx.x] = s[N - 1 - threadIdx.x]; /* no_barrier 2 */
}
__global__ void barrier_before_write(int *out)
{
    __shared__ int s[N];

    s[threadIdx.x] = (int)threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = s[(threadIdx.x + 1) % N]; /* write_after_read 1 */
    s[threadIdx.x] = -1;                         /* write_after_read 2 */
}
__global__ void counter_in_shared(int *out)
{
    __shared__ int sum;

    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    sum += 1; /* shared_counter 1 */
    __syncthreads();
    *out = sum;
}
__global__ void sum_of_tree(int *out, bool barrier)
{
    __shared__ int s[N];

    s[threadIdx.x] = (int)threadIdx.x;
    __syncthreads();
    for (int step = N / 2; step > 0; step /= 2) {
        if ((int)threadIdx.x < step)
            s[threadIdx.x] += s[threadIdx.x + step]; /* tree 1 */
        if (barrier)
            __syncthreads();
    }
    if (threadIdx.x == 0)
        *out = s[0];
}
__global__ void warp_without_syncwarp(int *out)
{
    __shared__ volatile int s[32];

    s[threadIdx.x] = (int)threadIdx.x;      /* no_syncwarp 1 */
    out[threadIdx.x] = s[31 - threadIdx.x]; /* no_syncwarp 2 */
}
__global__ void half_a_warp_met(int *out)
{
    __shared__ int s[32];

    s[threadIdx.x] = (int)threadIdx.x; /* half_warp 1 */
    __syncwarp(threadIdx.x < 16 ? 0xffff : 0xffff0000);
    out[threadIdx.x] = s[31 - threadIdx.x]; /* half_warp 2 */
}
__global__ void shuffle_is_no_barrier(int *out)
{
    __shared__ int s[32];

    s[threadIdx.x] = (int)threadIdx.x; /* shuffle_orders 1 */
    const int lane = __shfl_xor_sync(0xffffffff, (int)threadIdx.x, 1);
    out[threadIdx.x] = s[lane]; /* shuffle_orders 2 */
}
__global__ void neighbours_in_place(int *x)
{
    const int left = x[(threadIdx.x + N - 1) % N]; /* in_place 1 */

    x[threadIdx.x] = left + 1 + (int)threadIdx.x; /* in_place 2 */
}
__global__ void plain_flag(int *out)
{
    __shared__ int number, ready;

    if (threadIdx.x == 0)
        ready = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        number = 7; /* no_fence_block 1 */
        atomicExch(&ready, 1);
    } else if (threadIdx.x == 32) {
        while (atomicAdd(&ready, 0) == 0)
            continue;
        *out = number; /* no_fence_block 2 */
    }
}
__global__ void lock_given_back_early(int *out)
{
    __shared__ int lock, sum;

    if (threadIdx.x == 0)
        lock = sum = 0;
    __syncthreads();
    for (bool done = false; !done;)
        if (atomicCAS(&lock, 0, 1) == 0) {
            __threadfence_block();
            atomicExch(&lock, 0);
            sum += 1; /* early_unlock 1 */
            done = true;
        }
    __syncthreads();
    *out = sum;
}
__global__ void bytes_of_a_word(unsigned *x)
{
    unsigned char *const bytes = (unsigned char *)x;

    if (threadIdx.x < 4)
        bytes[threadIdx.x] = (unsigned char)(threadIdx.x + 1); /* word_and_byte 1 */
    else if (threadIdx.x == 40)
        x[1] = x[0]; /* word_and_byte 2 */
}

/* ------------------------------------------------------------------------------------------- races between blocks */

__global__ void lost_update(int *sum)
{
    if (threadIdx.x == 0)
        *sum += 1; /* lost_update 1 */
}
__global__ void halo_in_place(int *x)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    const int next = x[(i + 1) % N]; /* halo 1 */

    __syncthreads();
    x[i] = next + i + 1; /* halo 2 */
}
template <int fence> __global__ void last_adds(int *out, int *parts, unsigned *count)
{
    if (threadIdx.x != 0)
        return;
    parts[blockIdx.x] = (int)blockIdx.x + 1; /* no_fence 1 block_fence 1 */
    if (fence == 1)
        __threadfence_block();
    if (fence == 2)
        __threadfence();
    if (atomicInc(count, gridDim.x) != gridDim.x - 1)
        return;
    for (unsigned i = 0; i < gridDim.x; i++)
        *out += parts[i]; /* no_fence 2 block_fence 2 */
}
__global__ void atomic_and_plain(int *sum)
{
    if (blockIdx.x == 0)
        atomicAdd(sum, 1); /* plain_and_atomic 1 */
    else if (threadIdx.x == 0)
        *sum = 5; /* plain_and_atomic 2 */
}
__global__ void same_room(int *room, int *out)
{
    room[threadIdx.x] = (int)(blockIdx.x + threadIdx.x); /* shared_room 1 */
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = room[31 - threadIdx.x];
}
__global__ void reset_by_one_block(int *sum)
{
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *sum = 9; /* reset 1 */
    __syncthreads();
    atomicAdd(sum, 1); /* reset 2 */
}
__device__ int result;
__global__ void device_variable()
{
    if (threadIdx.x == 0)
        result += 1; /* device_variable 1 */
}

/* --------------------------------------------------------------------------------------------------------- memory */

__global__ void read_of_nothing(int *out, const int *fresh)
{
    out[threadIdx.x] = fresh[threadIdx.x]; /* fresh_global 1 */
}
__global__ void shared_of_nothing(int *out)
{
    __shared__ int s[N];

    if (threadIdx.x < N - 1)
        s[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x]; /* fresh_shared 1 */
}
__global__ void sum_of_nothing(int *out)
{
    __shared__ int sum;

    atomicAdd(&sum, 1); /* fresh_sum 1 */
    __syncthreads();
    *out = sum;
}
__global__ void write_past(int *x, int n)
{
    if ((int)threadIdx.x <= n)
        x[threadIdx.x] = 1; /* write_past 1 */
}
__global__ void read_past(int *out, const int *x)
{
    out[threadIdx.x] = x[threadIdx.x + 1]; /* read_past 1 */
}
__global__ void read_before(int *out, const int *x)
{
    out[threadIdx.x] = x[(int)threadIdx.x - 1]; /* read_before 1 */
}
__global__ void shared_past(int *out)
{
    __shared__ int s[N - 1];

    s[threadIdx.x] = 1; /* shared_past 1 */
    out[threadIdx.x] = 0;
}
__global__ void dynamic_past(int *out)
{
    extern __shared__ int room[];

    room[0] = 1;
    __syncthreads();
    out[threadIdx.x] = threadIdx.x == 0 ? room[N] : room[0]; /* dynamic_past 1 */
}
__global__ void vector_askew(int *out, const int *x)
{
    ((int4 *)out)[threadIdx.x] = ((const int4 *)(x + 1))[threadIdx.x]; /* misaligned 1 */
}
__global__ void pair_askew(int *x)
{
    __shared__ int s[N];

    s[threadIdx.x] = 1;
    __syncthreads();
    *(long long *)(s + 1) = 5; /* misaligned_shared 1 */
    x[0] = s[1];
}
__global__ void use(int *x)
{
    x[threadIdx.x] = 1; /* null 1 */
}

/* ------------------------------------------------------------------------------------------------ meeting and masks */

__global__ void barrier_for_some(int *out)
{
    if (threadIdx.x < 40)
        __syncthreads(); /* divergent 1 */
    out[threadIdx.x] = 1;
}
__global__ void two_barriers(int *out)
{
    if (threadIdx.x % 2 == 0)
        __syncthreads(); /* two_barriers 1 */
    else
        __syncthreads(); /* two_barriers 2 */
    out[threadIdx.x] = 1;
}
__global__ void mask_without_self(int *out)
{
    out[threadIdx.x] = __shfl_sync(0x0000ffff, (int)threadIdx.x, 0); /* wrong_mask 1 */
}
__global__ void mask_of_all_in_a_branch(int *out)
{
    if (threadIdx.x % 2 == 0)
        out[threadIdx.x] = __any_sync(0xffffffff, 1); /* mask_of_all 1 */
    else
        __syncwarp(); /* mask_of_all 2 */
}

/* ------------------------------------------------------------------------------------------ correct, though unusual */

__global__ void spin_lock(int *out)
{
    __shared__ int lock, sum;

    if (threadIdx.x == 0)
        lock = sum = 0;
    __syncthreads();
    for (bool done = false; !done;)
        if (atomicCAS(&lock, 0, 1) == 0) {
            __threadfence_block();
            sum += 1;
            __threadfence_block();
            atomicExch(&lock, 0);
            done = true;
        }
    __syncthreads();
    if (threadIdx.x == 0)
        *out = sum == N ? 0 : 1;
}
__global__ void flag_of_warp(int *out)
{
    __shared__ int number, ready;

    if (threadIdx.x == 0)
        ready = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        number = 7;
        __threadfence_block();
        atomicExch(&ready, 1);
    } else if (threadIdx.x == 32) {
        while (atomicAdd(&ready, 0) == 0)
            continue;
        __threadfence_block();
        *out = number == 7 ? 0 : 1;
    }
}
/* The last block reads what all have added with atomics. */
__global__ void sums_by_ticket(int *out, int *sums, unsigned *count)
{
    __shared__ bool last;

    atomicAdd(&sums[threadIdx.x % 8], 1);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    if (last && threadIdx.x < 8 && sums[threadIdx.x] != (int)(gridDim.x * blockDim.x / 8))
        *out = 1;
    if (last && threadIdx.x < 8)
        sums[threadIdx.x] = 0;
}
/* The same with a ticket for each warp, and no barrier. */
__global__ void sums_by_warps(int *out, int *sum, unsigned *count)
{
    const unsigned warps = gridDim.x * blockDim.x / 32;

    if (threadIdx.x % 32 != 0)
        return;
    atomicAdd(sum, 3);
    __threadfence();
    if (atomicAdd(count, 1) == warps - 1) {
        __threadfence();
        if (*sum != 3 * (int)warps)
            *out = 1;
    }
}
__global__ void all_write_the_same(int *out, int *changed)
{
    *changed = 1;
    __syncthreads();
    if (*changed != 1)
        *out = 1;
}
__global__ void volatile_counter(int *out, volatile int *seen)
{
    if (threadIdx.x == 0)
        seen[0] = 1; /* a relaxed store, of all blocks */
    if (seen[0] > 1)
        *out = 1;
}
/* Each block waits for the sum of those before it. Tickets, so that a block that waits is behind one that runs. */
__global__ void look_back(int *out, int *sums, int *flags, unsigned *count)
{
    __shared__ unsigned number;

    if (threadIdx.x == 0) {
        int before = 0;

        number = atomicAdd(count, 1);
        if (number > 0) {
            while (atomicAdd(&flags[number - 1], 0) == 0)
                continue;
            __threadfence();
            before = sums[number - 1];
        }
        sums[number] = before + (int)number;
        __threadfence();
        atomicExch(&flags[number], 1);
        if (before + (int)number != (int)(number * (number + 1) / 2))
            *out = 1;
    }
}
__global__ void tree_of_warp(int *out)
{
    __shared__ int s[32];

    s[threadIdx.x] = 1;
    __syncwarp();
    for (int step = 16; step > 0; step /= 2) {
        const int sum = s[threadIdx.x] + s[(threadIdx.x + step) % 32];

        __syncwarp();
        s[threadIdx.x] = sum;
        __syncwarp();
    }
    if (threadIdx.x == 0)
        *out = s[0] == 32 ? 0 : 1;
}
__global__ void double_buffer(int *out)
{
    __shared__ int s[2][N];

    s[0][threadIdx.x] = 0;
    for (int turn = 0; turn < 4; turn++) {
        __syncthreads(); /* one barrier for each turn is enough */
        s[1 - turn % 2][threadIdx.x] = s[turn % 2][(threadIdx.x + 1) % N] + 1;
    }
    __syncthreads();
    if (s[0][threadIdx.x] != 4)
        *out = 1;
}
__global__ void early_ends(int *out, int n)
{
    if ((int)threadIdx.x >= n)
        return;
    const unsigned mask = __ballot_sync(n == 20 ? 0xfffffu : 0xffffffffu, 1);

    if (__popc(mask) != n)
        *out = 1;
}
__global__ void bytes_apart(int *out, unsigned char *bytes)
{
    bytes[threadIdx.x] = (unsigned char)threadIdx.x; /* of one word, by four threads */
    __syncthreads();
    if (threadIdx.x < 2 && ((unsigned *)bytes)[threadIdx.x] != 0x03020100u + 0x04040404u * threadIdx.x)
        *out = 1;
}
__global__ void claim(int *out, int *owner, int *list, unsigned *count)
{
    if (atomicCAS(owner, 0, (int)threadIdx.x + 1) == 0)
        atomicExch(&out[1], 0);
    list[atomicAdd(count, 1)] = (int)threadIdx.x; /* a place of its own for each */
}
__global__ void handed_round(int *out)
{
    __shared__ int turn, sum;

    if (threadIdx.x == 0)
        turn = sum = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        while (atomicAdd(&turn, 0) != (int)(threadIdx.x / 32))
            continue;
        __threadfence_block();
        sum = 2 * sum + 1;
        __threadfence_block();
        atomicAdd(&turn, 1);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        *out = sum == 3 ? 0 : 1;
}
__global__ void barriers_in_a_uniform_branch(int *out, int n)
{
    __shared__ int s[N];

    for (int i = 0; i < n; i++) {
        if (blockIdx.x % 2 == 0) {
            s[threadIdx.x] = i;
            __syncthreads();
            if (s[N - 1 - threadIdx.x] != i)
                *out = 1;
        }
        __syncthreads();
    }
}
__global__ void shared_reused(int *out)
{
    __shared__ int room[N];

    room[threadIdx.x] = (int)blockIdx.x; /* another block's room */
    __syncthreads();
    if (room[(threadIdx.x + 7) % N] != (int)blockIdx.x)
        *out = 1;
}

/* ------------------------------------------------------------------------------------------------------- the table */

static void host_reads()
{
    out[1] = ints[0]; /* host_reads 1 */
}
static void host_writes()
{
    ints[3] = 1; /* host_writes 1 */
}
static void free_twice()
{
    int *x;

    cudaMalloc(&x, 64); /* free_twice 1 */
    cudaFree(x);        /* free_twice 2 */
    cudaFree(x);        /* free_twice 2 */
}
static void use_freed()
{
    int *x;

    cudaMalloc(&x, N * sizeof(int)); /* use_after_free 1 */
    cudaFree(x);                     /* use_after_free 2 */
    use<<<1, N>>>(x);                /* use_after_free 2 */
}
static void never_free()
{
    void *x;

    for (int i = 0; i < 3; i++)
        cudaMalloc(&x, 100 * (size_t)(i + 1)); /* leak 1 */
    cudaMallocHost(&x, 64);
    cudaFreeHost(x);
}
static void reset_without_free()
{
    int *x, *y;

    cudaMallocManaged(&x, 40);        /* leak_at_reset 1 */
    cudaHostAlloc((void **)&y, 8, 0); /* leak_at_reset 2 */
    cudaDeviceReset();
    ints = out = nullptr, count = nullptr;
}
/* Freed after main() and all that it has registered to happen then. */
static struct freed_at_the_end {
    void *it = nullptr;
    ~freed_at_the_end()
    {
        cudaFree(it);
    }
} held;
template <class Launch> static void with_fresh(Launch launch)
{
    int *fresh;

    cudaMalloc(&fresh, N * sizeof(int));
    launch(fresh);
    cudaDeviceSynchronize();
}

static const fault_case CASES[] = {
    {"no_barrier", "race: shared variable s", [] { shared_without_barrier<<<1, N>>>(out); }},
    {"write_after_read", "race: shared variable s", [] { barrier_before_write<<<1, N>>>(out); }},
    {"shared_counter", "race: shared variable sum", [] { counter_in_shared<<<1, N>>>(out); }},
    {"tree", "race: shared variable s", [] { sum_of_tree<<<1, N>>>(out, false); }},
    {"no_syncwarp", "race: shared variable s", [] { warp_without_syncwarp<<<1, 32>>>(out); }},
    {"half_warp", "race: shared variable s", [] { half_a_warp_met<<<1, 32>>>(out); }},
    {"shuffle_orders", "race: shared variable s", [] { shuffle_is_no_barrier<<<1, 32>>>(out); }},
    {"in_place", "race: global memory", [] { neighbours_in_place<<<1, N>>>(ints); }},
    {"no_fence_block", "race: shared variable number", [] { plain_flag<<<1, N>>>(out); }},
    {"early_unlock", "race: shared variable sum", [] { lock_given_back_early<<<1, N>>>(out); }},
    {"word_and_byte", "race: global memory", [] { bytes_of_a_word<<<1, N>>>((unsigned *)ints); }},
    {"lost_update", "race: global memory", [] { lost_update<<<4, 32>>>(ints); }},
    {"halo", "race: global memory", [] { halo_in_place<<<2, 32>>>(ints); }},
    {"no_fence", "race: global memory", [] { last_adds<0><<<4, 32>>>(out, ints, count); }},
    {"block_fence", "race: global memory", [] { last_adds<1><<<4, 32>>>(out, ints, count); }},
    {"plain_and_atomic", "race: global memory", [] { atomic_and_plain<<<2, 32>>>(ints); }},
    {"shared_room", "race: global memory", [] { same_room<<<2, 32>>>(ints, out); }},
    {"reset", "race: global memory", [] { reset_by_one_block<<<2, 32>>>(ints); }},
    {"device_variable", "race: global memory", [] { device_variable<<<4, 32>>>(); }},
    {"fresh_global", "uninitialised", [] { with_fresh([](int *fresh) { read_of_nothing<<<1, N>>>(out, fresh); }); }},
    {"fresh_shared", "uninitialised", [] { shared_of_nothing<<<1, N>>>(out); }},
    {"fresh_sum", "uninitialised", [] { sum_of_nothing<<<1, N>>>(out); }},
    {"write_past", "out-of-bounds: writes", [] { write_past<<<1, 2 * N>>>(ints, N); }},
    {"read_past", "out-of-bounds: reads", [] { read_past<<<1, N>>>(out, ints); }},
    {"read_before", "out-of-bounds: reads", [] { read_before<<<1, N>>>(out, ints); }},
    {"shared_past", "out-of-bounds: writes", [] { shared_past<<<1, N>>>(out); }},
    {"dynamic_past", "out-of-bounds: reads", [] { dynamic_past<<<1, N, N * sizeof(int)>>>(out); }},
    {"misaligned", "misaligned address", [] { vector_askew<<<1, 8>>>(out, ints); }},
    {"misaligned_shared", "misaligned address", [] { pair_askew<<<1, N>>>(out); }},
    {"use_after_free", "freed memory", use_freed},
    {"null", "NULL", [] { use<<<1, N>>>(nullptr); }},
    {"divergent", "barrier divergence", [] { barrier_for_some<<<1, N>>>(out); }},
    {"two_barriers", "barrier divergence", [] { two_barriers<<<1, N>>>(out); }},
    {"wrong_mask", "leaves out the calling lane", [] { mask_without_self<<<1, 32>>>(out); }},
    {"mask_of_all", "barrier divergence", [] { mask_of_all_in_a_branch<<<1, 32>>>(out); }},
    {"host_reads", "the host reads device memory", host_reads},
    {"host_writes", "the host writes device memory", host_writes},
    {"free_twice", "freed twice?", free_twice},
    {"leak", "never freed: 600 bytes of device memory in 3 allocations, made in", never_free},
    {"leak_at_reset", "never freed: 40 bytes of managed memory in 1 allocation, made in", reset_without_free},

    {"spin_lock", "", [] { spin_lock<<<2, N>>>(out); }},
    {"flag_of_warp", "", [] { flag_of_warp<<<2, N>>>(out); }},
    {"fence_of_device", "", [] { last_adds<2><<<4, 32>>>(out + 1, ints, count); }},
    {"sums_by_ticket", "",
     [] {
         for (int turn = 0; turn < 2; turn++)
             sums_by_ticket<<<6, N>>>(out, ints, count);
     }},
    {"sums_by_warps", "", [] { sums_by_warps<<<3, N>>>(out, ints, count); }},
    {"all_write_the_same", "", [] { all_write_the_same<<<4, N>>>(out, ints); }},
    {"volatile_counter", "", [] { volatile_counter<<<4, N>>>(out, ints); }},
    {"look_back", "", [] { look_back<<<8, 32>>>(out, ints, ints + 32, count); }},
    {"tree_with_barriers", "", [] { sum_of_tree<<<2, N>>>(out + 1, true); }},
    {"tree_of_warp", "", [] { tree_of_warp<<<2, 32>>>(out); }},
    {"double_buffer", "", [] { double_buffer<<<2, N>>>(out); }},
    {"early_ends", "",
     [] {
         early_ends<<<2, 32>>>(out, 20);
         early_ends<<<2, 32>>>(out, 32);
     }},
    {"bytes_apart", "", [] { bytes_apart<<<1, N>>>(out, (unsigned char *)ints); }},
    {"claim", "", [] { claim<<<1, N>>>(out, (int *)count + 1, ints, count); }},
    {"handed_round", "", [] { handed_round<<<2, N>>>(out); }},
    {"barriers_in_a_branch", "", [] { barriers_in_a_uniform_branch<<<3, N>>>(out, 3); }},
    {"freed_by_destructor", "", [] { cudaMalloc(&held.it, 80); }},
    {"shared_reused", "", [] { shared_reused<<<5, N>>>(out); }},
};

int main(int argc, char **argv)
{
    return run_case(argc, argv, CASES);
}
