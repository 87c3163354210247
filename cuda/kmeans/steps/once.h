/*
 * once.h: rows that move from one cluster to another, read once for both sums; of kmeans v2.7.
 */
#ifndef RUNGS_KMEANS_ONCE_H
#define RUNGS_KMEANS_ONCE_H

#include "cuda/kmeans/steps/means.h"

enum { KMEANS_PIECE = 2 /* words of a row that a lane holds */ };

struct kmeans_piece {
    unsigned words[KMEANS_PIECE];
};

/* Words first + lane, first + lane + 32 ... of a row; 0 behind its end. */
static __device__ inline struct kmeans_piece kmeans_load_piece(const struct kmeans_bytes &bytes, int row, int first)
{
    const unsigned *samples = (const unsigned *)(bytes.samples + (size_t)row * (size_t)bytes.pitch);
    struct kmeans_piece piece;

    for (int i = 0; i < KMEANS_PIECE; i++) {
        const int w = first + (int)threadIdx.x % 32 + 32 * i;
        piece.words[i] = w < bytes.pitch / 4 ? samples[w] : 0;
    }
    return piece;
}

/* A warp: to one cluster, and from another unless there is none (before < 0). */
static __device__ inline void kmeans_move_piece(const struct kmeans_bytes &bytes, const struct kmeans_sums &sums,
                                                const struct kmeans_piece &piece, int first, int label, int before)
{
    const int words = bytes.pitch / 4;

    for (int i = 0; i < KMEANS_PIECE; i++) {
        const int w = first + (int)threadIdx.x % 32 + 32 * i;
        if (w >= words)
            return;
        for (int b = 0; b < 4; b++) {
            const int sample = (int)(piece.words[i] >> 8 * b & 255);
            atomicAdd(&sums.x[label * bytes.pitch + b * words + w], sample);
            if (before >= 0)
                atomicSub(&sums.x[before * bytes.pitch + b * words + w], sample);
        }
    }
}

/* One thread: the count, and what of samples is no byte. */
static __device__ inline void kmeans_move_rest(const struct kmeans_bytes &bytes, const struct kmeans_sums &sums,
                                               int row, int cluster, int sign)
{
    const int words = bytes.pitch / 4;
    unsigned wide = bytes.wide[row];

    atomicAdd(&sums.counts[cluster], sign);
    for (unsigned left = wide >> 30; left > 0; left--, wide >>= 10)
        atomicAdd(&sums.x[cluster * bytes.pitch + (int)(wide & 3) * words + (int)(wide & 1023) / 4], 256 * sign);
}

/* As kmeans_for_moved(); while a row is added, the next one that moved is on its way, and each thread sees to the rest of its own. */
static __device__ inline void kmeans_move_once(const struct kmeans_task &task, const struct kmeans_bytes &bytes,
                                               const struct kmeans_sums &sums, int row, int before, int label,
                                               struct kmeans_moves *moves)
{
    const int own = threadIdx.x, warp = own / 32 * 32;
    const bool moves_own = row >= 0 && before != label;
    const unsigned moved = __ballot_sync(0xffffffff, moves_own);

    if (!sums.x) {
        kmeans_move_rows(task, before < 0, row, label, moves);
        return;
    }
    moves->rows[own] = row;
    moves->labels[own] = label;
    moves->before[own] = before;
    if (row >= 0)
        task.labels[row] = label;
    __syncwarp();
    for (int first = 0; first < bytes.pitch / 4 && moved; first += 32 * KMEANS_PIECE) {
        struct kmeans_piece next = kmeans_load_piece(bytes, moves->rows[warp + __ffs((int)moved) - 1], first);
        for (unsigned left = moved; left; left &= left - 1) {
            const int from = warp + __ffs((int)left) - 1;
            const struct kmeans_piece piece = next;
            if (left & (left - 1))
                next = kmeans_load_piece(bytes, moves->rows[warp + __ffs((int)(left & (left - 1))) - 1], first);
            kmeans_move_piece(bytes, sums, piece, first, moves->labels[from], moves->before[from]);
        }
    }
    if (moves_own)
        kmeans_move_rest(bytes, sums, row, label, 1);
    if (moves_own && before >= 0)
        kmeans_move_rest(bytes, sums, row, before, -1);
    __syncwarp();
}

#endif
