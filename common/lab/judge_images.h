/*
 * judge_images.h: inputs and outputs in the memory that a worker sees.
 */
#ifndef RUNGS_JUDGE_IMAGES_H
#define RUNGS_JUDGE_IMAGES_H

#include "common/remote/remote.h"

/* Makes new inputs as the contract wants them, the first of shape width, height, channels, where 0 channels are the
 * algorithm's own number; to be freed with inputs_free(). */
enum status judge_make(const struct algorithm *algorithm, const int shape[3], uint64_t seed, const void *params,
                       struct image in[]);
/* Memory for an image like this one; its pixels are not copied. */
enum status judge_place(struct remote *remote, struct image *image, const struct image *like);
/* The same for all outputs; absent ones stay absent. */
enum status judge_place_outputs(struct remote *remote, struct image out[], const struct image like[]);
/* The parameters of requests, once for a worker; models that they point to are copied, for a worker opens no file. */
enum status judge_place_params(struct remote *remote, const struct algorithm *algorithm, const void *params);

#endif
