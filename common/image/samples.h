/*
 * samples.h: samples as array files hold them (npy.h, envi.h, idx.h), and as images hold them.
 */
#ifndef RUNGS_SAMPLES_H
#define RUNGS_SAMPLES_H

#include <stdio.h>

#include "common/image/image.h"

enum file_sample { FILE_U8, FILE_U16, FILE_I16, FILE_I32, FILE_U32, FILE_F32, FILE_F64 };

/* Bytes of one sample in the file. */
size_t file_sample_size(enum file_sample sample);
/* The pixel type that holds all its values: of i16, which images do not have, f32, which
 * algorithms of cubes take. */
enum pixel_type file_sample_type(enum file_sample sample);

/* Reads `count` samples into `to`, an array of `type`: file_sample_type(), or PIXEL_F32 for FILE_F64, which is rounded
 * and becomes infinite beyond its range. swapped: the file's byte order is not this machine's. False when the file ends
 * before that. */
bool file_samples_read(FILE *stream, enum file_sample sample, bool swapped, void *to, enum pixel_type type,
                       size_t count);

#endif
