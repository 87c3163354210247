/* What orders the threads of a block, and of two blocks, besides barriers. The argument says which kernel: those with
 * an even number are right, in the others something is missing. */
#include <stdio.h>
#include <stdlib.h>

/* Warp 0 hands 32 numbers to warp 1 by a flag. */
template <bool fence> __global__ void hand_over(int *out)
{
    __shared__ int numbers[32], flag;

    if (threadIdx.x == 0)
        flag = 0;
    __syncthreads();
    if (threadIdx.x < 32) {
        numbers[threadIdx.x] = (int)threadIdx.x;
        __syncwarp();
        if (threadIdx.x == 0) {
            if (fence)
                __threadfence_block();
            atomicExch(&flag, 1);
        }
    } else {
        if (threadIdx.x == 32) {
            while (atomicAdd(&flag, 0) == 0)
                continue;
            __threadfence_block();
        }
        __syncwarp();
        out[threadIdx.x - 32] = numbers[63 - threadIdx.x];
    }
}

/* Each thread adds to one number under a lock; `late`: after it has given the lock back. */
template <bool late> __global__ void add_under_lock(int *out)
{
    __shared__ int lock, sum;

    if (threadIdx.x == 0)
        lock = sum = 0;
    __syncthreads();
    for (bool done = false; !done;)
        if (atomicCAS(&lock, 0, 1) == 0) {
            __threadfence_block();
            if (!late)
                sum += 2;
            __threadfence_block();
            atomicExch(&lock, 0);
            if (late)
                sum += 2;
            done = true;
        }
    __syncthreads();
    if (threadIdx.x == 0)
        *out = sum;
}

/* The block that comes last adds what the others have left. A fence of the block does not reach them. */
template <bool of_device> __global__ void last_block(int *out, int *parts, unsigned *count)
{
    if (threadIdx.x != 0)
        return;
    parts[blockIdx.x] = (int)blockIdx.x;
    if (of_device)
        __threadfence();
    else
        __threadfence_block();
    if (atomicInc(count, gridDim.x) != gridDim.x - 1)
        return;
    for (unsigned i = 0; i < gridDim.x; i++)
        *out += parts[i];
}

int main(int, char **argv)
{
    int *memory;

    cudaMallocManaged(&memory, 256 * sizeof(int));
    for (int i = 0; i < 256; i++)
        memory[i] = 0;
    switch (atoi(argv[1])) {
    case 0:
        hand_over<true><<<2, 64>>>(memory);
        break;
    case 1:
        hand_over<false><<<1, 64>>>(memory);
        break;
    case 2:
        add_under_lock<false><<<1, 64>>>(memory);
        break;
    case 3:
        add_under_lock<true><<<1, 64>>>(memory);
        break;
    case 4:
        last_block<true><<<8, 32>>>(memory, memory + 32, (unsigned *)memory + 64);
        break;
    case 5:
        last_block<false><<<8, 32>>>(memory, memory + 32, (unsigned *)memory + 64);
        break;
    }
    if (const cudaError_t error = cudaDeviceSynchronize(); error != cudaSuccess) {
        printf("%s\n", cudaGetErrorString(error));
        return 1;
    }
    return 0;
}
