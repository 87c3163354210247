/*
 * known.h: boxes that are known, of a CSV file: what barcode is trained with.
 */
#ifndef RUNGS_BARCODE_KNOWN_H
#define RUNGS_BARCODE_KNOWN_H

#include <stddef.h>

#include "common/core/status.h"

struct barcode_known_box {
    char file[1024]; /* without folders */
    int x_min, y_min, x_max, y_max;
};

/* Zeroed: none; items are the caller's to free. */
struct barcode_known {
    struct barcode_known_box *items;
    size_t count;
};

/* A path without its folders. */
const char *barcode_file_name(const char *path);
/* Of a file whose first line names the columns file, xmin, ymin, xmax, ymax. A byte-order mark does not count, and
 * fields may be in quotation marks. */
enum status barcode_read_known(const char *path, struct barcode_known *known);

#endif
