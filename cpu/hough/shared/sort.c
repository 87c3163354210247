#include "cpu/hough/shared/sort.h"

#include <omp.h>

/* The point that comes at place i: one from each of HANDS parts of the list, then the next from each. What does not
 * fill a round stays at the end. */
static size_t dealt(size_t i, size_t count)
{
    enum { HANDS = 16 };
    const size_t rounds = count / HANDS;

    return i < HANDS * rounds ? rounds * (i % HANDS) + i / HANDS : i;
}

/* places[t * stride + bin]: how many points of that bin thread t's share has, then where the next of them goes. */
enum status sort_points(const struct points *points, int bins, struct points *sorted)
{
    const size_t threads = (size_t)omp_get_max_threads(), all = (size_t)bins, count = points->count;
    const size_t stride = all + 8; /* no two threads count in one line of 64 bytes: false sharing */
    const bool one = bins == 1;    /* then bins are not set */
    size_t *starts = sorted->starts ? sorted->starts : malloc((all + 1) * sizeof *starts);
    size_t *places = calloc(threads * stride, sizeof *places);

    sorted->starts = starts;
    sorted->count = 0;
    if (!starts || !places) {
        free(places);
        return status_set(STATUS_NO_MEMORY, "no memory for %d bins", bins);
    }
#pragma omp parallel for schedule(static, 1)
    for (size_t t = 0; t < threads; t++)
        for (size_t i = count * t / threads; i < count * (t + 1) / threads; i++)
            places[t * stride + (one ? 0 : points->bins[dealt(i, count)])]++;
    for (size_t bin = 0; bin < all; bin++) {
        starts[bin] = sorted->count;
        for (size_t t = 0; t < threads; t++) {
            const size_t own = places[t * stride + bin];
            places[t * stride + bin] = sorted->count;
            sorted->count += own;
        }
    }
    starts[all] = sorted->count;
#pragma omp parallel for schedule(static, 1)
    for (size_t t = 0; t < threads; t++)
        for (size_t i = count * t / threads; i < count * (t + 1) / threads; i++) {
            const size_t from = dealt(i, count), to = places[t * stride + (one ? 0 : points->bins[from])]++;
            sorted->x[to] = points->x[from];
            sorted->y[to] = points->y[from];
        }
    free(places);
    return STATUS_OK;
}
