/*
 * Idea:     two scans over trees. The first copies the label of the neighbours before a pixel; where they lie in
 *           different trees, it hangs all roots under the least. The second replaces each label by its root's.
 * Changed:  the stack is gone, and with it the jumps: both scans go straight through memory. In its place each pixel
 *           has a parent, and find() walks from parent to parent up to the root.
 * Expect:   0.5 times one_pass' time on photographs, where most pixels only copy. No path is ever shortened, so that
 *           what a walk costs depends on the picture: on a comb each tooth adds a step, unlike in serial, which halves
 *           paths.
 * From:     cpu/one_pass
 */
/* Try: make bench-labelling VERSIONS=cpu/serial,cpu/one_pass,cpu/union_find,cpu/two_scan,cpu/front_back
 * Paper: Tarjan, Efficiency of a Good But Not Linear Set Union Algorithm, JACM 22(2), 1975. */
#include <stdlib.h>

#include "common/algo/labelling.h"

static bool is_foreground(const struct image *in, int x, int y)
{
    return x >= 0 && y >= 0 && x < in->width && y < in->height && ((const uint8_t *)image_row(in, y))[x];
}

static int32_t find(const int32_t *parent, int32_t i)
{
    while (parent[i] != i)
        i = parent[i];
    return i;
}

/* Gives the foreground pixel (x, y) a parent. */
static void scan_pixel(const struct image *in, int32_t *parent, int connectivity, int x, int y)
{
    const int dx[4] = {-1, 0, -1, 1}, dy[4] = {0, -1, -1, -1}; /* connectivity 4 takes the first two */
    int32_t *own = &parent[y * in->width + x];

    *own = y * in->width + x;
    for (int k = 0; k < connectivity / 2; k++) {
        if (!is_foreground(in, x + dx[k], y + dy[k]))
            continue;
        const int32_t root = find(parent, (y + dy[k]) * in->width + x + dx[k]);
        if (root < *own) {
            parent[*own] = root; /* the least so far is none any more */
            *own = root;
        } else
            parent[root] = *own;
    }
}

static enum status run(const struct image *in, struct image *out, const struct labelling_params *params)
{
    int32_t *parent = malloc((size_t)in->width * in->height * sizeof *parent);

    if (!parent)
        return status_set(STATUS_NO_MEMORY, "no memory for %dx%d parents", in->width, in->height);
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++)
            if (is_foreground(in, x, y))
                scan_pixel(in, parent, params->connectivity, x, y);
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++)
            ((int32_t *)image_row(out, y))[x] = is_foreground(in, x, y) ? find(parent, y * in->width + x) + 1 : 0;
    free(parent);
    return STATUS_OK;
}

RUNGS_CPU_VERSION(labelling, .declines = labelling_labels_only)
