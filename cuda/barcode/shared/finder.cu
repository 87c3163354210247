#include "cuda/barcode/shared/finder.h"

#include <stdio.h>

enum { THREADS = 256 };

static __global__ void posterior_kernel(struct image labels, struct image posterior, const uint8_t *posteriors)
{
    const int x = blockIdx.x * THREADS + threadIdx.x;

    if (x < labels.width)
        ((uint8_t *)image_row(&posterior, blockIdx.y))[x] =
            posteriors[((const uint8_t *)image_row(&labels, blockIdx.y))[x]];
}

/* One block: boxes of patches that are not too long become boxes of pixels, without gaps between them (compaction;
 * barcode_boxes()). */
static __global__ void pixels_kernel(struct image table, int ratio, int width, int height, struct image boxes)
{
    __shared__ int counts[THREADS / 32];
    const int count = min(*(const int32_t *)table.data, table.height - 1), warp = threadIdx.x / 32;
    int listed = 0;

    for (int row = 1 + (int)threadIdx.x; row - (int)threadIdx.x <= count; row += THREADS) {
        const int32_t *from = (const int32_t *)image_row(&table, min(row, count));
        const bool fits = row <= count && barcode_fits(from, ratio);
        const unsigned all = __ballot_sync(0xffffffff, fits);
        int before = listed + __popc(all & ((1u << threadIdx.x % 32) - 1));
        if (threadIdx.x % 32 == 0)
            counts[warp] = __popc(all);
        __syncthreads();
        for (int w = 0; w < THREADS / 32; w++) {
            before += w < warp ? counts[w] : 0;
            listed += counts[w];
        }
        __syncthreads();
        if (!fits || before + 1 >= boxes.height)
            continue;
        int32_t *box = (int32_t *)image_row(&boxes, before + 1);
        box[0] = BARCODE_PATCH * from[1];
        box[1] = BARCODE_PATCH * from[2];
        box[2] = min(BARCODE_PATCH * from[3], width - box[0]);
        box[3] = min(BARCODE_PATCH * from[4], height - box[1]);
    }
    for (int row = (int)threadIdx.x; row < boxes.height; row += THREADS)
        for (int column = 0; column < BARCODE_COLUMNS && (row == 0 || row > listed); column++)
            ((int32_t *)image_row(&boxes, row))[column] = row == 0 && column == 0 ? listed : 0;
}

static enum status open_steps(struct finder *finder, const struct barcode_params *params,
                              const struct finder_versions *versions, const struct image *score)
{
    char blur[64], threshold[32], boxes[64];
    struct image components, table;
    enum status status = STATUS_OK;

    snprintf(blur, sizeof blur, "ksize=%d sigma=%.17g", params->ksize, params->sigma);
    snprintf(threshold, sizeof threshold, "value=%d", params->value);
    snprintf(boxes, sizeof boxes, "min_area=%d max_boxes=%d", params->min_area, BARCODE_CANDIDATES);
    TRY(step_open(&finder->blur, "blur", "blur", versions->blur, blur));
    TRY(step_open(&finder->threshold, "threshold", "threshold", versions->threshold, threshold));
    TRY(step_open(&finder->labelling, "labelling", "labelling", versions->labelling, "connectivity=8"));
    TRY(step_open(&finder->boxes, "boxes", "boxes", versions->boxes, boxes));
    TRY(step_shape(&finder->labelling, score, &components));
    TRY(step_shape(&finder->boxes, &components, &table));
    TRY(device_image_create(&finder->labels, score));
    TRY(device_image_create(&finder->posterior, score));
    TRY(device_image_create(&finder->score, score));
    TRY(device_image_create(&finder->mask, score));
    TRY(device_image_create(&finder->components, &components));
    TRY(device_image_create(&finder->table, &table));
out:
    return status;
}

enum status finder_open(struct finder *finder, const struct image *in, const struct barcode_params *params,
                        const struct finder_versions *versions, const struct tunable *tunables)
{
    const struct image score = {.width = lbp_patches(in->width, BARCODE_PATCH),
                                .height = lbp_patches(in->height, BARCODE_PATCH),
                                .channels = 1,
                                .type = PIXEL_U8};
    struct step *steps[] = {&finder->blur, &finder->threshold, &finder->labelling, &finder->boxes};
    uint8_t posteriors[NEAREST_MAX_K] = {};
    enum status status = STATUS_OK;

    finder->ratio = params->ratio;
    if (!finder->posteriors) {
        TRY(open_steps(finder, params, versions, &score));
        barcode_posteriors(&params->model, posteriors);
        TRY(device_allocate((void **)&finder->posteriors, sizeof posteriors));
        TRY(device_upload_bytes(finder->posteriors, posteriors, sizeof posteriors));
    }
    for (const struct tunable *tunable = tunables; tunable && tunable->name; tunable++)
        for (struct step *step : steps)
            step_tune(step, tunable->name, *tunable->value);
out:
    return status;
}

enum status finder_launch(struct finder *finder, int width, int height, struct image out[], cudaStream_t stream)
{
    const struct image *labels = &finder->labels, *score = &finder->score;
    enum status status = STATUS_OK;

    step_begin("posterior", stream);
    posterior_kernel<<<dim3(ceiling_divide(labels->width, THREADS), labels->height), THREADS, 0, stream>>>(
        *labels, finder->posterior, finder->posteriors);
    CUDA_TRY(cudaGetLastError());
    TRY(step_run(&finder->blur, &finder->posterior, &finder->score, stream));
    TRY(step_run(&finder->threshold, &finder->score, &finder->mask, stream));
    TRY(step_run(&finder->labelling, &finder->mask, &finder->components, stream));
    TRY(step_run(&finder->boxes, &finder->components, &finder->table, stream));
    step_begin("pixels", stream);
    pixels_kernel<<<1, THREADS, 0, stream>>>(finder->table, finder->ratio, width, height, out[BARCODE_BOXES]);
    CUDA_TRY(cudaGetLastError());
    /* A copy: threshold may read behind the ends of the rows, which an output does not own. */
    CUDA_TRY(cudaMemcpy2DAsync(out[BARCODE_SCORE].data, out[BARCODE_SCORE].stride, score->data, score->stride,
                               score->width, score->height, cudaMemcpyDeviceToDevice, stream));
out:
    return status;
}

void finder_close(struct finder *finder)
{
    struct step *steps[] = {&finder->blur, &finder->threshold, &finder->labelling, &finder->boxes};
    struct image *images[] = {&finder->labels, &finder->posterior,  &finder->score,
                              &finder->mask,   &finder->components, &finder->table};

    for (struct step *step : steps)
        if (step->version)
            step_close(step);
    for (struct image *image : images)
        device_image_free(image);
    device_free(finder->posteriors);
    finder->posteriors = NULL;
}
