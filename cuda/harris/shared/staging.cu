#include "cuda/harris/shared/staging.h"

#include <string.h>

enum { WORTH_THREADS = 64 << 10 /* bytes, below which one thread is done before others have begun */ };

static int band_begin(const struct image *image, int band)
{
    return (int)((int64_t)image->height * band / STAGING_BANDS);
}

enum status staging_setup(struct staging *staging, size_t bytes)
{
    enum status status = STATUS_OK;

    if (staging->locked)
        return STATUS_OK;
    phase_begin(PHASE_ALLOCATE, bytes);
    CUDA_TRY(cudaMallocHost(&staging->locked, bytes));
    memset(staging->locked, 0, bytes); /* padding of rows goes to the device, too */
    for (cudaEvent_t &event : staging->arrived)
        CUDA_TRY(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
out:
    phase_begin(PHASE_OTHER, 0);
    return status;
}

enum status staging_upload(struct staging *staging, struct image *device, const struct image *host, cudaStream_t stream)
{
    const size_t row_bytes = image_row_bytes(host), stride = device->stride;
    enum status status = STATUS_OK;

    phase_begin(PHASE_UPLOAD, image_pixel_bytes(host));
    for (int band = 0; band < STAGING_BANDS; band++) {
        const int first = band_begin(host, band), end = band_begin(host, band + 1);
        if (first == end)
            continue;
#pragma omp parallel for schedule(static) if (row_bytes * (size_t)(end - first) > WORTH_THREADS)
        for (int y = first; y < end; y++)
            memcpy(staging->locked + (size_t)y * stride, image_row(host, y), row_bytes);
        CUDA_TRY(cudaMemcpyAsync(image_row(device, first), staging->locked + (size_t)first * stride,
                                 (size_t)(end - first) * stride, cudaMemcpyHostToDevice, stream));
    }
out:
    phase_begin(PHASE_OTHER, 0);
    return status;
}

enum status staging_download(struct staging *staging, struct image *host, const struct image *device,
                             cudaStream_t stream)
{
    const size_t row_bytes = image_row_bytes(host), stride = device->stride;
    enum status status = STATUS_OK;

    phase_begin(PHASE_DOWNLOAD, image_pixel_bytes(host));
    for (int band = 0; band < STAGING_BANDS; band++) {
        const int first = band_begin(host, band), end = band_begin(host, band + 1);
        if (first < end)
            CUDA_TRY(cudaMemcpyAsync(staging->locked + (size_t)first * stride, image_row(device, first),
                                     (size_t)(end - first) * stride, cudaMemcpyDeviceToHost, stream));
        CUDA_TRY(cudaEventRecord(staging->arrived[band], stream));
    }
    for (int band = 0; band < STAGING_BANDS; band++) {
        CUDA_TRY(cudaEventSynchronize(staging->arrived[band]));
#pragma omp parallel for schedule(static) if (row_bytes * (size_t)host->height / STAGING_BANDS > WORTH_THREADS)
        for (int y = band_begin(host, band); y < band_begin(host, band + 1); y++)
            memcpy(image_row(host, y), staging->locked + (size_t)y * stride, row_bytes);
    }
out:
    phase_begin(PHASE_OTHER, 0);
    return status;
}

void staging_teardown(struct staging *staging)
{
    for (cudaEvent_t event : staging->arrived)
        if (event)
            cudaEventDestroy(event);
    if (staging->locked)
        cudaFreeHost(staging->locked);
    *staging = {};
}
