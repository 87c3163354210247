/* Cooperative groups: each number below is worked out by hand. */
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <stdio.h>

namespace cg = cooperative_groups;

__global__ void groups(int *out)
{
    const cg::thread_block block = cg::this_thread_block();
    const cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
    const cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    const int rank = (int)block.thread_rank();
    const cg::coalesced_group odd = cg::binary_partition(warp, rank % 2);
    int *const own = out + 12 * rank;

    own[0] = (int)(tile.thread_rank() + 100 * tile.meta_group_rank() + 10000 * tile.meta_group_size());
    own[1] = cg::reduce(tile, rank, cg::plus<int>());
    own[2] = tile.shfl_down(rank, 1) - rank;
    own[3] = (int)(odd.size() + 100 * odd.thread_rank());
    own[4] = odd.shfl(rank, 3);
    own[5] = (int)odd.ballot(rank < 8);
    own[6] = cg::inclusive_scan(tile, 1, cg::plus<int>());
    own[7] = cg::exclusive_scan(tile, 2);
    own[8] = (int)cg::this_grid().thread_rank();
    own[9] = (int)cg::coalesced_threads().size();
    own[10] = (int)cg::labeled_partition(warp, rank % 4).size();
    own[11] = cg::tiled_partition(block, 4).size() == 4 && warp.any(rank == 40) == (rank >= 32);
    block.sync();
}

/* Each block writes, and after all have met reads what the next one wrote. */
__global__ void ring(int *out, int *seen)
{
    const cg::grid_group grid = cg::this_grid();

    for (int round = 0; round < 3; round++) {
        if (threadIdx.x == 0)
            out[blockIdx.x] = 10 * round + (int)blockIdx.x;
        grid.sync();
        if (threadIdx.x == 5)
            seen[blockIdx.x] += out[(blockIdx.x + 1) % gridDim.x];
        grid.sync();
    }
}

int main()
{
    int *out, *seen;

    cudaMallocManaged(&out, 12 * 64 * sizeof(int));
    cudaMallocManaged(&seen, 5 * sizeof(int));
    groups<<<1, 64>>>(out);
    if (cudaDeviceSynchronize() != cudaSuccess)
        return 2;
    for (int rank = 0; rank < 64; rank++) {
        const int first = rank / 8 * 8, low = rank / 32 * 32;
        const int wanted[12] = {rank % 8 + 100 * (rank / 8) + 10000 * 8,
                                8 * first + 28,
                                rank % 8 < 7,
                                16 + 100 * (rank % 32 / 2),
                                low + 6 + rank % 2,
                                low == 0 ? 15 : 0,
                                rank % 8 + 1,
                                2 * (rank % 8),
                                rank,
                                1,
                                8,
                                1};

        for (int i = 0; i < 12; i++)
            if (out[12 * rank + i] != wanted[i]) {
                printf("thread %d, number %d: %d instead of %d\n", rank, i, out[12 * rank + i], wanted[i]);
                return 1;
            }
    }
    for (int i = 0; i < 5; i++)
        seen[i] = 0;
    void *arguments[] = {&out, &seen};
    if (cudaLaunchCooperativeKernel((void *)ring, 5, 32, arguments) != cudaSuccess)
        return 3;
    for (int i = 0; i < 5; i++)
        if (seen[i] != 30 + 3 * ((i + 1) % 5))
            return 4;
    ring<<<2, 32>>>(out, seen); /* not cooperative: grid.sync() fails */
    return cudaDeviceSynchronize() == cudaSuccess || cudaGetLastError() == cudaSuccess;
}
