#include "common/train/detect_boost.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/image/pattern.h"

enum {
    PAIRS = 12, /* of cells, tried at each place: their nine ranks are computed once */
    LANES = 4   /* counters of a bin, so that equal neighbours do not wait for each other */
};

/* Nine cells, and the pairs of them to be tried; of haar only the first one, as the stage has it. */
struct place {
    uint8_t x, y, width, height;
    uint8_t pairs[PAIRS][2];
};

/* Sums of weights by bin. */
struct table {
    uint32_t sums[2][256];
};

static int count_places(int window)
{
    int total = 0;

    for (int kind = 0; kind < SAMPLES_CELLS; kind++)
        total += (window - 3 * (kind % 2 + 1) + 1) * (window - 3 * (kind / 2 + 1) + 1);
    return total;
}

/* Makes `count` different ones, of all that there are, with `pairs` different pairs each. */
static void draw_places(struct place *places, int count, int window, int pairs, bool ordered, uint64_t seed)
{
    struct place all[SAMPLES_CELLS * DETECT_MAX_WINDOW * DETECT_MAX_WINDOW];
    int total = 0;

    for (int kind = 0; kind < SAMPLES_CELLS; kind++)
        for (int y = 0; y + 3 * (kind / 2 + 1) <= window; y++)
            for (int x = 0; x + 3 * (kind % 2 + 1) <= window; x++)
                all[total++] = (struct place){.x = (uint8_t)x,
                                              .y = (uint8_t)y,
                                              .width = (uint8_t)(kind % 2 + 1),
                                              .height = (uint8_t)(kind / 2 + 1)};
    for (int i = 0; i < count; i++) {
        const int from = i + (int)(pattern_random(&seed) % (uint64_t)(total - i));
        uint8_t cells[DETECT_CELLS * DETECT_CELLS][2];
        int left = 0;

        places[i] = all[from];
        all[from] = all[i];
        for (int a = 0; a < DETECT_CELLS; a++)
            for (int b = ordered ? 0 : a + 1; b < DETECT_CELLS; b++)
                if (a != b) {
                    cells[left][0] = (uint8_t)a;
                    cells[left++][1] = (uint8_t)b;
                }
        for (int k = 0; k < pairs; k++) {
            const int pick = (int)(pattern_random(&seed) % (uint64_t)left);

            memcpy(places[i].pairs[k], cells[pick], 2);
            memcpy(cells[pick], cells[--left], 2);
        }
    }
}

/* Rectangles: the kind first, then their size, then where they lie, each as likely as the others. Two may be the
 * same. */
static void draw_rectangles(struct place *places, int count, int window, uint64_t seed)
{
    for (int i = 0; i < count; i++) {
        const int kind = (int)(pattern_random(&seed) % DETECT_HAAR_KINDS);
        const int across = detect_haar_across(kind), down = detect_haar_down(kind);
        const int width = 1 + (int)(pattern_random(&seed) % (uint64_t)(window / across));
        const int height = 1 + (int)(pattern_random(&seed) % (uint64_t)(window / down));

        places[i] = (struct place){.x = (uint8_t)(pattern_random(&seed) % (uint64_t)(window - across * width + 1)),
                                   .y = (uint8_t)(pattern_random(&seed) % (uint64_t)(window - down * height + 1)),
                                   .width = (uint8_t)width,
                                   .height = (uint8_t)height,
                                   .pairs = {{(uint8_t)kind, (uint8_t)window}}};
    }
}

/* What all features of one place make of a block of samples. */
struct ranks {
    uint8_t of[DETECT_CELLS][SAMPLES_BLOCK];
};

static void rank_block(const uint8_t *const cells[], struct ranks *ranks)
{
    for (int k = 0; k < DETECT_CELLS; k++) {
        uint8_t *own = ranks->of[k];

#pragma omp simd
        for (int s = 0; s < SAMPLES_BLOCK; s++) {
            uint8_t rank = 0;
            for (int i = 0; i < DETECT_CELLS; i++)
                rank = (uint8_t)(rank + (cells[i][s] < cells[k][s]));
            own[s] = rank;
        }
    }
}

static void code_block(const uint8_t *const cells[], uint8_t *bins)
{
    static const int border[] = {0, 1, 2, 5, 8, 7, 6, 3};

#pragma omp simd
    for (int s = 0; s < SAMPLES_BLOCK; s++) {
        uint8_t code = 0;
        for (int i = 0; i < 8; i++)
            code = (uint8_t)(code | (cells[border[i]][s] > cells[4][s]) << i);
        bins[s] = code;
    }
}

/* Of rectangles: each corner of the grid that they make counts what the rectangles that meet there make of it. */
static void rectangle_block(const struct place *place, const struct samples *samples, int block, uint8_t *bins)
{
    const int kind = place->pairs[0][0], across = detect_haar_across(kind), down = detect_haar_down(kind);
    const int window = samples->window, pixels = place->width * place->height;
    const int32_t *sums = samples_sums(samples, block),
                  *deviations = samples->deviations + (size_t)block * SAMPLES_BLOCK;
    int differences[SAMPLES_BLOCK] = {0};

    for (int v = 0; v <= down; v++)
        for (int u = 0; u <= across; u++) {
            const int32_t *corner =
                sums +
                (size_t)((place->y + v * place->height) * (window + 1) + place->x + u * place->width) * SAMPLES_BLOCK;
            int factor = 0;

            for (int i = 0; i < 4;
                 i++) { /* the rectangle to the right and below counts it once, one beside it less once */
                const int column = u - i % 2, row = v - i / 2;
                if (column >= 0 && column < across && row >= 0 && row < down)
                    factor += (i == 0 || i == 3 ? 1 : -1) * detect_haar_weight(kind, row * across + column);
            }
#pragma omp simd
            for (int s = 0; s < SAMPLES_BLOCK; s++)
                differences[s] += factor * corner[s];
        }
#pragma omp simd
    for (int s = 0; s < SAMPLES_BLOCK; s++)
        bins[s] = (uint8_t)detect_haar_bin(differences[s], pixels, window, deviations[s]);
}

static void add_block(const uint8_t *bins, const uint32_t *weights, int bin_count, uint32_t *sums)
{
    uint32_t lanes[LANES][256];

    for (int lane = 0; lane < LANES; lane++)
        memset(lanes[lane], 0, (size_t)bin_count * sizeof **lanes);
    for (int s = 0; s < SAMPLES_BLOCK; s += LANES)
        for (int lane = 0; lane < LANES; lane++)
            lanes[lane][bins[s + lane]] += weights[s + lane];
    for (int bin = 0; bin < bin_count; bin++)
        sums[bin] += lanes[0][bin] + lanes[1][bin] + lanes[2][bin] + lanes[3][bin];
}

/* All pairs of one place on one block. */
static void add_place(const struct place *place, int pairs, const struct samples *samples, int block, int feature,
                      struct table tables[], int class)
{
    const uint32_t *weights = samples->weights + (size_t)block * SAMPLES_BLOCK;
    const uint8_t *cells[DETECT_CELLS];
    uint8_t bins[SAMPLES_BLOCK];
    struct ranks ranks;

    if (feature == DETECT_HAAR) {
        rectangle_block(place, samples, block, bins);
        add_block(bins, weights, detect_feature_bins[feature], tables[0].sums[class]);
        return;
    }
    const uint8_t *plane = samples_plane(samples, block, samples_cell_kind(place->width, place->height));
    for (int c = 0; c < DETECT_CELLS; c++)
        cells[c] = plane + SAMPLES_BLOCK *
                               ((place->y + c / 3 * place->height) * samples->window + place->x + c % 3 * place->width);
    if (feature == DETECT_LBP) {
        code_block(cells, bins);
        add_block(bins, weights, detect_feature_bins[feature], tables[0].sums[class]);
        return;
    }
    rank_block(cells, &ranks);
    for (int k = 0; k < pairs; k++) {
        const uint8_t *a = ranks.of[place->pairs[k][0]], *b = ranks.of[place->pairs[k][1]];

#pragma omp simd
        for (int s = 0; s < SAMPLES_BLOCK; s++)
            bins[s] = (uint8_t)(feature == DETECT_LRP ? DETECT_CELLS * a[s] + b[s] : a[s] - b[s] + DETECT_CELLS - 1);
        add_block(bins, weights, detect_feature_bins[feature], tables[k].sums[class]);
    }
}

static double normaliser(const struct table *table, int bins)
{
    double z = 0;

    for (int bin = 0; bin < bins; bin++)
        z += sqrt((double)table->sums[0][bin] * table->sums[1][bin]);
    return z;
}

enum status boost_choose(const struct samples *positives, const struct samples *negatives, int feature, int features,
                         uint64_t seed, int threads, struct detect_stage *stage, float *table, double *z)
{
    const int pairs = feature == DETECT_LBP || feature == DETECT_HAAR ? 1 : PAIRS, bins = detect_feature_bins[feature];
    const int wanted = (features + pairs - 1) / pairs, all = count_places(positives->window);
    const int count = feature == DETECT_HAAR || wanted < all ? wanted : all;
    const int part_size = feature == DETECT_HAAR ? 256 : 32;
    struct place *places = malloc((size_t)count * sizeof *places);
    struct table *tables = calloc((size_t)count * (size_t)pairs, sizeof *tables);
    double total[2] = {0, 0}, smoothing;
    int best = 0;
    enum status status = STATUS_OK;

    if (!places || !tables) {
        status = status_set(STATUS_NO_MEMORY, "no memory for %d features", features);
        goto out;
    }
    if (feature == DETECT_HAAR)
        draw_rectangles(places, count, positives->window, seed);
    else
        draw_places(places, count, positives->window, pairs, feature == DETECT_LRP, seed);
        /* A block's planes fit in the second-level cache: all places of a part go over one block before the next. The
         * sums of 16,000 samples are 40 MB, which each part reads from memory, so parts of rectangles are larger. */
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (int part = 0; part < count; part += part_size)
        for (int class = 0; class < 2; class ++)
            for (int block = 0; block < samples_blocks(class ? negatives : positives); block++)
                for (int i = part; i < part + part_size && i < count; i++)
                    add_place(&places[i], pairs, class ? negatives : positives, block, feature,
                              tables + (size_t)i * (size_t)pairs, class);

    *z = INFINITY;
    for (int i = 0; i < count * pairs; i++) {
        const double own = normaliser(&tables[i], bins);
        if (own < *z) {
            *z = own;
            best = i;
        }
    }
    for (int bin = 0; bin < bins; bin++)
        for (int class = 0; class < 2; class ++)
            total[class] += tables[best].sums[class][bin];
    *z /= sqrt(total[0] * total[1]);
    smoothing = 1.0 / (positives->count + negatives->count);
    for (int bin = 0; bin < bins; bin++)
        table[bin] = (float)(0.5 * log((tables[best].sums[0][bin] / total[0] + smoothing) /
                                       (tables[best].sums[1][bin] / total[1] + smoothing)));
    const struct place *place = &places[best / pairs];
    *stage = (struct detect_stage){.x = place->x, .y = place->y, .width = place->width, .height = place->height};
    if (feature != DETECT_LBP) {
        stage->a = place->pairs[best % pairs][0];
        stage->b = place->pairs[best % pairs][1];
    }
out:
    free(places);
    free(tables);
    return status;
}
