#include "cuda/texture/shared/fused.h"

#include <stdlib.h>

#include "common/algo/grayscale.h"
#include "cuda/texture/shared/words.cuh"

enum { MOST = NEAREST_MAX_K / 32 /* centroids of a lane */ };

enum status texture_table_create(struct texture_table *table, const struct model *model)
{
    const struct image centroids = texture_centroids(model);
    const int width = (int)ceiling_divide(centroids.height, 32) * 32;
    const size_t components_bytes = sizeof(uint16_t) * LBP_BINS * (size_t)width,
                 norms_bytes = sizeof(int) * (size_t)width;
    uint16_t *components = (uint16_t *)calloc(1, components_bytes);
    int *norms = (int *)malloc(norms_bytes);
    enum status status = STATUS_OK;

    if (table->norms)
        goto out;
    if (!components || !norms) {
        status = status_set(STATUS_NO_MEMORY, "no memory for %d centroids", centroids.height);
        goto out;
    }
    for (int j = 0; j < width; j++) {
        norms[j] = j < centroids.height ? 0 : INT32_MAX;
        for (int bin = 0; bin < LBP_BINS && j < centroids.height; bin++) {
            const int c = nearest_fixed(nearest_centroid(&centroids, j)[bin]);
            components[bin * width + j] = (uint16_t)c;
            norms[j] += c * c;
        }
    }
    table->width = width;
    TRY(device_allocate((void **)&table->components, components_bytes));
    TRY(device_upload_bytes(table->components, components, components_bytes));
    TRY(device_allocate((void **)&table->norms, norms_bytes));
    TRY(device_upload_bytes(table->norms, norms, norms_bytes));
out:
    free(components);
    free(norms);
    return status;
}

void texture_table_free(struct texture_table *table)
{
    device_free(table->components);
    device_free(table->norms);
    *table = {};
}

static __device__ unsigned gray_of(unsigned red, unsigned green, unsigned blue)
{
    return (GRAYSCALE_RED * (red & 255) + GRAYSCALE_GREEN * (green & 255) + GRAYSCALE_BLUE * (blue & 255) +
            (1u << (GRAYSCALE_BITS - 1))) >>
           GRAYSCALE_BITS;
}

/* Four gray pixels, 0 outside; x is a multiple of 4, and a row may be read up to its stride. */
static __device__ unsigned load(const struct image &in, int x, int y)
{
    const int left = in.width - x; /* pixels */
    unsigned gray;

    if (left <= 0 || y >= in.height)
        return 0;
    const unsigned *row = (const unsigned *)image_row(&in, y);
    if (in.channels == 1) {
        gray = row[x / 4];
    } else {
        const int words = (int)(in.stride / 4), at = x / 4 * 3;
        const unsigned a = row[at], b = at + 1 < words ? row[at + 1] : 0, c = at + 2 < words ? row[at + 2] : 0;
        gray = gray_of(a, a >> 8, a >> 16) | gray_of(a >> 24, b, b >> 8) << 8 | gray_of(b >> 16, b >> 24, c) << 16 |
               gray_of(c >> 8, c >> 16, c >> 24) << 24;
    }
    return gray & (left < 4 ? (1u << 8 * left) - 1 : ~0u);
}

/* The histogram of a patch, by a warp: a lane gets bins 32 i + lane. */
static __device__ void count(const struct image &in, int column, int line, int patch, unsigned *bins, unsigned *tile,
                             unsigned counts[LBP_BINS / 32])
{
    const int lane = threadIdx.x, wide = patch / 4, pitch = lbp_tile_pitch(patch);

    for (int i = lane; i < lbp_tile_words(patch); i += 32) {
        const int word = i % pitch - 1, y = i / pitch - 1;
        const bool inside = word >= 0 && word < wide && y >= 0 && y < patch;
        tile[i] = inside ? load(in, column * patch + 4 * word, line * patch + y) : 0;
    }
    for (int i = lane; i < LBP_BINS; i += 32)
        bins[i] = 0;
    __syncwarp();
    for (int i = lane; i < patch * wide; i += 32) {
        const unsigned codes = lbp_word_codes(tile + (i / wide + 1) * pitch + i % wide + 1, pitch);
        for (int shift = 0; shift < 32; shift += 8)
            atomicAdd(&bins[codes >> shift & 255], 1);
    }
    __syncwarp();
#pragma unroll
    for (int i = 0; i < LBP_BINS / 32; i++)
        counts[i] = bins[32 * i + lane];
}

/* GROUPS: centroids of a lane. Warp threadIdx.y has a patch, and shared memory of its own. */
template <int GROUPS>
static __global__ void fused_kernel(struct texture_table table, struct image in, struct image labels, int patch)
{
    extern __shared__ unsigned shared[];
    const int lane = threadIdx.x, column = blockIdx.x * blockDim.y + threadIdx.y, groups = table.width / 32;
    unsigned *bins = shared + threadIdx.y * LBP_BINS;
    unsigned *tile = shared + blockDim.y * LBP_BINS + threadIdx.y * lbp_tile_words(patch);
    unsigned counts[LBP_BINS / 32];
    int products[GROUPS] = {}, smallest = INT32_MAX, label = 0;

    if (column >= labels.width)
        return;
    count(in, column, blockIdx.y, patch, bins, tile, counts);
#pragma unroll
    for (int i = 0; i < LBP_BINS / 32; i++)
        for (unsigned left = __ballot_sync(0xffffffff, counts[i] > 0); left; left &= left - 1) {
            const int from = __ffs((int)left) - 1;
            const int h = (int)__shfl_sync(0xffffffff, counts[i], from);
            const uint16_t *components = table.components + (32 * i + from) * table.width + lane;
#pragma unroll
            for (int g = 0; g < GROUPS; g++)
                if (g < groups)
                    products[g] += h * components[32 * g];
        }
#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
        const int norm = g < groups ? table.norms[32 * g + lane] : INT32_MAX;
        const int score = norm == INT32_MAX ? INT32_MAX : norm - 2 * NEAREST_SCALE * products[g];
        if (score < smallest) {
            smallest = score;
            label = 32 * g + lane;
        }
    }
    for (int step = 16; step > 0; step /= 2) {
        const int score = __shfl_xor_sync(0xffffffff, smallest, step);
        const int other = __shfl_xor_sync(0xffffffff, label, step);
        if (score < smallest || (score == smallest && other < label)) {
            smallest = score;
            label = other;
        }
    }
    if (lane == 0)
        ((uint8_t *)image_row(&labels, blockIdx.y))[column] = (uint8_t)label;
}

enum status texture_fused_launch(const struct texture_table *table, const struct image *in, struct image *labels,
                                 int patch, int warps, cudaStream_t stream)
{
    const dim3 grid(ceiling_divide(labels->width, warps), labels->height), block(32, warps);
    const size_t shared = (size_t)warps * (size_t)(LBP_BINS + lbp_tile_words(patch)) * sizeof(unsigned);
    enum status status = STATUS_OK;

    if (table->width <= 64)
        fused_kernel<2><<<grid, block, shared, stream>>>(*table, *in, *labels, patch);
    else
        fused_kernel<MOST><<<grid, block, shared, stream>>>(*table, *in, *labels, patch);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}
