/*
 * scene.h: a video that needs no file: discs and rectangles wander over a background of gradients and grain, before a
 * camera that stands still. What the bench and the pictures of the documentation use where there is no real video.
 *
 * Frame t is a function of t and the image's size alone, in integers: the same on every machine. Frame 0 shows the
 * background by itself. Brightness and colour of the background stay; every frame has fresh noise of +-3 gray levels.
 */
#ifndef RUNGS_SCENE_H
#define RUNGS_SCENE_H

#include "common/image/image.h"

/* Fills *frame, u8 with 3 channels, with frame `number` (>= 0). */
void scene_frame(struct image *frame, int number);

#endif
