#include "cuda/texture/shared/textures.h"

#include <stdio.h>

static void tune(struct step *step, const struct tunable *tunables)
{
    for (const struct tunable *tunable = tunables; tunable && tunable->name; tunable++)
        step_tune(step, tunable->name, *tunable->value);
}

enum status textures_open(struct textures *textures, const struct image *in, int patch, const struct model *model,
                          const struct texture_versions *versions, const struct tunable *tunables)
{
    const struct image centroids = texture_centroids(model);
    struct image gray = *in, histograms;
    enum status status = STATUS_OK;
    char settings[32];

    if (!textures->centroids.data) {
        snprintf(settings, sizeof settings, "patch=%d", patch);
        if (in->channels == 3) {
            TRY(step_open(&textures->grayscale, "grayscale", "grayscale", versions->grayscale, ""));
            TRY(step_shape(&textures->grayscale, in, &gray));
            TRY(device_image_create(&textures->gray, &gray));
        }
        TRY(step_open(&textures->lbp, "lbp", "lbp", versions->lbp, settings));
        TRY(step_open(&textures->nearest, "nearest", "nearest", versions->nearest, ""));
        TRY(step_shape(&textures->lbp, &gray, &histograms));
        TRY(device_image_create(&textures->histograms, &histograms));
        TRY(device_image_create(&textures->centroids, &centroids));
        TRY(device_upload(&textures->centroids, &centroids));
    }
    if (textures->grayscale.version)
        tune(&textures->grayscale, tunables);
    tune(&textures->lbp, tunables);
    tune(&textures->nearest, tunables);
out:
    return status;
}

enum status textures_launch(struct textures *textures, const struct image *in, struct image *labels,
                            cudaStream_t stream)
{
    const struct image *gray = in->channels == 3 ? &textures->gray : in;
    const struct image both[2] = {textures->histograms, textures->centroids};
    enum status status = STATUS_OK;

    if (in->channels == 3)
        TRY(step_run(&textures->grayscale, in, &textures->gray, stream));
    TRY(step_run(&textures->lbp, gray, &textures->histograms, stream));
    TRY(step_run(&textures->nearest, both, labels, stream));
out:
    return status;
}

void textures_close(struct textures *textures)
{
    struct step *steps[] = {&textures->grayscale, &textures->lbp, &textures->nearest};
    struct image *images[] = {&textures->gray, &textures->histograms, &textures->centroids};

    for (struct step *step : steps)
        if (step->version)
            step_close(step);
    for (struct image *image : images)
        device_image_free(image);
}
