/*
 * detect_negatives.h: photographs without the object, and windows out of them that a detector still takes for one.
 *
 * Job n looks at one photograph, turned or mirrored and slightly shrunk as n says, and at all levels of its pyramid. So
 * there are many times more windows than the photographs have, and which ones a training sees depends on nothing but
 * its seed.
 */
#ifndef RUNGS_DETECT_NEGATIVES_H
#define RUNGS_DETECT_NEGATIVES_H

#include "common/train/detect_samples.h"

struct photographs {
    struct image *items; /* gray */
    int count, capacity;
};

/* What a training has looked at; part of its checkpoint. */
struct mining {
    uint64_t jobs;          /* done */
    double passing;         /* share of windows that were hits, in the last jobs */
    double windows, stages; /* looked at since mining_begin(), and stages that they went through */
};

/* Loads a picture, or all pictures of a folder in the order of their names; files that are no pictures are passed
 * over. */
enum status photographs_load(struct photographs *photographs, const char *path);
void photographs_free(struct photographs *photographs);

/* Adds windows that the first `stages` stages of the model do not reject, until the samples are full or `most_jobs`
 * jobs are done. Every `held`th goes to `held_out` instead, while there is room. */
enum status mine(const struct photographs *photographs, const struct detect_model *model, int stages, uint64_t seed,
                 int threads, int most_jobs, int held, struct mining *mining, struct samples *samples,
                 struct samples *held_out);

#endif
