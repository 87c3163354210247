/* half, bfloat16 and wmma against numbers that are known. */
#include <assert.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <math.h>
#include <mma.h>
#include <stdio.h>

using namespace nvcuda;

/* All 65536 halves there and back; the neighbours of ties. */
static void check_conversions()
{
    for (unsigned bits = 0; bits < 65536; bits++) {
        const float value = __half2float(__ushort_as_half((unsigned short)bits));

        if ((bits & 0x7fff) <= 0x7c00)
            assert(__half_as_ushort(__float2half(value)) == bits);
        else
            assert(isnan(value) && __hisnan(__float2half(value)));
    }
    assert(__half2float(__float2half(1)) == 1 && __half_as_ushort(__float2half(1)) == 0x3c00);
    assert(__half_as_ushort(__float2half(1 + 0x1p-11f)) == 0x3c00);            /* a tie, to even */
    assert(__half_as_ushort(__float2half(1 + 3 * 0x1p-11f)) == 0x3c02);        /* a tie, to even */
    assert(__half_as_ushort(__float2half(1 + 0x1p-11f + 0x1p-20f)) == 0x3c01); /* above it */
    assert(__half_as_ushort(__float2half(65519)) == 0x7bff);
    assert(__half_as_ushort(__float2half(65520)) == 0x7c00);
    assert(__half_as_ushort(__float2half(-0x1p-25f)) == 0x8000);
    assert(__half_as_ushort(__float2half(0x1.8p-25f)) == 1);
    assert(__bfloat16_as_ushort(__float2bfloat16(1 + 0x1p-8f)) == 0x3f80);
    assert(__bfloat16_as_ushort(__float2bfloat16(1 + 3 * 0x1p-8f)) == 0x3f82);
    assert(__bfloat162float(__float2bfloat16(-3.5f)) == -3.5f);
}

__global__ void arithmetic(float *out)
{
    const half2 a = __floats2half2_rn(1.5f, 2), b = __half2half2(__float2half(4));
    const half2 sum = __hfma2(a, b, __hneg2(b));

    out[0] = __low2float(sum) + 10 * __high2float(sum); /* 2 and 4 */
    out[1] = __hgt(a.y, a.x) && a.x < a.y ? 1 : 0;
    out[2] = __half2float(__shfl_down_sync(0xffffffff, __float2half((float)threadIdx.x), 3));
    out[3] = __half2float(__float2half(2048) + __float2half(1)); /* 2049 is no half */
}

__global__ void multiply(const half *a, const half *b, float *c)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;

    wmma::fill_fragment(sum, 1.0f);
    wmma::load_matrix_sync(left, a, 16);
    wmma::load_matrix_sync(right, b, 16);
    wmma::mma_sync(sum, left, right, sum);
    for (int i = 0; i < sum.num_elements; i++)
        sum.x[i] *= 2;
    wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}

int main()
{
    float *out, *c;
    half *a, *b;

    check_conversions();
    cudaMallocManaged(&out, 4 * sizeof(float));
    arithmetic<<<1, 1>>>(out);
    assert(cudaDeviceSynchronize() == cudaSuccess);
    assert(out[0] == 42 && out[1] == 1 && out[3] == 2048);
    cudaMallocManaged(&a, 256 * sizeof(half));
    cudaMallocManaged(&b, 256 * sizeof(half));
    cudaMallocManaged(&c, 256 * sizeof(float));
    for (int i = 0; i < 256; i++) {
        a[i] = __float2half((float)(i % 7 - 3));
        b[i] = __float2half((float)(i % 5 - 2));
    }
    multiply<<<1, 32>>>(a, b, c);
    assert(cudaDeviceSynchronize() == cudaSuccess);
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++) {
            float sum = 1;

            for (int k = 0; k < 16; k++)
                sum += (float)((16 * i + k) % 7 - 3) * (float)((16 * j + k) % 5 - 2);
            assert(c[16 * i + j] == 2 * sum);
        }
    return 0;
}
