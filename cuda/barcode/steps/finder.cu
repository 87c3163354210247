#include "cuda/barcode/steps/finder.h"

#include <stdio.h>

enum { THREADS = 256 };

static __global__ void posterior_kernel(struct image labels, struct image posterior, const uint8_t *posteriors)
{
    const int x = blockIdx.x * THREADS + threadIdx.x;

    if (x < labels.width)
        ((uint8_t *)image_row(&posterior, blockIdx.y))[x] =
            posteriors[((const uint8_t *)image_row(&labels, blockIdx.y))[x]];
}

/* A thread for each row: boxes of patches become boxes of pixels (barcode_boxes()). */
static __global__ void pixels_kernel(struct image table, int width, int height, struct image boxes)
{
    const int row = blockIdx.x * THREADS + threadIdx.x, count = *(const int32_t *)table.data;

    if (row >= boxes.height)
        return;
    const int32_t *from = (const int32_t *)image_row(&table, row);
    int32_t *box = (int32_t *)image_row(&boxes, row);
    const bool is_box = row > 0 && row <= count;
    box[0] = row == 0 ? count : is_box ? BARCODE_PATCH * from[1] : 0;
    box[1] = is_box ? BARCODE_PATCH * from[2] : 0;
    box[2] = is_box ? min(BARCODE_PATCH * from[3], width - box[0]) : 0;
    box[3] = is_box ? min(BARCODE_PATCH * from[4], height - box[1]) : 0;
}

static enum status open_steps(struct finder *finder, const struct barcode_params *params,
                              const struct finder_versions *versions, const struct image *score)
{
    char blur[64], threshold[32], boxes[64];
    struct image components, table;
    enum status status = STATUS_OK;

    snprintf(blur, sizeof blur, "ksize=%d sigma=%.17g", params->ksize, params->sigma);
    snprintf(threshold, sizeof threshold, "value=%d", params->value);
    snprintf(boxes, sizeof boxes, "min_area=%d max_boxes=%d", params->min_area, params->max_boxes);
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
    pixels_kernel<<<ceiling_divide(out[BARCODE_BOXES].height, THREADS), THREADS, 0, stream>>>(
        finder->table, width, height, out[BARCODE_BOXES]);
    CUDA_TRY(cudaGetLastError());
    /* A threshold may read beyond the ends of its rows, which are not ours in an output. */
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
