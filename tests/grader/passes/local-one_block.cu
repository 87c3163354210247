/* expect: right 2..2 | fewer launches 0..0 | says global loads */
/*
 * Idea:     one block goes over all of the picture until nothing changes: no tile, and one launch.
 */
#include "common/algo/labelling.h"
#include "common/cuda/device.h"
#include "common/cuda/relaxed.h"

struct state {
    int *changed; /* device: whether the last pass wrote a label */
};

/* 0 outside the image, as in the background. */
static __device__ int label_at(const struct image &out, int x, int y)
{
    return x >= 0 && y >= 0 && x < out.width && y < out.height ? load_relaxed((const int *)image_row(&out, y) + x) : 0;
}

/* One block for the whole picture: its barriers stand where launches did. */
static __global__ void all_kernel(struct image in, struct image out, int connectivity)
{
    const int dx[8] = {-1, 1, 0, 0, -1, 1, -1, 1}, dy[8] = {0, 0, -1, 1, -1, -1, 1, 1};
    const int pixels = in.width * in.height;
    int moved;

    for (int i = threadIdx.x; i < pixels; i += blockDim.x) {
        int x = i % in.width, y = i / in.width;
        store_relaxed((int *)image_row(&out, y) + x, ((const uint8_t *)image_row(&in, y))[x] ? i + 1 : 0);
    }
    __syncthreads();
    do {
        moved = 0;
        for (int i = threadIdx.x; i < pixels; i += blockDim.x) {
            int x = i % in.width, y = i / in.width, own = label_at(out, x, y), least = own;
            for (int k = 0; own > 0 && k < connectivity; k++) {
                int label = label_at(out, x + dx[k], y + dy[k]);
                if (label > 0)
                    least = min(least, label);
            }
            if (least < own) {
                store_relaxed((int *)image_row(&out, y) + x, least);
                moved = 1;
            }
        }
    } while (__syncthreads_or(moved));
}

static enum status launch(struct state *state, const struct image in[], struct image *out,
                          const struct labelling_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;

    (void)state;
    all_kernel<<<1, 256, 0, stream>>>(*in, *out, params->connectivity);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

static void teardown(struct state *state)
{
    device_free(state->changed);
}

RUNGS_CUDA_VERSION(labelling, .declines = labelling_labels_only)
