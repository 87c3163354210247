/*
 * texture.h: which texture each patch of a picture has: local binary patterns, then the nearest of some learned
 * centroids. The contract of every version in cpu/texture and cuda/texture.
 *
 * Input    one u8 picture, 1 or 3 channels, at least one patch wide and high.
 * Output   a u8 matrix of rows x columns of patches: the centroid of each, from 0; as a picture, the patches in
 *          colours.
 *
 * Formula  labels = nearest(lbp(grayscale(picture); patch), centroids), of grayscale.h (3 channels only), lbp.h and
 *          nearest.h: all in integers, so that all versions agree to the bit.
 *
 * Parameters   patch      side of a patch in pixels: 8 or 16 (default)
 *              centroids  a .npy file of k x 256 in f32, as `rungs train texture` writes it, or one of `rungs train
 *                         barcode`, whose column 256 does not count here; default models/barcode.npy
 *
 * Errors       not u8, not 1 or 3 channels, a side smaller than a patch; a file that is no matrix of centroids.
 *
 * Training     rungs train texture PICTURE|FOLDER... -o centroids.npy: k-means (kmeans.h) over the histograms of the
 *              patches of all pictures, at most `rows` of them, evenly spread.
 *
 * Source   Schoose 2021.
 */
#ifndef RUNGS_TEXTURE_H
#define RUNGS_TEXTURE_H

#include "common/algo/nearest.h"
#include "common/contract/pipeline.h"

#ifdef __cplusplus
extern "C" {
#endif

struct texture_params {
    int patch_index; /* as in lbp.h: 8 or 16 */
    struct model centroids;
};

/* What a file of centroids is in memory: k rows of `columns`, 256 components each and what follows them. */
struct texture_model {
    int k, columns;
    float values[];
};

/* Reads a file of 256 columns, or of 257, a model of barcode. */
enum status texture_load(const char *path, void **data, size_t *size);
/* The centroids as an input of nearest; the memory is the model's. */
struct image texture_centroids(const struct model *model);

/* The three steps, each with its own version, and what lies between them. Zeroed: nothing is open. */
struct texture_steps {
    struct step grayscale, lbp, nearest;
    struct image gray, histograms;
};

struct texture_versions {
    const char *grayscale, *lbp, *nearest; /* "cpu/omp" */
};

/* Opens the steps for pictures of this shape; nothing is open on failure. */
enum status texture_open(struct texture_steps *steps, const struct image *in, int patch,
                         const struct texture_versions *versions);
/* The gray picture, without the others: `in` itself where it is gray. */
enum status texture_gray(struct texture_steps *steps, const struct image *in, struct image *gray);
enum status texture_run(struct texture_steps *steps, const struct image *in, const struct image *centroids,
                        struct image *labels);
void texture_close(struct texture_steps *steps);

/* A picture that a training sees turned about its centre by 360 turn / turns degrees, clockwise, on a canvas that holds
 * all of it. What lies outside of the picture is 0. */
struct texture_view {
    const char *path;
    int width, height, turn, turns;
    int canvas_width, canvas_height;
    double cosine, sine;
};

/* Where the point (x, y) of the canvas lies in the picture, in pixels from its upper left corner. */
void texture_origin(const struct texture_view *view, double x, double y, double *from_x, double *from_y);

/* For trainings: the histograms of all patches of all pictures, each turned `turns` times. Calls take() for each turn
 * of each picture; a folder's are taken in the order of their names. */
typedef enum status (*texture_taker)(void *context, const struct texture_view *view, const struct image *histograms);
enum status texture_each(const struct training *training, int patch, int turns, texture_taker take, void *context);

/* k centroids of histograms (k-means with the best version of this CPU), into centroids, made here. */
enum status texture_cluster(const struct image *histograms, int k, int iterations, int seed, struct image *centroids);

#ifdef __cplusplus
}
#endif
#endif
