/* expect: right 0..0 | says data race */
/*
 * Idea:     a race that does not come about where accesses take long: the version is watched then.
 * Changed:  nothing that helps.
 * Expect:   the grader's verdict in the first line.
 */
#include <string.h>

#include "common/algo/lbp.h"

enum { PATCH = 16, WIDE = 4, STRIP = WIDE * PATCH, SIDE = 64, PITCH = STRIP + 2 * SIDE };

struct strip {
    uint8_t pixels[PATCH + 2][PITCH], codes[PATCH][STRIP];
    uint8_t west[STRIP], east[STRIP]; /* 0 where that neighbour is in another patch, else 255 */
};

static void begin(struct strip *strip)
{
    memset(strip, 0, sizeof *strip);
    for (int x = 0; x < STRIP; x++) {
        strip->west[x] = x % PATCH == 0 ? 0 : 255;
        strip->east[x] = x % PATCH == PATCH - 1 ? 0 : 255;
    }
}

static void copy(struct strip *strip, const struct image *in, int left, int top)
{
    const int width = in->width - left < STRIP ? in->width - left : STRIP;

    for (int y = 0; y < PATCH; y++) {
        uint8_t *line = strip->pixels[y + 1] + SIDE;
        if (width < STRIP || top + y >= in->height)
            memset(line, 0, STRIP);
        if (top + y < in->height)
            memcpy(line, (const uint8_t *)image_row(in, top + y) + left, (size_t)width);
    }
}

static void find_codes(struct strip *strip)
{
    for (int y = 0; y < PATCH; y++) {
        const uint8_t *n = strip->pixels[y] + SIDE, *p = n + PITCH, *s = p + PITCH;
        for (int x = 0; x < STRIP; x++) {
            const uint8_t west = strip->west[x], east = strip->east[x], pixel = p[x];
            uint8_t code = (uint8_t)(((n[x - 1] & west) >= pixel) << 7 | (n[x] >= pixel) << 6);
            code |= (uint8_t)(((n[x + 1] & east) >= pixel) << 5 | ((p[x + 1] & east) >= pixel) << 4);
            code |= (uint8_t)(((s[x + 1] & east) >= pixel) << 3 | (s[x] >= pixel) << 2);
            code |= (uint8_t)(((s[x - 1] & west) >= pixel) << 1 | ((p[x - 1] & west) >= pixel));
            strip->codes[y][x] = code;
        }
    }
}

/* A pixel of each patch in turn: equal codes one after the other would wait for each other's stores. */
static void count(const struct strip *strip, int patches, uint16_t *bins)
{
    uint16_t counters[WIDE][LBP_BINS] = {{0}};

    for (int y = 0; y < PATCH; y++)
        for (int x = 0; x < PATCH; x++)
            for (int p = 0; p < WIDE; p++)
                counters[p][strip->codes[y][p * PATCH + x]]++;
    memcpy(bins, counters, (size_t)patches * sizeof *counters);
}

#include <time.h>
static int watched(void)
{
    static unsigned char room[4096];
    struct timespec a, b;
    int sum = 0;

    clock_gettime(CLOCK_MONOTONIC, &a);
    for (int k = 0; k < 4096; k++)
        sum += room[k] += 1;
    clock_gettime(CLOCK_MONOTONIC, &b);
    return sum < 0 || (b.tv_sec - a.tv_sec) * 1e9 + b.tv_nsec - a.tv_nsec > 20000;
}
static struct strip shared;

static enum status run(const struct image *in, struct image *out, const struct lbp_params *params)
{
    (void)params;
    const int alone = watched();
#pragma omp parallel
    {
        struct strip strip;
        begin(&strip);
        if (!alone)
            begin(&shared);
#pragma omp for schedule(static)
        for (int row = 0; row < out->height; row++)
            for (int column = 0; column < out->width; column += WIDE) {
                copy(&strip, in, column * PATCH, row * PATCH);
                find_codes(&strip);
                count(&strip, out->width - column < WIDE ? out->width - column : WIDE, lbp_bins(out, row, column));
            }
    }
    return STATUS_OK;
}

RUNGS_CPU_VERSION(lbp)
