/*
 * Idea:     a warp loads 1536 bytes of a row side by side, three times 512, and hands them out through shared memory,
 *           48 to each lane; two rows at a time. Shared memory saves no load here, it puts bytes into other lanes.
 * Changed:  the kernel. v1.2 loads 16 bytes every 48, so each load of a warp touches all 12 lines that hold its 1536
 *           bytes; here 4. A pixel is two dp2a in place of 3 extractions and 3 products; loads stream (evicted first).
 * Expect:   kernel 10 % below v1.3 where memory is the limit (9 us for 33 MB at 3840x2160), for it holds more loads in
 *           flight with a third of the requests; more at small sizes, where a warp waits once for two rows.
 * Result:   9.7 us at 3840x2160, 1.05 times v1.2 and 1.01 times v1.3 (results/h200/grayscale/grayscale_3840x2160.json): memory
 *           was the limit before. At 640x480 2.2 us, 1.25 times v1.2 (grayscale_640x480.json beside it).
 * From:     cuda/v1.2
 */
/* Try: make bench-grayscale VERSIONS=cuda/v1.2,cuda/v2.0,peer/npp */
#include "common/algo/grayscale.h"
#include "common/cuda/bytes.cuh"
#include "common/cuda/device.h"

struct state {
};

enum { PIXELS = 16 /* of a lane; its warp has 512 of a row, 1536 bytes */ };
enum { WARPS = 4 /* of a block */, ROWS = 2 /* of a warp, so that a lane has 6 loads in flight */ };

/* 4 pixels: words R0 G0 B0 R1, G1 B1 R2 G2, B2 R3 G3 B3. With twice the weights byte 2 of a sum is its gray. */
static __device__ unsigned gray_word(unsigned first, unsigned second, unsigned third)
{
    constexpr unsigned R = 2 * GRAYSCALE_RED, G = 2 * GRAYSCALE_GREEN, B = 2 * GRAYSCALE_BLUE, HALF = 1 << 15;

    return pack_byte2(__dp2a_hi(B, first, __dp2a_lo(R | G << 16, first, HALF)),
                      __dp2a_lo(G | B << 16, second, __dp2a_hi(R << 16, first, HALF)),
                      __dp2a_lo(B, third, __dp2a_hi(R | G << 16, second, HALF)),
                      __dp2a_hi(G | B << 16, third, __dp2a_lo(R << 16, third, HALF)));
}

static __global__ void __launch_bounds__(32 * WARPS) grayscale_kernel(struct image in, struct image out)
{
    __shared__ uint4 swap[WARPS][ROWS][3 * 32];
    int lane = threadIdx.x, warp = threadIdx.y;
    int segment = blockIdx.x * 32 * PIXELS, x = segment + lane * PIXELS;
    int y = (blockIdx.y * WARPS + warp) * ROWS;
    uint4 from[ROWS][3];

#pragma unroll
    for (int j = 0; j < ROWS; j++)
#pragma unroll
        for (int k = 0; k < 3; k++) { /* what begins inside the row may be read whole (image.h) */
            int offset = 3 * segment + 16 * (32 * k + lane);
            if (y + j < in.height && offset < 3 * in.width)
                from[j][k] = __ldcs((const uint4 *)((const uint8_t *)image_row(&in, y + j) + offset));
        }
#pragma unroll
    for (int j = 0; j < ROWS; j++)
#pragma unroll
        for (int k = 0; k < 3; k++)
            swap[warp][j][32 * k + lane] = from[j][k];
    __syncwarp();
    if (x >= out.width)
        return;
#pragma unroll
    for (int j = 0; j < ROWS; j++) {
        if (y + j >= out.height)
            return;
        uint8_t *gray = (uint8_t *)image_row(&out, y + j) + x;
        const uint4 a = swap[warp][j][3 * lane], b = swap[warp][j][3 * lane + 1], c = swap[warp][j][3 * lane + 2];
        unsigned words[4] = {gray_word(a.x, a.y, a.z), gray_word(a.w, b.x, b.y), gray_word(b.z, b.w, c.x),
                             gray_word(c.y, c.z, c.w)};
        if (x + PIXELS <= out.width)
            *(uint4 *)gray = make_uint4(words[0], words[1], words[2], words[3]);
        else
#pragma unroll
            for (int i = 0; i < PIXELS; i++)
                if (x + i < out.width)
                    gray[i] = (uint8_t)(words[i / 4] >> 8 * (i % 4));
    }
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct grayscale_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    dim3 block(32, WARPS);
    dim3 grid(ceiling_divide(out->width, 32 * PIXELS), ceiling_divide(out->height, WARPS * ROWS));

    (void)state, (void)params;
    grayscale_kernel<<<grid, block, 0, stream>>>(*in, *out);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

RUNGS_CUDA_VERSION(grayscale)
