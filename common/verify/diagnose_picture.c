#include <math.h>

#include "common/image/image_io.h"
#include "common/verify/diagnose.h"

enum status diagnose_picture(const struct evidence *evidence, const char *path)
{
    const struct image *expected = evidence->expected, *actual = evidence->actual;
    const int width = expected->width, height = expected->height, channels = expected->channels;
    const int side = width > height ? width : height, factor = side >= 512 ? 1 : side >= 32 ? 512 / side : 16;
    struct image picture = {0};
    double worst = 0, largest = 0;
    enum status status = STATUS_OK;

    TRY(image_create(&picture, width * factor, height * factor, 3, PIXEL_U8));
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            for (int c = 0; c < channels; c++) {
                const double e = image_sample(expected, x, y, c), d = image_sample(actual, x, y, c) - e;

                if (isfinite(d) && fabs(d) > worst)
                    worst = fabs(d);
                if (isfinite(e) && fabs(e) > largest)
                    largest = fabs(e);
            }
        }
    }

    for (int y = 0; y < picture.height; y++) {
        uint8_t *out = image_row(&picture, y);

        for (int x = 0; x < picture.width; x++, out += 3) {
            const int from_x = x / factor, from_y = y / factor;
            double most = 0, gray = 0;
            bool lost = false;

            for (int c = 0; c < channels; c++) {
                const double e = image_sample(expected, from_x, from_y, c);
                const double d = image_sample(actual, from_x, from_y, c) - e;
                const size_t i = ((size_t)from_y * (size_t)width + (size_t)from_x) * (size_t)channels + (size_t)c;

                lost |= !isfinite(d) || (evidence->unwritten && evidence->unwritten[i]);
                if (!(fabs(d) <= evidence->tolerance) && fabs(d) > fabs(most))
                    most = d;
                gray += isfinite(e) && largest > 0 ? fabs(e) / largest / channels : 0;
            }
            out[0] = out[1] = out[2] = (uint8_t)(60 * gray);
            if (lost) {
                out[0] = out[1] = 255;
                out[2] = 0;
            } else if (most != 0) {
                /* The square root keeps small differences visible beside large ones. */
                const uint8_t bright = (uint8_t)(90 + 165 * sqrt(fabs(most) / worst));

                out[0] = most > 0 ? bright : 0;
                out[1] = 0;
                out[2] = most > 0 ? 0 : bright;
            }
        }
    }
    TRY(image_save(&picture, path));
out:
    image_free(&picture);
    return status;
}
