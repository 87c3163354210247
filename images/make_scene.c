/*
 * make_scene.c: writes frames of the synthetic video (common/verify/scene.h) as FOLDER/frame_0000.png ...
 * usage: make_scene FOLDER WIDTH HEIGHT COUNT
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/image/image_io.h"
#include "common/verify/scene.h"

int main(int argc, char **argv)
{
    struct image frame = {0};
    char path[4096];
    int exit_status = 2;

    if (argc != 5) {
        fprintf(stderr, "usage: make_scene FOLDER WIDTH HEIGHT COUNT\n");
        return 2;
    }
    if (mkdir(argv[1], 0777) != 0 && errno != EEXIST) {
        fprintf(stderr, "make_scene: %s: %s\n", argv[1], strerror(errno));
        return 2;
    }
    if (image_create(&frame, atoi(argv[2]), atoi(argv[3]), 3, PIXEL_U8) != STATUS_OK)
        goto out;
    for (int i = 0; i < atoi(argv[4]); i++) {
        snprintf(path, sizeof path, "%s/frame_%04d.png", argv[1], i);
        scene_frame(&frame, i);
        if (image_save(&frame, path) != STATUS_OK)
            goto out;
    }
    exit_status = 0;
out:
    if (exit_status)
        fprintf(stderr, "make_scene: %s\n", status_message());
    image_free(&frame);
    return exit_status;
}
