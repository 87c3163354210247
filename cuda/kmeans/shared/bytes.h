/*
 * bytes.h: small rows (struct kmeans_rows) as bytes, and centroids as two planes of bytes in shared memory; of kmeans
 * v2.0 and those above it.
 *
 * A sample of a small row is at most 511. Its lower byte goes to a table; that a sample is 256 or more is noted apart,
 * and at most 3 of a row are: else its sum times its largest sample were 2^18 or more. C is below 2^15: two bytes.
 */
#ifndef RUNGS_KMEANS_BYTES_H
#define RUNGS_KMEANS_BYTES_H

#include "common/cuda/mma.cuh"
#include "cuda/kmeans/shared/moved.h"

enum { KMEANS_GROUP = 16 /* centroids in shared memory */, KMEANS_BYTES_PITCH = 64 };

struct kmeans_bytes {
    uint8_t *samples; /* rows of `pitch` bytes, 0 behind the features */
    unsigned *wide;   /* of a row: 3 features of 10 bits that are 256 or more, and how many in the upper 2 bits */
    int *squares;     /* of a row: |x|^2, below 2^18 */
    int pitch;        /* a multiple of KMEANS_BYTES_PITCH */
    bool packed;      /* all of this is filled before the first assignment */
};

/* And the memory of the solver. Does nothing when all is there. */
enum status kmeans_bytes_create(struct kmeans_bytes *bytes, struct kmeans_memory *memory, const struct image *in,
                                const struct kmeans_params *params);
void kmeans_bytes_free(struct kmeans_bytes *bytes);

/* Enqueues what fills *bytes from small rows. */
enum status kmeans_bytes_pack(const struct kmeans_bytes *bytes, const struct kmeans_task *task, cudaStream_t stream);

/* Enqueues what comes before an assignment of small rows: with `first`, clears the sums and fills *bytes unless they
 * are packed. Where rows are not small: all of the assignment, as in v1.3 with 8 lanes. */
enum status kmeans_bytes_begin(const struct kmeans_bytes *bytes, const struct kmeans_task *task, bool first,
                               cudaStream_t stream);

/* Bytes from a centroid to the next in shared memory: without bank conflicts of lanes that load 64 bytes of 2
 * centroids. */
static HOST_DEVICE inline int kmeans_plane_stride(int pitch)
{
    return pitch % 128 ? pitch : pitch + 64;
}

static inline size_t kmeans_planes_bytes(int pitch)
{
    return (size_t)2 * KMEANS_GROUP * (size_t)kmeans_plane_stride(pitch);
}

/* The whole block: bytes of KMEANS_GROUP centroids from `first` on, planes[lower, upper][centroid][stride], and |C|^2,
 * INT32_MAX beyond k. Their first readers wait for the block. */
static __device__ inline void kmeans_load_planes(const struct kmeans_task &task, int pitch, int first, uint8_t *planes,
                                                 int norms[KMEANS_GROUP])
{
    const int share = blockDim.x / KMEANS_GROUP, lane = threadIdx.x % share, j = threadIdx.x / share;
    const int stride = kmeans_plane_stride(pitch);
    int norm = 0;

    for (int f = lane; f < pitch; f += share) {
        const int c = first + j < task.k && f < task.features ? task.centroids[(first + j) * task.features + f] : 0;
        planes[j * stride + f] = (uint8_t)c;
        planes[(KMEANS_GROUP + j) * stride + f] = (uint8_t)(c >> 8);
        norm += c * c;
    }
    for (int step = share / 2; step > 0; step /= 2)
        norm += __shfl_xor_sync(0xffffffff, norm, step);
    if (lane == 0)
        norms[j] = first + j < task.k ? norm : INT32_MAX;
}

/* Adds the products of 64 features: centroids `group` and `group` + 8 of a plane by 8 rows (layout: mma.cuh). */
static __device__ inline void kmeans_multiply(int sums[4], const uint8_t *centroid, int stride, const uint4 &samples)
{
    const uint4 c0 = *(const uint4 *)centroid, c8 = *(const uint4 *)(centroid + 8 * stride);
    const unsigned left[2][4] = {{c0.x, c8.x, c0.y, c8.y}, {c0.z, c8.z, c0.w, c8.w}};
    const unsigned right[2][2] = {{samples.x, samples.y}, {samples.z, samples.w}};

    for (int half = 0; half < 2; half++)
        mma_m16n8k32_u8(sums, left[half], right[half], sums);
}

/* What the bytes of a row leave out of its product with a centroid: 256 C for each wide feature. The upper bytes of C
 * lie `upper` bytes behind the lower ones. */
static __device__ inline int kmeans_wide_product(unsigned wide, const uint8_t *lower, int upper)
{
    int product = 0;

    for (unsigned left = wide >> 30; left > 0; left--, wide >>= 10) {
        const uint8_t *c = lower + (wide & 1023);
        product += 256 * (c[0] + 256 * c[upper]);
    }
    return product;
}

#endif
