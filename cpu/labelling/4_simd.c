/*
 * Problem:  cpu/bit_masks writes label by label, and each store first reads its line from memory.
 * Idea:     A permutation gives 16 pixels the labels of their runs at once (shared/lanes.h,
 *           AVX-512), so no loop over a run ends with a mispredicted branch. Streaming stores write
 *           whole cache lines without reading them.
 * Expect:   3 times as fast as cpu/bit_masks.
 * Result:   2.0 times as fast as cpu/bit_masks with 16 threads, 569 us; the reason is not known
 *           (results/h100/labelling/labelling_3840x2160.json).
 * Run:      make diff-labelling A=cpu/bit_masks B=cpu/simd
 */
#include "common/algo/labelling.h"
#include "cpu/labelling/shared/bits.h"
#include "cpu/labelling/shared/lanes.h"
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

/* Unites the runs of row y with those they touch in the row above. */
static void join_above(const struct runs *runs, int connectivity, int y)
{
    const uint64_t *row = runs_bits(runs, y), *above = runs_bits(runs, y - 1);
    const uint16_t *before = runs->before + (size_t)y * runs->words, *up_before = before - runs->words;

    for (int word = 0; word < runs->words; word++) {
        const uint64_t starts = bits_starts(row + word), up_starts = bits_starts(above + word);
        const int32_t run = runs->first[y] + before[word] - 1, up = runs->first[y - 1] + up_before[word] - 1;
        for (uint64_t pairs = bits_pairs(row + word, above + word, connectivity); pairs; pairs &= pairs - 1) {
            const uint64_t up_to = pairs ^ (pairs - 1);
            unite(runs->parent, run + __builtin_popcountll(starts & up_to),
                  up + __builtin_popcountll(up_starts & up_to));
        }
    }
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
static void scan(const struct image *in, struct runs *runs, int connectivity, int b)
{
    const int top = bands_top(in->height, b, runs->bands), bottom = bands_top(in->height, b + 1, runs->bands);
    int32_t next = top * runs->most + b * RUNS_SLACK;

    for (int y = top; y < bottom; y++) {
        runs->first[y] = next;
        next += runs->count[y] = find_runs(in, runs, y);
        if (y > top)
            join_above(runs, connectivity, y);
    }
    for (int32_t i = runs->first[top]; i < next; i++) /* parents come first, so theirs are final */
        runs->parent[i] = runs->parent[runs->parent[i]];
}

/* Only reads the trees. `labels` has room for those of a row's runs, 1 before them and LANES_BEHIND behind. */
static void label_row(const struct runs *runs, struct image *out, int32_t *labels, int y, bool past)
{
    for (int i = 0; i < runs->count[y]; i++)
        labels[i] = runs->label[find(runs->parent, runs->first[y] + i)];
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
        labels[0] = 0;
#pragma omp for schedule(dynamic)
        for (int b = 0; b < runs->bands; b++)
            scan(in, runs, params->connectivity, b);
#pragma omp single
        for (int b = 1; b < runs->bands; b++)
            join_above(runs, params->connectivity, bands_top(in->height, b, runs->bands));
#pragma omp for schedule(dynamic, 16)
        for (int y = 0; y < in->height; y++)
            label_row(runs, out, labels + 1, y, past);
        simd_stream_end();
    }
    return STATUS_OK;
}

RUNGS_CPU_VERSION_WITH_STATE(labelling, .declines = labelling_labels_only, .instruction_set = SIMD_NAME)
