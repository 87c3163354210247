/*
 * Problem:  cpu/row_lists first finds all runs, which waits for its own steps, then writes all
 *           labels, which waits for memory: while one is waited for, the other does not go on.
 * Idea:     Software pipelining over bands of rows: one thread finds the runs of a band while
 *           another writes the labels of an earlier one, so both waits overlap. Runs that a later
 *           band joins to another component are written again.
 * Expect:   On two threads 0.06 ms less than cpu/row_lists for a photograph of 1920x1080: finding
 *           takes 0.12 ms, writing 0.14 ms. One thread has one band and takes as long as before.
 * Run:      make diff-labelling A=cpu/row_lists B=cpu/overlap
 */
#include "common/algo/labelling.h"
#include "cpu/labelling/shared/bits.h"
#include "cpu/labelling/shared/lanes.h"
#include "cpu/labelling/shared/lists.h"
#include "cpu/labelling/shared/runs.h"

/* The first row of a band, of those before the first 0 and of those behind the last the height. The first and the
 * last are half as high as the others: else two threads would find runs at the same time, and store labels at the
 * same time. */
static int top_of(int height, int b, int bands)
{
    return b <= 0 ? 0 : b >= bands ? height : (int)((int64_t)height * (2 * b - 1) / (2 * bands - 2));
}

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
    const int top = top_of(in->height, b, runs->bands), bottom = top_of(in->height, b + 1, runs->bands);
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
    const int y = top_of(height, b, runs->bands);
    const int32_t *parent = runs->parent, own = runs->first[y] - 1, above = runs->first[y - 1] - 1;

    lists_make(lists, runs, connectivity, y);
    for (const struct list *list = &lists->links; list; list = list == &lists->links ? &lists->rest : NULL)
        for (int i = 0; i < list->count; i++)
            unite(runs->hung, parent[own + list->own[i]], parent[above + list->above[i]]);
}

/* Labels of the roots of band b that hang under others, below 0 where `mark`. Each has a run in the first row of the
 * band or in the last. Returns whether any label changed. */
static bool settle(const struct runs *runs, int height, int b, bool mark)
{
    const int rows[2] = {top_of(height, b, runs->bands), top_of(height, b + 1, runs->bands) - 1};
    bool changed = false;

    for (int k = 0; k < 2; k++)
        for (int32_t i = runs->first[rows[k]]; i < runs->first[rows[k]] + runs->count[rows[k]]; i++) {
            const int32_t own = runs->parent[i], label = runs->label[find(runs->hung, own)];
            if (abs(runs->label[own]) != label) {
                runs->label[own] = mark ? -label : label;
                changed = true;
            }
        }
    return changed;
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

/* Writes those runs of row y again whose label is below 0. */
static void write_again(const struct runs *runs, struct image *out, int y)
{
    const uint64_t *row = runs_bits(runs, y);
    int32_t *labels = image_row(out, y), next = runs->first[y];

    for (int word = 0; word < runs->words; word++)
        for (uint64_t starts = bits_starts(row + word); starts; starts &= starts - 1) {
            const int32_t label = runs->label[runs->parent[next++]];
            for (int x = 64 * word + __builtin_ctzll(starts); label < 0 && x < out->width && row[x / 64] >> x % 64 & 1;
                 x++)
                labels[x] = -label;
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
    const bool past = lanes_go_past(out);
    struct runs *runs = &state->runs;
    enum status status = runs_setup(runs, in);
    const int bands = runs->bands, lag = bands / 4; /* of a quarter of the picture less is to be written again */

    if (status != STATUS_OK)
        return status;
#pragma omp parallel
    {
        int32_t labels[1 + RUNS_MOST + LANES_BEHIND];
        struct lists lists;
        labels[0] = 0;
#pragma omp for ordered schedule(dynamic)
        for (int b = 0; b < bands + lag; b++) {
            if (b < bands)
                scan(in, runs, &lists, params->connectivity, b);
#pragma omp ordered
            {
                if (b > 0 && b < bands)
                    join_band(runs, &lists, params->connectivity, in->height, b);
                if (b >= lag)
                    settle(runs, in->height, b - lag, false);
            }
            for (int y = top_of(in->height, b - lag, bands); y < top_of(in->height, b - lag + 1, bands); y++)
                label_row(runs, out, labels + 1, y, past);
            simd_stream_end(); /* another thread may write some of it again */
        }
#pragma omp for schedule(dynamic)
        for (int b = 0; b < bands; b++)
            if (settle(runs, in->height, b, true))
                for (int y = top_of(in->height, b, bands); y < top_of(in->height, b + 1, bands); y++)
                    write_again(runs, out, y);
    }
    return STATUS_OK;
}

RUNGS_CPU_VERSION_WITH_STATE(labelling, .declines = labelling_labels_only, .instruction_set = SIMD_NAME)
