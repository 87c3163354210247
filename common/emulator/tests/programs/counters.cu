/*
 * What the emulator counts (common/emulator/counters.h), of kernels whose counts can be worked out by hand. Before each
 * kernel stands what test_cu.sh wants of it:
 *   counts: kernel what requests threads bytes units least meet      (the columns of the CSV)
 *   parts: kernel branches parted
 * A block is 128 threads, four warps, and the grid one block, unless main() says something else.
 */
#include <stdio.h>

enum { T = 128, N = 1 << 16 };

struct three {
    float x, y, z;
};
struct bytes {
    unsigned char r, g, b;
};

__constant__ float weights[64];
__device__ float of_device[T];

/* A warp's 32 floats lie in 128 bytes: four sectors.
 * counts: adjacent global_load 4 128 512 16 0 0
 * counts: adjacent global_store 4 128 512 16 0 0 */
__global__ void adjacent(float *out, const float *in)
{
    out[threadIdx.x] = in[threadIdx.x];
}

/* counts: stride_2 global_load 4 128 512 32 0 0 */
__global__ void stride_2(float *out, const float *in)
{
    out[threadIdx.x] = in[2 * threadIdx.x];
}

/* counts: stride_32 global_load 4 128 512 128 0 0 */
__global__ void stride_32(float *out, const float *in)
{
    out[threadIdx.x] = in[32 * threadIdx.x];
}

/* counts: misaligned global_load 4 128 512 20 0 0 */
__global__ void misaligned(float *out, const float *in)
{
    out[threadIdx.x] = in[threadIdx.x + 1];
}

/* One load of 16 bytes for each thread, though its parts are used one by one.
 * counts: vectors global_load 4 128 2048 64 0 0 */
__global__ void vectors(float *out, const float4 *in)
{
    float4 v = in[threadIdx.x];

    out[threadIdx.x] = v.x + v.y * v.z - v.w;
}

/* counts: bytes_1 global_load 4 128 128 4 0 0
 * counts: bytes_1 global_store 4 128 128 4 0 0 */
__global__ void bytes_1(unsigned char *out, const unsigned char *in)
{
    out[threadIdx.x] = in[threadIdx.x];
}

/* Three loads and three stores of a byte; the 96 bytes of a warp are three sectors, for each.
 * counts: bytes_3 global_load 12 384 384 36 0 0
 * counts: bytes_3 global_store 12 384 384 36 0 0 */
__global__ void bytes_3(struct bytes *out, const struct bytes *in)
{
    out[threadIdx.x] = in[threadIdx.x];
}

/* Three loads of four bytes, twelve apart: each touches all twelve sectors of 384 bytes.
 * counts: floats_3 global_load 12 384 1536 144 0 0 */
__global__ void floats_3(float *out, const struct three *in)
{
    struct three v = in[threadIdx.x];

    out[threadIdx.x] = v.x + v.y + v.z;
}

/* counts: device_variable global_load 4 128 512 16 0 0
 * counts: device_variable constant_load 4 128 512 128 0 0 */
__global__ void device_variable(float *out)
{
    out[threadIdx.x] = of_device[threadIdx.x] + weights[threadIdx.x % 32];
}

/* Down a column of 32 rows of 32 floats: all lanes in one bank.
 * counts: column shared_load 4 128 512 128 4 0
 * counts: column shared_store 4 128 512 4 4 0 */
__global__ void column(float *out)
{
    __shared__ float tile[32][32];

    tile[threadIdx.x / 32][threadIdx.x % 32] = 1;
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x % 32][threadIdx.x / 32];
}

/* counts: padded shared_load 4 128 512 4 4 0 */
__global__ void padded(float *out)
{
    __shared__ float tile[32][33];

    tile[threadIdx.x / 32][threadIdx.x % 32] = 1;
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x % 32][threadIdx.x / 32];
}

/* Stride two: two lanes in each second bank.
 * counts: two_ways shared_store 4 128 512 8 4 0
 * counts: two_ways shared_load 4 128 512 4 4 0 */
__global__ void two_ways(float *out)
{
    extern __shared__ float s[];

    s[2 * threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = s[0];
}

/* Eight bytes are served in halves of a warp, sixteen in quarters; 16 bytes apart the lanes of a half meet twice.
 * counts: wide shared_store 12 384 4096 40 32 0
 * counts: wide shared_load 12 384 2560 12 12 0 */
__global__ void wide(double *out)
{
    __shared__ double a[T], b[2 * T];
    __shared__ float4 c[T];

    a[threadIdx.x] = 1;
    b[2 * threadIdx.x] = 1;
    c[threadIdx.x] = make_float4(1, 2, 3, 4);
    __syncthreads();
    out[threadIdx.x] = a[7] + b[0] + c[0].x;
}

/* counts: one_address global_atomic 4 128 512 4 0 128
 * counts: one_address shared_atomic 4 128 512 4 4 128 */
__global__ void one_address(int *sum)
{
    __shared__ int s;

    s = 0;
    __syncthreads();
    atomicAdd(&s, 1);
    atomicMax(sum, 3);
}

/* counts: own_address global_atomic 4 128 512 16 0 4
 * counts: own_address shared_atomic 4 128 512 4 4 4 */
__global__ void own_address(float *sums)
{
    __shared__ float s[T];

    s[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&s[threadIdx.x], 1.0f);
    atomicAdd(&sums[threadIdx.x], 1.0f);
}

/* Half of the lanes at each of two places, in all four sectors each time.
 * counts: parted global_load 8 128 512 32 0 0
 * parts: parted 4 4 */
__global__ void parted(float *out, const float *in)
{
    float x;

    if (threadIdx.x % 2 != 0)
        x = in[threadIdx.x];
    else
        x = 2 * in[threadIdx.x + T];
    out[threadIdx.x] = x;
}

/* Whole warps go one way.
 * counts: together global_load 4 128 512 16 0 0
 * parts: together 4 0 */
__global__ void together(float *out, const float *in)
{
    float x;

    if (threadIdx.x / 32 % 2 != 0)
        x = in[threadIdx.x];
    else
        x = 2 * in[threadIdx.x + T];
    out[threadIdx.x] = x;
}

/* 33 threads: the second warp has one.
 * counts: tail global_load 2 33 132 5 0 0 */
__global__ void tail(float *out, const float *in)
{
    out[threadIdx.x] = in[threadIdx.x];
}

/* The last 28 threads leave.
 * counts: leaves global_load 4 100 400 13 0 0
 * parts: leaves 4 1 */
__global__ void leaves(float *out, const float *in)
{
    if (threadIdx.x >= 100)
        return;
    out[threadIdx.x] = in[threadIdx.x];
}

/* None to three times: three requests of 24, 16 and 8 lanes. Then all are together again.
 * counts: trips global_load 16 320 1280 64 0 0
 * counts: trips global_store 4 128 512 16 0 0 */
__global__ void trips(float *out, const float *in)
{
    float sum = 0;

    for (unsigned i = 0; i < threadIdx.x % 4; i++)
        sum += in[i * T + threadIdx.x];
    out[threadIdx.x] = sum + in[threadIdx.x];
}

/* Lanes that have left the inner loop wait for the others before its next turn: three requests in each of two turns.
 * counts: nested global_load 24 384 1536 96 0 0 */
__global__ void nested(float *out, const float *in)
{
    float sum = 0;

    for (unsigned turn = 0; turn < 2; turn++)
        for (unsigned i = 0; i < (threadIdx.x + turn) % 4; i++)
            sum += in[i * T + threadIdx.x];
    out[threadIdx.x] = sum;
}

/* One function called from two places: lanes that are in different calls do not meet.
 * counts: called global_load 8 128 512 32 0 0 */
__device__ float value(const float *in, int i)
{
    return in[i];
}
__global__ void called(float *out, const float *in)
{
    float x = 1;

    if (threadIdx.x % 2 != 0)
        x += 3 * value(in, threadIdx.x);
    else
        x = value(in, threadIdx.x + T) + 2;
    out[threadIdx.x] = x;
}

/* What is not put into the kernel: the caller waits for it. Of three rows each fourth number, then of two, then of
 * one: four sectors a row.
 * counts: recursive global_load 12 192 768 96 0 0
 * counts: recursive global_store 4 128 512 16 0 0 */
__device__ __noinline__ float descend(const float *in, int depth)
{
    return depth == 0 ? 0 : in[depth * T + threadIdx.x] + descend(in, depth - 1) * 2;
}
__global__ void recursive(float *out, const float *in)
{
    out[threadIdx.x] = descend(in, threadIdx.x % 4);
}

/* More than is kept of a lane at once, which all take together, and one of them further.
 * counts: long_loop global_load 20100 640100 2560400 20100 0 0 */
__global__ void long_loop(float *out, const float *in)
{
    float sum = 0;

    for (int i = 0; i < 5000 + (threadIdx.x == 77 ? 100 : 0); i++)
        sum += in[i];
    out[threadIdx.x] = sum;
}

/* Barriers, shuffles and votes lie between requests and part nobody.
 * counts: collectives shared_load 40 1280 5120 40 40 0
 * counts: collectives shared_store 4 128 512 4 4 0 */
__global__ void collectives(float *out)
{
    __shared__ float s[T];
    float sum = 0;

    s[threadIdx.x] = (float)threadIdx.x;
    for (int i = 0; i < 10; i++) {
        __syncthreads();
        sum += __shfl_xor_sync(0xffffffff, s[(threadIdx.x + i) % T], 1);
        if (__any_sync(0xffffffff, sum < 0))
            sum = 0;
    }
    out[threadIdx.x] = sum;
}

/* A barrier in a loop: seven turns of four warps and the last question are 60 branches. Lanes part in the first
 * five turns of each warp, then in two warps, in one, and at the end in one.
 * counts: reduce shared_load 47 255 1020 47 47 0
 * counts: reduce shared_store 27 255 1020 27 27 0
 * parts: reduce 60 24 */
__global__ void reduce(float *out, const float *in)
{
    __shared__ float s[T];

    s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (unsigned stride = 1; stride < T; stride *= 2) {
        if (threadIdx.x % (2 * stride) == 0)
            s[threadIdx.x] += s[threadIdx.x + stride];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        *out = s[0];
}

/* Of two blocks and of two launches.
 * counts: twice global_load 16 512 2048 64 0 0 */
__global__ void twice(float *out, const float *in)
{
    out[threadIdx.x] = in[blockIdx.x * T + threadIdx.x];
}

int main()
{
    float *in, *out;

    cudaMalloc(&in, N * sizeof(float));
    cudaMalloc(&out, N * sizeof(float));
    cudaMemset(in, 0, N * sizeof(float));
    adjacent<<<1, T>>>(out, in);
    stride_2<<<1, T>>>(out, in);
    stride_32<<<1, T>>>(out, in);
    misaligned<<<1, T>>>(out, in);
    vectors<<<1, T>>>(out, (const float4 *)in);
    bytes_1<<<1, T>>>((unsigned char *)out, (const unsigned char *)in);
    bytes_3<<<1, T>>>((struct bytes *)out, (const struct bytes *)in);
    floats_3<<<1, T>>>(out, (const struct three *)in);
    device_variable<<<1, T>>>(out);
    column<<<1, T>>>(out);
    padded<<<1, T>>>(out);
    two_ways<<<1, T, 2 * T * sizeof(float)>>>(out);
    wide<<<1, T>>>((double *)out);
    cudaMemset(out, 0, N * sizeof(float));
    one_address<<<1, T>>>((int *)out);
    own_address<<<1, T>>>(out);
    parted<<<1, T>>>(out, in);
    together<<<1, T>>>(out, in);
    tail<<<1, 33>>>(out, in);
    leaves<<<1, T>>>(out, in);
    trips<<<1, T>>>(out, in);
    nested<<<1, T>>>(out, in);
    called<<<1, T>>>(out, in);
    recursive<<<1, T>>>(out, in);
    long_loop<<<1, T>>>(out, in);
    collectives<<<1, T>>>(out);
    reduce<<<1, T>>>(out, in);
    for (int i = 0; i < 2; i++)
        twice<<<2, T>>>(out, in);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        puts(cudaGetErrorString(cudaGetLastError()));
        return 1;
    }
    return 0;
}
