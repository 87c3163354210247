/*
 * Problem:  cpu/simd mispredicts two branches per word (64 pixels); a union waits for the last one.
 * Idea:     Pairs of touching runs are listed first, without branches (shared/lists.h). In its
 *           first pair a run copies the parent above; other pairs within one tree are dropped, so
 *           few unions are left.
 * Expect:   1.4 times as fast as cpu/simd: half of the time of uniting runs is such waiting.
 * Result:   1.01 times as fast as cpu/simd with 16 threads, 565 us
 *           (results/h100/labelling/labelling_3840x2160.json); the reason is not known.
 * Run:      make diff-labelling A=cpu/simd B=cpu/row_lists
 */
#include "common/algo/labelling.h"
#include "cpu/labelling/shared/bits.h"
#include "cpu/labelling/shared/lanes.h"
#include "cpu/labelling/shared/lists.h"
#include "cpu/labelling/shared/runs.h"

/* The first step needs no branch: most paths are that short. */
static int32_t find(const int32_t *parent, int32_t i)
{
    int32_t root = parent[parent[i]];

    while (parent[root] != root)
        root = parent[root];
    return root;
}

static void unite(int32_t *parent, int32_t i, int32_t k)
{
    const int32_t a = find(parent, i), b = find(parent, k), root = a < b ? a : b;

    parent[a] = parent[b] = parent[i] = parent[k] = root;
}

/* Unites the runs of row y, which have no parents yet, with those they touch in the row above. */
static void join_above(const struct runs *runs, struct lists *lists, int connectivity, int y)
{
    const int32_t own = runs->first[y] - 1, above = runs->first[y - 1] - 1;
    const struct list *links = &lists->links;
    struct list *rest = &lists->rest;
    int32_t *parent = runs->parent;
    int unequal = 0;

    lists_make(lists, runs, connectivity, y);
    for (int i = 0; i < links->count; i++)
        parent[own + links->own[i]] = parent[above + links->above[i]];
    for (int i = 0; i < rest->count; i++) {
        const uint16_t k = rest->own[i], m = rest->above[i];
        rest->own[unequal] = k;
        rest->above[unequal] = m;
        unequal += parent[own + k] != parent[above + m];
    }
    for (int i = 0; i < unequal; i++)
        if (parent[own + rest->own[i]] != parent[above + rest->above[i]])
            unite(parent, own + rest->own[i], above + rest->above[i]);
}

/* The bits of row y, and a tree for each of its runs. Returns how many. */
static int find_runs(const struct image *in, struct runs *runs, int y)
{
    int32_t *parent = runs->parent + runs->first[y], *label = runs->label + runs->first[y];
    uint16_t *before = runs->before + (size_t)y * runs->words;
    const int32_t words = runs->words, base = y * in->width + 1;
    uint64_t *row = runs_bits(runs, y);
    int count = 0;

    for (int word = 0; word < words; word++)
        row[word] = bits_of(in, y, word);
    for (int word = 0; word < words; word++) {
        before[word] = (uint16_t)count;
        count += lanes_positions(bits_starts(row + word), base + 64 * word, label + count);
    }
    for (int i = 0; i < count; i++)
        parent[i] = runs->first[y] + i;
    return count;
}

/* Trees of the rows of band b. Their paths end up one step long. */
static void scan(const struct image *in, struct runs *runs, struct lists *lists, int connectivity, int b)
{
    const int top = bands_top(in->height, b, runs->bands), bottom = bands_top(in->height, b + 1, runs->bands);
    int32_t next = top * runs->most + b * RUNS_SLACK;

    for (int y = top; y < bottom; y++) {
        runs->first[y] = next;
        next += runs->count[y] = find_runs(in, runs, y);
        if (y > top)
            join_above(runs, lists, connectivity, y);
    }
    for (int32_t i = runs->first[top]; i < next; i++) { /* parents come first, so theirs are final */
        runs->parent[i] = runs->parent[runs->parent[i]];
        runs->hung[i] = runs->parent[i];
    }
}

/* Joins band b to the bands above. Parents stay as the scans left them: only roots are hung under others. */
static void join_band(const struct runs *runs, struct lists *lists, int connectivity, int height, int b)
{
    const int y = bands_top(height, b, runs->bands);
    const int32_t *parent = runs->parent, own = runs->first[y] - 1, above = runs->first[y - 1] - 1;

    lists_make(lists, runs, connectivity, y);
    for (const struct list *list = &lists->links; list; list = list == &lists->links ? &lists->rest : NULL)
        for (int i = 0; i < list->count; i++)
            unite(runs->hung, parent[own + list->own[i]], parent[above + list->above[i]]);
}

/* Labels of the roots of band b that hang under others. Each has a run in the first row of the band or in the last. */
static void settle(const struct runs *runs, int height, int b)
{
    const int rows[2] = {bands_top(height, b, runs->bands), bands_top(height, b + 1, runs->bands) - 1};

    for (int k = 0; k < 2; k++)
        for (int32_t i = runs->first[rows[k]]; i < runs->first[rows[k]] + runs->count[rows[k]]; i++) {
            const int32_t own = runs->parent[i], label = runs->label[find(runs->hung, own)];
            if (runs->label[own] != label)
                runs->label[own] = label;
        }
}

/* Only reads the trees. `labels` has room for those of a row's runs, 1 before them and LANES_BEHIND behind. Not
 * inline: there gcc sees that nothing overlaps, and gathers labels by vectors, which takes longer than one by one. */
__attribute__((noinline)) static void label_row(const struct runs *runs, struct image *out, int32_t *labels, int y,
                                                bool past)
{
    for (int i = 0; i < runs->count[y]; i++)
        labels[i] = runs->label[runs->parent[runs->first[y] + i]];
    lanes_row(runs, out, labels, y, past);
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
    const bool past = lanes_go_past(out);
    struct runs *runs = &state->runs;
    enum status status = runs_setup(runs, in);

    if (status != STATUS_OK)
        return status;
#pragma omp parallel
    {
        int32_t labels[1 + RUNS_MOST + LANES_BEHIND];
        struct lists lists;
        labels[0] = 0;
#pragma omp for schedule(dynamic)
        for (int b = 0; b < runs->bands; b++)
            scan(in, runs, &lists, params->connectivity, b);
#pragma omp single
        for (int b = 1; b < runs->bands; b++)
            join_band(runs, &lists, params->connectivity, in->height, b);
#pragma omp for schedule(dynamic)
        for (int b = 0; b < runs->bands; b++)
            settle(runs, in->height, b);
#pragma omp for schedule(dynamic, 16)
        for (int y = 0; y < in->height; y++)
            label_row(runs, out, labels + 1, y, past);
        simd_stream_end();
    }
    return STATUS_OK;
}

RUNGS_CPU_VERSION_WITH_STATE(labelling, .declines = labelling_labels_only, .instruction_set = SIMD_NAME)
