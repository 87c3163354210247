/*
 * barcode.h: boxes around barcodes, from the texture of patches. The contract of every version in cpu/barcode,
 * cuda/barcode and peers/barcode.
 *
 * Input    one u8 picture, 1 or 3 channels, at least one patch of 16x16 pixels.
 * Output   boxes  i32 table of max_boxes + 1 rows: x, y, width, height in pixels, by the first patch of each in raster
 *                 order. The first sample of row 0 is how many boxes there are, the rest of row 0 is 0.
 *          score  u8 picture of rows x columns of patches: 255 times the smoothed probability that a patch is barcode
 *
 * Formula  With the labels of texture.h (patch=16) and P of the model, the share of each centroid's patches that lay in
 *          a barcode when it was trained:
 *
 *              posterior = floor(255 P(label) + 0.5)
 *              score     = blur(posterior; ksize, sigma)                      blur.h
 *              boxes     = boxes(labelling(threshold(score; value); 8); min_area)    threshold.h, labelling.h, boxes.h
 *
 *          without those whose longer side is more than `ratio` times the shorter one: lines of text and edges, whose
 *          texture is that of bars, are long. Of more than 1024 boxes the first 1024 count.
 *
 *          The posterior is smoothed, not a mask: a patch that fits no barcode by itself counts less, not nothing.
 *          Boxes of patches become boxes of pixels, cut off at the picture's sides. All in integers: versions agree to
 *          the bit.
 *
 * Parameters   model      a .npy file of k x 257 in f32: centroids, and P in column 256; default models/barcode.npy, of
 *                         upright photographs; models/barcode_turned.npy is of turned and clean ones
 *              ksize, sigma, value, min_area    of the steps; areas in patches (barcode.c has the defaults)
 *              ratio      1 to 1024, default 3; a barcode seen from the front is 1 to 2.5 times as wide as it is high
 *              max_boxes  rows of the table, 1 to 1024
 *
 * Errors       as texture; a file without column 256, or with P outside of 0 to 1.
 *
 * Training     rungs train barcode PICTURE|FOLDER... --boxes boxes.csv -o MODEL: k-means over histograms, then for each
 *              centroid the share of its patches whose centre is in a box. The file of boxes has the columns file,
 *              xmin, ymin, xmax, ymax, others do not count; a picture that it does not name has no barcode. With
 *              `turns` each picture is seen in so many directions: the codes of bars change as they are turned, and a
 *              model knows those directions alone that it has seen.
 *
 * Peer         OpenCV's barcode::BarcodeDetector looks for areas of parallel gradients on several scales.
 *
 * Source   the aim of Schoose 2021, which stops at the map of colours: the cluster that stands for bars, and where it
 *          is dense.
 */
#ifndef RUNGS_BARCODE_H
#define RUNGS_BARCODE_H

#include <stdbool.h>

#include "common/algo/texture.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { BARCODE_PATCH = 16, BARCODE_COLUMNS = 4, BARCODE_CANDIDATES = 1024 };
enum { BARCODE_BOXES, BARCODE_SCORE };

struct barcode_params {
    struct model model;
    int ksize, value, min_area, ratio, max_boxes;
    double sigma;
};

/* posterior of each centroid, 0 to 255. */
void barcode_posteriors(const struct model *model, uint8_t posteriors[NEAREST_MAX_K]);
/* Whether a row of the table of boxes.h is not too long. */
static HOST_DEVICE inline bool barcode_fits(const int32_t *row, int ratio)
{
    return row[3] <= (int64_t)ratio * row[4] && row[4] <= (int64_t)ratio * row[3];
}

/* The table of boxes.h, in patches, as the output: in pixels of a picture of this size. */
void barcode_boxes(const struct image *patches, int ratio, int width, int height, struct image *boxes);

/* What follows the labels. */
struct barcode_steps {
    struct step blur, threshold, labelling, boxes;
    struct image labels, posterior, mask, components, table;
};

/* Opens the steps, all in the version `id`, for so many patches. Nothing is open on failure. */
enum status barcode_open(struct barcode_steps *steps, const struct image *score, const struct barcode_params *params,
                         const char *id);
/* From steps->labels to the outputs, for a picture of this size. */
enum status barcode_run(struct barcode_steps *steps, const struct barcode_params *params, int width, int height,
                        struct image out[]);
void barcode_close(struct barcode_steps *steps);

#ifdef __cplusplus
}
#endif
#endif
