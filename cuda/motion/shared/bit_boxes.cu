#include "common/cuda/relaxed.h"
#include "common/cuda/warp.cuh"
#include "cuda/motion/shared/bit_mask.h"

/*
 * A node is a run: pixels of one row side by side, as many as there are, even across words. Runs of a row that start at
 * x have numbers y * half + x / 2, for between two starts there is a gap; numbers ascend in raster order. A warp looks
 * at a row, 32 words at a time.
 *
 * The forest holds for each node by how much its parent's number is smaller, so that a table of zeros is a forest of
 * single nodes, and a parent becomes smaller by atomicMax. Sums are such that they begin at 0, too. bit_boxes_write()
 * leaves zeros where it finds nodes: nothing as long as the image is ever cleared, and there is no launch for it.
 *
 * Smaller roots win, so a component's root is its first run: the one with the pixel that labelling.h names it after.
 */
enum { WARPS = 8 /* rows of a block */ };

struct bit_boxes_sums { /* without y_min, which is the root's row */
    unsigned long long x_sum, y_sum;
    int x_low, x_end, y_end, area; /* x_low: width - x_min; ends: one past the last */
};

static __host__ __device__ int nodes_per_row(const struct bit_mask &mask)
{
    return (mask.width + 1) / 2;
}

static __device__ int node_of(const struct bit_mask &mask, int x, int y)
{
    return y * nodes_per_row(mask) + x / 2;
}

/* ------------------------------------------------------------------------------------------------------- runs */

/* A word that a lane looks at, and what is beside it. */
struct view {
    unsigned word, previous, next; /* bit b of the others: pixel b - 1, pixel b + 1 */
    int x;                         /* of bit 0 */
    int entering;                  /* where the run starts that holds pixel x - 1, if that is set */
};

/* To be called by a whole warp, for first = 0, 32 ... in turn; *carried, 0 at first, is where the run starts that holds
 * the last pixel before word `first`. */
static __device__ struct view look(const struct bit_mask &mask, int y, int first, int *carried)
{
    const unsigned *row = mask.words + y * mask.pitch;
    const int lane = threadIdx.x, column = first + lane;
    const unsigned word = column < mask.pitch ? row[column] : 0;
    const unsigned left = column > 0 && column <= mask.pitch ? row[column - 1] : 0;
    const unsigned right = column + 1 < mask.pitch ? row[column + 1] : 0;
    /* A run that leaves a word with a zero in it starts after the highest zero; full words hand on what came in. */
    const int leaving = 32 * column + 32 - __clz((int)~word);
    const unsigned broken = __ballot_sync(0xffffffff, word != 0xffffffff), before = broken & ((1u << lane) - 1);
    const int entering = __shfl_sync(0xffffffff, leaving, before ? 31 - __clz((int)before) : lane);
    const struct view view = {word, word << 1 | left >> 31, word >> 1 | right << 31, 32 * column,
                              before ? entering : *carried};
    const int carry = __shfl_sync(0xffffffff, leaving, broken ? 31 - __clz((int)broken) : 0);

    *carried = broken ? carry : *carried;
    return view;
}

/* Where the run starts that holds bit `at`, which is set; -1 is the pixel before bit 0. */
static __device__ int start_of(const struct view &view, int at)
{
    const int start = at < 0 ? 0 : 32 - __clz((int)(~view.word & ((1u << at) - 1)));

    return start > 0 || !(view.previous & 1) ? view.x + start : view.entering;
}

/* ----------------------------------------------------------------------------------------------------- forest */

/* Loads are relaxed, since other threads change trees meanwhile. Shortens the path on its way, so that the next walk
 * takes a step or two. */
static __device__ int find(int *drops, int node)
{
    const int first = node;

    for (int up = node - load_relaxed(&drops[node]), next; up != node; node = up, up = next) {
        next = up - load_relaxed(&drops[up]);
        if (next != up)
            atomicMax(&drops[node], node - next);
    }
    if (node != first)
        atomicMax(&drops[first], first - node);
    return node;
}

/* What find() gives may be no root any more. Then atomicMax says so, and what it found there still has to be united. */
static __device__ void unite(int *drops, int a, int b)
{
    while ((a = find(drops, a)) != (b = find(drops, b))) {
        const int smaller = min(a, b), larger = max(a, b), old = atomicMax(&drops[larger], larger - smaller);
        if (old == 0)
            return;
        a = larger - old;
        b = smaller;
    }
}

/* A run and one above that it touches: the first one that comes becomes its parent, if it has none yet. That is no more
 * than a link to the row above; `thoroughly` unites their components. */
static __device__ void join(int *drops, int own, int above, bool thoroughly)
{
    if (thoroughly)
        unite(drops, own, above);
    else
        atomicCAS(&drops[own], 0, own - above);
}

/* Each pair of runs that touch is joined once: where their overlap starts, or at the corner that is all they share. */
static __device__ void join_rows(const struct bit_mask &mask, int *drops, int y, bool corners, bool thoroughly)
{
    int own_carried = 0, above_carried = 0;

    for (int first = 0; first < mask.pitch; first += 32) {
        const struct view own = look(mask, y, first, &own_carried), above = look(mask, y - 1, first, &above_carried);
        unsigned rest = own.word & above.word & ~(own.previous & above.previous);
        for (; rest; rest &= rest - 1) {
            const int at = __ffs((int)rest) - 1;
            join(drops, node_of(mask, start_of(own, at), y), node_of(mask, start_of(above, at), y - 1), thoroughly);
        }
        if (!corners)
            continue;
        /* At corners: the own run starts one pixel right of the end of the one above; then, the other way round. */
        for (rest = own.word & ~own.previous & ~above.word & above.previous; rest; rest &= rest - 1) {
            const int at = __ffs((int)rest) - 1;
            join(drops, node_of(mask, own.x + at, y), node_of(mask, start_of(above, at - 1), y - 1), thoroughly);
        }
        for (rest = own.word & ~own.next & ~above.word & above.next; rest; rest &= rest - 1) {
            const int at = __ffs((int)rest) - 1;
            join(drops, node_of(mask, start_of(own, at), y), node_of(mask, above.x + at + 1, y - 1), thoroughly);
        }
    }
}

/* Twice over the runs: were they united at once, a thread that comes late would climb a chain of as many rows as the
 * component is tall, alone, 0.3 us a step. When all climb at the same time, paths halve for everybody. */
static __global__ void join_kernel(struct bit_mask mask, int *drops, int *counts, bool corners)
{
    const int y = blockIdx.x * WARPS + threadIdx.y;

    if (y >= mask.height)
        return;
    if (threadIdx.x == 0)
        counts[y] = 0;
    if (y == 0)
        return;
    join_rows(mask, drops, y, corners, false);
    join_rows(mask, drops, y, corners, true);
}

/* ------------------------------------------------------------------------------------------------------ boxes */

/* Adds each run to its root. Only one addition takes an area over min_area: that one counts the box. */
static __global__ void add_kernel(struct bit_mask mask, int *drops, struct bit_boxes_sums *sums, int *counts,
                                  int min_area)
{
    const int y = blockIdx.x * WARPS + threadIdx.y;
    int carried = 0;

    if (y >= mask.height)
        return;
    for (int first = 0; first < mask.pitch; first += 32) {
        const struct view view = look(mask, y, first, &carried);
        for (unsigned ends = view.word & ~view.next; ends; ends &= ends - 1) {
            const int at = __ffs((int)ends) - 1, x = start_of(view, at), length = view.x + at + 1 - x;
            const int root = find(drops, node_of(mask, x, y));
            const int area = atomicAdd(&sums[root].area, length);
            if (area < min_area && area + length >= min_area)
                atomicAdd(&counts[root / nodes_per_row(mask)], 1);
            atomicMax(&sums[root].x_low, mask.width - x);
            atomicMax(&sums[root].x_end, x + length);
            atomicMax(&sums[root].y_end, y + 1);
            atomicAdd(&sums[root].x_sum, (unsigned long long)length * (2 * x + length - 1) / 2);
            atomicAdd(&sums[root].y_sum, (unsigned long long)length * y);
        }
    }
}

/* Boxes of all rows before y. */
static __device__ int boxes_before(const int *counts, int y)
{
    int sum = 0;

    for (int i = threadIdx.x; i < y; i += 32)
        sum += counts[i];
    return warp_sum(sum);
}

static __device__ void write_row(const struct bit_mask &mask, const struct bit_boxes_sums &sums, int x, int y,
                                 int4 *row)
{
    const struct boxes_sums all = {
        mask.width - sums.x_low, y, sums.x_end - 1, sums.y_end - 1, sums.area, sums.x_sum, sums.y_sum};
    int4 halves[2];

    boxes_write_row(&all, y * mask.width + x + 1, (int32_t *)halves);
    row[0] = halves[0];
    row[1] = halves[1];
}

static __global__ void write_kernel(struct bit_mask mask, int *drops, struct bit_boxes_sums *sums, const int *counts,
                                    int min_area, int max_boxes, int4 *table)
{
    const int y = blockIdx.x * WARPS + threadIdx.y;
    int carried = 0, rank = 0;

    if (y >= mask.height)
        return;
    const int count = counts[y];
    if (count > 0 || y == mask.height - 1) /* rarely */
        rank = boxes_before(counts, y);
    if (y == mask.height - 1 && threadIdx.x == 0) {
        table[0] = make_int4(rank + count, 0, 0, 0);
        table[1] = make_int4(0, 0, 0, 0);
    }
    for (int first = 0; first < mask.pitch; first += 32) {
        const struct view view = look(mask, y, first, &carried);
        unsigned large = 0; /* roots with a box */
        for (unsigned starts = view.word & ~view.previous; starts; starts &= starts - 1) {
            const int at = __ffs((int)starts) - 1, node = node_of(mask, view.x + at, y);
            if (drops[node] > 0)
                drops[node] = 0;
            else if (sums[node].area >= min_area)
                large |= 1u << at;
            else
                sums[node] = {};
        }
        if (count == 0)
            continue;
        const int boxes = __popc(large), up_to = warp_prefix_sum(boxes);
        int own = rank + up_to - boxes + 1;
        for (; large; large &= large - 1, own++) {
            const int at = __ffs((int)large) - 1, node = node_of(mask, view.x + at, y);
            if (own <= max_boxes)
                write_row(mask, sums[node], view.x + at, y, table + 2 * own);
            sums[node] = {};
        }
        rank += __shfl_sync(0xffffffff, up_to, 31);
    }
}

/* ------------------------------------------------------------------------------------------------ host's side */

enum status bit_boxes_create(struct bit_boxes *boxes, const struct bit_mask *mask)
{
    const size_t nodes = (size_t)nodes_per_row(*mask) * mask->height;
    enum status status = STATUS_OK;

    *boxes = {};
    TRY(device_allocate((void **)&boxes->drops, nodes * sizeof *boxes->drops));
    TRY(device_allocate((void **)&boxes->sums, nodes * sizeof *boxes->sums));
    TRY(device_allocate((void **)&boxes->counts, (size_t)mask->height * sizeof *boxes->counts));
    TRY(device_clear(boxes->drops, nodes * sizeof *boxes->drops));
    TRY(device_clear(boxes->sums, nodes * sizeof *boxes->sums));
out:
    if (status != STATUS_OK)
        bit_boxes_free(boxes);
    return status;
}

void bit_boxes_free(struct bit_boxes *boxes)
{
    device_free(boxes->drops);
    device_free(boxes->sums);
    device_free(boxes->counts);
    *boxes = {};
}

enum status bit_boxes_join(const struct bit_boxes *boxes, const struct bit_mask *mask, int connectivity,
                           cudaStream_t stream)
{
    enum status status = STATUS_OK;

    join_kernel<<<ceiling_divide(mask->height, WARPS), dim3(32, WARPS), 0, stream>>>(*mask, boxes->drops, boxes->counts,
                                                                                     connectivity == 8);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

enum status bit_boxes_write(const struct bit_boxes *boxes, const struct bit_mask *mask, int min_area, int max_boxes,
                            int32_t *table, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const dim3 grid(ceiling_divide(mask->height, WARPS)), block(32, WARPS);

    add_kernel<<<grid, block, 0, stream>>>(*mask, boxes->drops, boxes->sums, boxes->counts, min_area);
    CUDA_TRY(cudaGetLastError());
    write_kernel<<<grid, block, 0, stream>>>(*mask, boxes->drops, boxes->sums, boxes->counts, min_area, max_boxes,
                                             (int4 *)table);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}
