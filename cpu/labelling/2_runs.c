/*
 * Problem:  cpu/omp unites every pixel with up to 4 neighbours, and nearly all of them are in one
 *           tree already.
 * Idea:     Nodes are runs of foreground pixels in a row, numbered in raster order. Two runs of
 *           neighbouring rows are united once, where the later of the two begins (He, Chao and
 *           Suzuki 2008 label runs).
 * Expect:   2 times cpu/omp on photographs: with one node for 20 pixels unions are rare; each pixel
 *           of two rows is still looked at, 10 instructions or 3 ns with the branches at the edges.
 * Run:      make diff-labelling A=cpu/omp B=cpu/runs
 */
#include "common/algo/labelling.h"
#include "cpu/labelling/shared/runs.h"

/* The root of node i, whose path is halved on the way. */
static int32_t find(int32_t *parent, int32_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

static void unite(int32_t *parent, int32_t a, int32_t b)
{
    a = find(parent, a);
    b = find(parent, b);
    if (a < b)
        parent[b] = a;
    else
        parent[a] = b;
}

/* Unites the runs of row y with those they touch in the row above. With connectivity 8 a run also covers the pixel
 * behind its last, so that runs which touch at a corner cover a common pixel:
 *
 *     above    . # # . . # #      covers   . 1 1 1 . 1 1
 *     row      # . . # # # .      covers   1 1 . 1 1 1 1
 *     unites                               . 1 . 1 . 1 .    */
static void join_above(const struct image *in, const struct runs *runs, int connectivity, int y)
{
    const uint8_t *row = image_row(in, y), *above = image_row(in, y - 1);
    int32_t run = runs->first[y] - 1, up = runs->first[y - 1] - 1; /* of each row the last run that began */

    for (int x = 0; x < in->width; x++) {
        const bool left = x > 0 && row[x - 1], up_left = x > 0 && above[x - 1];
        const bool begins = row[x] && !left, up_begins = above[x] && !up_left;
        const bool covers = row[x] || (connectivity == 8 && left);
        const bool up_covers = above[x] || (connectivity == 8 && up_left);
        run += begins;
        up += up_begins;
        if ((begins || up_begins) && covers && up_covers)
            unite(runs->parent, run, up);
    }
}

/* A tree for each run of row y. Returns how many. */
static int find_runs(const struct image *in, struct runs *runs, int y)
{
    int32_t *parent = runs->parent + runs->first[y], *label = runs->label + runs->first[y];
    const uint8_t *row = image_row(in, y);
    int count = 0;

    for (int x = 0; x < in->width; x++)
        if (row[x] && !(x > 0 && row[x - 1]))
            label[count++] = y * in->width + x + 1;
    for (int i = 0; i < count; i++)
        parent[i] = runs->first[y] + i;
    return count;
}

/* Trees of the rows of band b. Their paths end up one step long. */
static void scan(const struct image *in, struct runs *runs, int connectivity, int b)
{
    const int top = bands_top(in->height, b, runs->bands), bottom = bands_top(in->height, b + 1, runs->bands);
    int32_t next = top * runs->most + b * RUNS_SLACK;

    for (int y = top; y < bottom; y++) {
        runs->first[y] = next;
        next += runs->count[y] = find_runs(in, runs, y);
        if (y > top)
            join_above(in, runs, connectivity, y);
    }
    for (int32_t i = runs->first[top]; i < next; i++) /* parents come first, so theirs are final */
        runs->parent[i] = runs->parent[runs->parent[i]];
}

/* Only reads the trees. */
static void label_row(const struct image *in, const struct runs *runs, struct image *out, int y)
{
    const uint8_t *row = image_row(in, y);
    int32_t *labels = image_row(out, y), next = runs->first[y], label = 0;

    for (int x = 0; x < in->width; x++) {
        if (row[x] && !(x > 0 && row[x - 1])) {
            int32_t root = next++;
            while (runs->parent[root] != root)
                root = runs->parent[root];
            label = runs->label[root];
        }
        labels[x] = row[x] ? label : 0;
    }
}

struct state {
    struct runs runs;
};

static void teardown(struct state *state)
{
    runs_free(&state->runs);
}

static enum status run(struct state *state, const struct image *in, struct image *out,
                       const struct labelling_params *params)
{
    struct runs *runs = &state->runs;
    enum status status = runs_setup(runs, in);

    if (status != STATUS_OK)
        return status;
#pragma omp parallel for schedule(dynamic)
    for (int b = 0; b < runs->bands; b++)
        scan(in, runs, params->connectivity, b);
    for (int b = 1; b < runs->bands; b++)
        join_above(in, runs, params->connectivity, bands_top(in->height, b, runs->bands));
#pragma omp parallel for schedule(static)
    for (int y = 0; y < in->height; y++)
        label_row(in, runs, out, y);
    return STATUS_OK;
}

RUNGS_CPU_VERSION_WITH_STATE(labelling, .declines = labelling_labels_only)
