/*
 * Hysteresis by union-find. Each marked pixel is a node, number place + 1. A strong pixel's parent is node 0 from the
 * beginning; a weak one is its own root. join_kernel unites neighbours, always the larger root below the smaller one,
 * so that in the end the root of a chain with a strong pixel is node 0:
 *
 *      W W . S        1 2 . 0        1 1 . 0        no strong neighbour: root 1, nothing
 *      . . . W   ->   . . . 8   ->   . . . 0        joined to a strong one: root 0, an edge point
 */
#include "cuda/edges/shared/edges.h"

enum { BLOCK_WIDTH = 32, BLOCK_HEIGHT = 8 };

static __device__ int mark_of(const struct image &mask, int x, int y)
{
    return x < 0 || y < 0 || x >= mask.width || y >= mask.height ? (int)EDGES_NOTHING
                                                                 : ((const uint8_t *)image_row(&mask, y))[x];
}

static __global__ void plant_kernel(struct image mask, unsigned *parent)
{
    const int x = blockIdx.x * BLOCK_WIDTH + threadIdx.x, y = blockIdx.y * BLOCK_HEIGHT + threadIdx.y;
    const int mark = mark_of(mask, x, y);

    if (mark != EDGES_NOTHING)
        parent[edges_node(mask.width, x, y)] = edges_first_parent(mark, edges_node(mask.width, x, y));
}

/* While others join, a parent is read by an atomic operation. */
static __device__ unsigned find(unsigned *parent, unsigned node)
{
    for (unsigned above; (above = atomicOr(&parent[node], 0u)) != node;)
        node = above;
    return node;
}

/* Another thread may have joined the root that find() returned. Then atomicMin() returns its new parent, and the loop
 * joins that. */
static __device__ void join(unsigned *parent, unsigned a, unsigned b)
{
    while ((a = find(parent, a)) != (b = find(parent, b))) {
        const unsigned smaller = min(a, b), larger = max(a, b), old = atomicMin(&parent[larger], smaller);
        if (old == larger)
            return;
        a = old;
        b = smaller;
    }
}

/* Two strong pixels have one root already. */
static __global__ void join_kernel(struct image mask, unsigned *parent)
{
    const int x = blockIdx.x * BLOCK_WIDTH + threadIdx.x, y = blockIdx.y * BLOCK_HEIGHT + threadIdx.y;
    const int mark = mark_of(mask, x, y);

    if (mark == EDGES_NOTHING)
        return;
    for (int k = 0; k < 4; k++) {
        const int u = k < 3 ? x - 1 + k : x - 1, v = k < 3 ? y - 1 : y, other = mark_of(mask, u, v);
        if (other != EDGES_NOTHING && !(mark == EDGES_STRONG && other == EDGES_STRONG))
            join(parent, edges_node(mask.width, x, y), edges_node(mask.width, u, v));
    }
}

static __global__ void settle_kernel(struct image mask, const unsigned *parent)
{
    const int x = blockIdx.x * BLOCK_WIDTH + threadIdx.x, y = blockIdx.y * BLOCK_HEIGHT + threadIdx.y;
    unsigned node;

    if (mark_of(mask, x, y) != EDGES_WEAK)
        return;
    for (node = edges_node(mask.width, x, y); parent[node] != node;)
        node = parent[node];
    ((uint8_t *)image_row(&mask, y))[x] = node == 0 ? EDGES_STRONG : EDGES_NOTHING;
}

static dim3 grid_of(const struct image *mask)
{
    return dim3(ceiling_divide(mask->width, BLOCK_WIDTH), ceiling_divide(mask->height, BLOCK_HEIGHT));
}

enum status edges_plant(struct edges_step *step, const struct image *mask, cudaStream_t stream)
{
    const dim3 block(BLOCK_WIDTH, BLOCK_HEIGHT), grid = grid_of(mask);
    enum status status = STATUS_OK;

    plant_kernel<<<grid, block, 0, stream>>>(*mask, step->parent);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

enum status edges_follow(struct edges_step *step, const struct image *mask, cudaStream_t stream)
{
    const dim3 block(BLOCK_WIDTH, BLOCK_HEIGHT), grid = grid_of(mask);
    enum status status = STATUS_OK;

    join_kernel<<<grid, block, 0, stream>>>(*mask, step->parent);
    CUDA_TRY(cudaGetLastError());
    settle_kernel<<<grid, block, 0, stream>>>(*mask, step->parent);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}
