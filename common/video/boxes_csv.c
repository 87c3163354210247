#include "common/video/boxes_csv.h"

#include <stdio.h>
#include <string.h>

#include "common/algo/boxes.h"

enum status boxes_csv_create(struct output_file *file, const char *path)
{
    static const char header[] = "frame,id,bb_left,bb_top,bb_width,bb_height,conf,x,y,z\n";
    const enum status status = file_create(file, path);

    if (status == STATUS_OK)
        file_write(file, header, sizeof header - 1);
    return status;
}

void boxes_csv_add(struct output_file *file, long frame, const struct image *table)
{
    const int count = boxes_count(table);

    for (int k = 1; k <= count; k++) {
        const int32_t *row = image_row(table, k);
        char line[128];
        const int length =
            snprintf(line, sizeof line, "%ld,-1,%d,%d,%d,%d,1,-1,-1,-1\n", frame, row[1], row[2], row[3], row[4]);

        file_write(file, line, (size_t)length);
    }
}
