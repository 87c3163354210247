#include "common/verify/scene.h"

#include <stdlib.h>

/* A mobile: where it is in frame 1 and how it moves, in 1/1024 of the frame's width and height; its radius in 1/1024 of
 * the height; its colour. Positions bounce off the frame's edges. */
static const struct mobile {
    int x, y, dx, dy, radius;
    bool is_disc;
    uint8_t colour[3];
} mobiles[] = {
    {100, 300, 9, 2, 60, true, {230, 60, 50}},    {800, 200, -7, 3, 45, false, {40, 80, 200}},
    {500, 700, 4, -6, 80, true, {245, 240, 235}}, {300, 850, 6, 0, 35, false, {20, 20, 25}},
    {900, 600, -3, -5, 30, true, {60, 190, 90}},  {650, 420, -11, 1, 25, false, {250, 210, 70}},
};

static uint32_t hash(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t h = a * 0x9E3779B1u ^ b * 0x85EBCA77u ^ c * 0xC2B2AE3Du;

    h ^= h >> 15;
    h *= 0x2C1B3C6Du;
    h ^= h >> 12;
    h *= 0x297A2D39u;
    return h ^ h >> 15;
}

/* Of a point that started at `from` and moves by `step` a frame between 0 and 1023. */
static int bounced(int from, int step, int number)
{
    const int period = 2 * 1023, at = (from + step * number) % period;
    const int positive = at < 0 ? at + period : at;

    return positive < 1024 ? positive : period - positive;
}

static uint8_t clamped(int value)
{
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

static void draw(struct image *frame, const struct mobile *mobile, int number)
{
    const int centre_x = bounced(mobile->x, mobile->dx, number) * frame->width / 1024;
    const int centre_y = bounced(mobile->y, mobile->dy, number) * frame->height / 1024;
    const int radius = mobile->radius * frame->height / 1024;

    for (int y = centre_y - radius; y <= centre_y + radius; y++) {
        if (y < 0 || y >= frame->height)
            continue;
        uint8_t *row = image_row(frame, y);
        for (int x = centre_x - radius; x <= centre_x + radius; x++) {
            const int dx = x - centre_x, dy = y - centre_y;
            if (x < 0 || x >= frame->width || (mobile->is_disc && dx * dx + dy * dy > radius * radius))
                continue;
            for (int c = 0; c < 3; c++)
                row[3 * x + c] = mobile->colour[c];
        }
    }
}

void scene_frame(struct image *frame, int number)
{
    for (int y = 0; y < frame->height; y++) {
        uint8_t *row = image_row(frame, y);
        for (int x = 0; x < frame->width; x++) {
            const int grain = (int)(hash((uint32_t)x / 4, (uint32_t)y / 4, 0) >> 27);
            row[3 * x] = clamped(90 + 60 * x / frame->width + grain);
            row[3 * x + 1] = clamped(110 + 40 * y / frame->height + grain);
            row[3 * x + 2] = clamped(140 - 50 * x / frame->width + grain);
        }
    }
    for (size_t i = 0; number > 0 && i < sizeof mobiles / sizeof *mobiles; i++)
        draw(frame, &mobiles[i], number);
    for (int y = 0; y < frame->height; y++) {
        uint8_t *row = image_row(frame, y);
        for (int i = 0; i < 3 * frame->width; i++)
            row[i] = clamped(row[i] + (int)(hash((uint32_t)i, (uint32_t)y, (uint32_t)number + 1) >> 8) % 7 - 3);
    }
}
