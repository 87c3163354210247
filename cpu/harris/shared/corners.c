#include "cpu/harris/shared/corners.h"

enum status find_corners(const struct image *response, const struct harris_params *params, struct image *corners)
{
    struct harris_list list = {0};
    float largest = 0;
    enum status status = STATUS_OK;

#pragma omp parallel for schedule(static) reduction(max : largest)
    for (int y = 0; y < response->height; y++)
        for (int x = 0; x < response->width; x++)
            largest = fmaxf(largest, ((const float *)image_row(response, y))[x]);
    const float threshold = harris_threshold(params, largest);
#pragma omp parallel for schedule(dynamic, 16)
    for (int y = 0; y < response->height; y++) {
        const float *row = image_row(response, y);
        for (int x = 0; x < response->width; x++)
            if (row[x] > threshold && harris_is_peak(response, x, y, params->radius))
#pragma omp critical
                if (status == STATUS_OK)
                    status = harris_append(&list, harris_key(row[x], response->width, x, y));
    }
    return status == STATUS_OK ? harris_write_corners(&list, params, response->width, corners) : status;
}
