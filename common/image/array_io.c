#include "common/image/array_io.h"

#include "common/core/file.h"
#include "common/image/envi.h"
#include "common/image/idx.h"
#include "common/image/image_io.h"
#include "common/image/npy.h"

static enum status load(struct image *array, const char *path, bool *picture, struct kept_pixels *kept)
{
    if (kept)
        *kept = (struct kept_pixels){0};
    *picture = false;
    if (file_has_extension(path, ".npy"))
        return npy_load_array(array, path, 0);
    if (envi_is_name(path))
        return envi_load(array, path, kept);
    if (idx_is_file(path))
        return idx_load(array, path);
    *picture = true;
    return image_load(array, path, 0);
}

enum status array_load(struct image *array, const char *path, struct kept_pixels *kept)
{
    bool picture;

    return load(array, path, &picture, kept);
}

enum status array_load_matrix(struct image *array, const char *path)
{
    bool picture;
    enum status status = load(array, path, &picture, NULL);

    if (status == STATUS_OK && picture && array->channels != 1) {
        status = status_set(STATUS_BAD_INPUT, "%s: a picture of %d channels where a matrix is wanted; gray ones are",
                            path, array->channels);
        image_free(array);
    }
    if (status == STATUS_OK) { /* in memory, too, a row is its samples one after the other */
        array->width *= array->channels;
        array->channels = 1;
    }
    return status;
}
