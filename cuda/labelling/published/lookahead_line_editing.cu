/*
 * Problem:  cuda/line_editing needs two opposite launches to give a run its least label.
 * Idea:     A thread follows a run (foreground in a line) to its end, then goes back and writes its
 *           least label to all pixels (KTH 2016): one launch does what two opposite ones did.
 * Expect:   1.5 times as fast: half as many launches, each of which reads the foreground twice.
 * Result:   0.35 times as fast as cuda/line_editing, 325 ms
 *           (results/h100/labelling/labelling_3840x2160.json); the reason is not known.
 * Run:      make study-labelling
 * From:     cuda/line_editing
 */
#include <limits.h>

#include "common/algo/labelling.h"
#include "common/cuda/device.h"

static int threads = 64;
static const int thread_counts[] = {32, 64, 128, 256, 0};
static struct tunable tunables[] = {{"threads", &threads, thread_counts, "threads of a block, a line each"}, {}};

struct state {
    int *changed; /* device: whether the last pass wrote a label */
};

/* Where line number `line` of direction (dx, dy) enters the image; false when there are fewer. Diagonal lines
 * enter through the first row of their direction, then through the first column below it. */
static __device__ bool enter(const struct image &out, int line, int dx, int dy, int *x, int *y)
{
    *x = dx == 0 || (dy != 0 && line < out.width) ? line : dx > 0 ? 0 : out.width - 1;
    *y = dy > 0 ? 0 : out.height - 1;
    if (dy == 0)
        *y = line;
    else if (dx != 0 && line >= out.width)
        *y += dy * (line - out.width + 1);
    return line >= 0 && *x < out.width && *y >= 0 && *y < out.height;
}

static __global__ void init_kernel(struct image in, struct image out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x < in.width && y < in.height)
        ((int *)image_row(&out, y))[x] = ((const uint8_t *)image_row(&in, y))[x] ? y * in.width + x + 1 : 0;
}

/* A thread walks along a line. It follows a run to its end for the least label in it, then goes back and writes it.
 * Lines of one direction share no pixel, so the only race is that all writers of `changed` write 1. */
static __global__ void edit_kernel(struct image out, int dx, int dy, int *changed)
{
    int x, y, least = INT_MAX, length = 0;

    if (!enter(out, blockIdx.x * blockDim.x + threadIdx.x, dx, dy, &x, &y))
        return;
    for (bool inside = true; inside; x += dx, y += dy) {
        inside = x >= 0 && x < out.width && y >= 0 && y < out.height;
        int label = inside ? ((const int *)image_row(&out, y))[x] : 0;
        if (label > 0) {
            least = min(least, label);
            length++;
            continue;
        }
        for (int k = 1; k <= length; k++) {
            int *to = (int *)image_row(&out, y - k * dy) + x - k * dx;
            if (*to != least) {
                *to = least;
                *changed = 1;
            }
        }
        least = INT_MAX;
        length = 0;
    }
}

static enum status setup(struct state *state, const struct image in[], const struct labelling_params *params)
{
    enum status status = STATUS_OK;

    (void)in, (void)params;
    if (!state->changed)
        TRY(device_allocate((void **)&state->changed, sizeof(int)));
out:
    return status;
}

/* Waits for each pass, for it says whether another one follows: not to be recorded in a graph. Labels fall or stay,
 * so that as many passes as there are pixels are enough; more would mean an error of this file. */
static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct labelling_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    dim3 block(32, 8);
    dim3 grid(ceiling_divide(in->width, block.x), ceiling_divide(in->height, block.y));
    const int dx[4] = {0, 1, 1, -1}, dy[4] = {1, 0, 1, 1}; /* columns, rows, diagonals */
    const unsigned lines = ceiling_divide(in->width + in->height, threads);
    int limit = in->width * in->height, changed = 1;

    init_kernel<<<grid, block, 0, stream>>>(*in, *out);
    CUDA_TRY(cudaGetLastError());
    for (int pass = 0; changed; pass++) {
        if (pass == limit)
            return status_set(STATUS_FAILED, "labels still change after %d passes", pass);
        CUDA_TRY(cudaMemsetAsync(state->changed, 0, sizeof(int), stream));
        for (int k = 0; k < params->connectivity / 2; k++) {
            edit_kernel<<<lines, threads, 0, stream>>>(*out, dx[k], dy[k], state->changed);
            CUDA_TRY(cudaGetLastError());
        }
        CUDA_TRY(cudaMemcpyAsync(&changed, state->changed, sizeof(int), cudaMemcpyDeviceToHost, stream));
        CUDA_TRY(cudaStreamSynchronize(stream));
    }
out:
    return status;
}

static void teardown(struct state *state)
{
    device_free(state->changed);
}

RUNGS_CUDA_VERSION(labelling, .declines = labelling_labels_only, .tunables = tunables)
