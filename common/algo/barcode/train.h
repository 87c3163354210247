/*
 * train.h: `rungs train barcode`: centroids of all patches, and of each the share of its patches that lie in a known
 * box.
 */
#ifndef RUNGS_BARCODE_TRAIN_H
#define RUNGS_BARCODE_TRAIN_H

#include "common/contract/algorithm.h"

extern const struct trainer barcode_trainer;

#endif
