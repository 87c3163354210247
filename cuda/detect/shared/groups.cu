#include "cuda/detect/shared/groups.h"

#include "cuda/detect/shared/sorted.cuh"

enum {
    THREADS = 1024, /* of the kernels with one block */
    EACH = DETECT_MAX_HITS / THREADS,
    LANES = 32,
    SORT_BLOCKS = 64,
    AHEAD = 8, /* words in flight */
    WORDS = DETECT_MAX_HITS / LANES,
    MARK_WORDS = WORDS / LANES,
    PAIR_THREADS = 128,
    PAIR_BLOCKS = 1024,
    MEMBER_BIT = 48 /* above all votes: 4096 of at most 1.5e6 * 1024 */
};

static __device__ struct detect_box box_of(uint64_t key, const struct pyramid_layout &layout, int window)
{
    return detect_find_box(detect_key_place(key, &layout), &layout, window);
}

static __device__ void note(const struct group_notes &notes, int own, struct detect_place place,
                            const struct pyramid_layout &layout, int window)
{
    notes.places[own] = place;
    notes.boxes[own] = detect_find_box(place, &layout, window);
}

/* When all hits fit, a warp finds the place of each: the number of stronger ones. Else block 0 selects and sorts. Notes places
 * and boxes where there is room for them, and that no word of overlaps has a bit. */
static __global__ void __launch_bounds__(THREADS)
    sort_kernel(struct hit_list list, int maximum, int *count, uint64_t *keys, struct group_notes notes,
                const __grid_constant__ struct pyramid_layout layout, int window)
{
    __shared__ struct sorted_hits sorted;
    const int all = *list.count, lane = threadIdx.x % LANES;

    for (int i = blockIdx.x * THREADS + threadIdx.x; notes.marks && i < maximum * MARK_WORDS; i += gridDim.x * THREADS)
        notes.marks[i] = 0;
    if (all <= maximum) {
        for (int own = (blockIdx.x * THREADS + threadIdx.x) / LANES; own < all; own += gridDim.x * THREADS / LANES) {
            const uint64_t key = list.keys[own];
            unsigned stronger = 0;
            for (int i = lane; i < all; i += LANES)
                stronger += list.keys[i] > key;
            stronger = __reduce_add_sync(0xffffffff, stronger);
            if (lane == 0)
                keys[stronger] = key;
            if (lane == 0 && notes.places)
                note(notes, stronger, list.places[own], layout, window);
        }
        if (blockIdx.x == 0 && threadIdx.x == 0)
            *count = all;
        return;
    }
    if (blockIdx.x > 0)
        return;
    const int own = sorted_fill(&sorted, list, maximum);
    for (int i = threadIdx.x; i < own; i += THREADS) {
        keys[i] = sorted.keys[i];
        if (notes.places)
            note(notes, i, detect_key_place(sorted.keys[i], &layout), layout, window);
    }
    if (threadIdx.x == 0)
        *count = own;
}

/* The words of overlaps, PAIR_THREADS hits of one word at a time, and the rows of the hits; those behind the last are 0. */
static __global__ void __launch_bounds__(PAIR_THREADS)
    pairs_kernel(const int *all, const uint64_t *keys, unsigned *overlaps, struct group_notes notes,
                 const __grid_constant__ struct pyramid_layout layout,
                 const __grid_constant__ struct detect_params params, struct image detections, struct image hits)
{
    __shared__ struct detect_box before[LANES];
    const int count = *all, words = (count + LANES - 1) / LANES, parts = (count + PAIR_THREADS - 1) / PAIR_THREADS;

    for (int i = blockIdx.x * PAIR_THREADS + threadIdx.x; i < params.maximum; i += gridDim.x * PAIR_THREADS) {
        struct detect_place place = {};
        float *row = (float *)image_row(&hits, i + 1), *detection = (float *)image_row(&detections, i + 1);
        if (i < count)
            place = notes.places ? notes.places[i] : detect_key_place(keys[i], &layout);
        row[0] = place.x;
        row[1] = place.y;
        row[2] = place.level;
        row[3] = i < count ? detect_key_response(keys[i]) : 0;
        for (int c = 0; c < DETECT_COLUMNS; c++)
            detection[c] = 0;
    }
    for (int i = blockIdx.x; i < words * parts; i += gridDim.x) {
        const int first = i % words * LANES, own = i / words * PAIR_THREADS + threadIdx.x;
        struct detect_box box = {};
        unsigned word = 0;
        if (first >= (i / words + 1) * PAIR_THREADS)
            continue;
        __syncthreads(); /* the boxes of the turn before have been read */
        if (threadIdx.x < LANES && first + (int)threadIdx.x < count)
            before[threadIdx.x] = notes.boxes ? notes.boxes[first + threadIdx.x]
                                              : box_of(keys[first + threadIdx.x], layout, params.pyramid.window);
        __syncthreads();
        if (own >= count)
            continue;
        box = notes.boxes ? notes.boxes[own] : box_of(keys[own], layout, params.pyramid.window);
        for (int k = 0; k < LANES && first + k < own; k++)
            word |= (unsigned)detect_overlap(before[k], box, params.overlap) << k;
        overlaps[first / LANES * params.maximum + own] = word;
        if (notes.marks && word)
            atomicOr(&notes.marks[first / LANES / LANES * params.maximum + own], 1u << first / LANES % LANES);
    }
}

/* What is known of the hits: a leader is the strongest of its group, the others are taken by a leader before them. */
struct shared_groups {
    unsigned leaders[WORDS], taken[WORDS], kept[WORDS];
    unsigned long long sums[DETECT_MAX_HITS]; /* votes of a leader's group, and its members from MEMBER_BIT on */
};

/* find_leader() where words are marked. */
static __device__ int find_marked(const struct shared_groups &shared, const unsigned *overlaps, const unsigned *marks,
                                  int maximum, int own, bool *doubtful)
{
    for (int first = 0; first <= own / LANES; first += LANES)
        for (unsigned left = marks[first / LANES * maximum + own]; left; left &= left - 1) {
            const int i = first + __ffs((int)left) - 1;
            const unsigned word = overlaps[i * maximum + own], leaders = word & shared.leaders[i];
            if (leaders)
                return i * LANES + __ffs((int)leaders) - 1;
            *doubtful |= (word & ~shared.taken[i]) != 0;
        }
    return -1;
}

/* The first leader that overlaps with hit `own`, or -1 and whether hits before it that do are in doubt. */
static __device__ int find_leader(const struct shared_groups &shared, const unsigned *overlaps, const unsigned *marks,
                                  int maximum, int own, bool *doubtful)
{
    *doubtful = false;
    if (marks)
        return find_marked(shared, overlaps, marks, maximum, own, doubtful);
    for (int first = 0; first <= own / LANES; first += AHEAD) {
        unsigned words[AHEAD];
        for (int i = 0; i < AHEAD; i++)
            words[i] = first + i <= own / LANES ? overlaps[(first + i) * maximum + own] : 0;
        for (int i = 0; i < AHEAD; i++) {
            const unsigned leaders = words[i] & shared.leaders[first + i];
            if (leaders)
                return (first + i) * LANES + __ffs((int)leaders) - 1;
            *doubtful |= (words[i] & ~shared.taken[first + i]) != 0;
        }
    }
    return -1;
}

/* Rounds until no hit is in doubt: with a leader that overlaps it is taken; when all before it that overlap are taken, it leads. */
static __device__ void decide(struct shared_groups *shared, const unsigned *overlaps, const unsigned *marks,
                              int maximum, int count)
{
    bool decided[EACH] = {};
    int open = 1;

    while (__syncthreads_or(open)) {
        int leaders[EACH];
        bool doubtful[EACH];
        open = 0;
        for (int k = 0; k < EACH; k++)
            if (!decided[k] && (int)threadIdx.x + k * THREADS < count)
                leaders[k] = find_leader(*shared, overlaps, marks, maximum, threadIdx.x + k * THREADS, &doubtful[k]);
        __syncthreads();
        for (int k = 0; k < EACH; k++) {
            const int own = threadIdx.x + k * THREADS;
            if (decided[k] || own >= count)
                continue;
            decided[k] = leaders[k] >= 0 || !doubtful[k];
            open |= !decided[k];
            if (decided[k])
                atomicOr(leaders[k] >= 0 ? &shared->taken[own / LANES] : &shared->leaders[own / LANES],
                         1u << own % LANES);
        }
    }
}

static __global__ void __launch_bounds__(THREADS)
    group_kernel(const int *all, const uint64_t *keys, const unsigned *overlaps, struct group_notes notes,
                 const __grid_constant__ struct pyramid_layout layout,
                 const __grid_constant__ struct detect_params params, struct image detections, struct image hits)
{
    __shared__ struct shared_groups shared;
    const unsigned *marks = notes.marks;
    const int count = *all;
    bool doubtful;

    for (int i = threadIdx.x; i < DETECT_MAX_HITS; i += THREADS)
        shared.sums[i] = 0;
    if (threadIdx.x < WORDS)
        shared.leaders[threadIdx.x] = shared.taken[threadIdx.x] = shared.kept[threadIdx.x] = 0;
    decide(&shared, overlaps, marks, params.maximum, count);
    for (int own = threadIdx.x; own < count; own += THREADS) {
        const int leader = find_leader(shared, overlaps, marks, params.maximum, own, &doubtful);
        atomicAdd(&shared.sums[leader >= 0 ? leader : own],
                  (1ull << MEMBER_BIT) + detect_vote(detect_key_response(keys[own]), (float)params.min_response));
    }
    __syncthreads();
    float scores[EACH];
    for (int k = 0; k < EACH; k++) {
        const int own = threadIdx.x + k * THREADS;
        const unsigned long long sum = shared.sums[own];
        scores[k] = (float)((double)(sum & ((1ull << MEMBER_BIT) - 1)) / (double)DETECT_VOTE);
        if ((int)(sum >> MEMBER_BIT) >= params.neighbours && scores[k] >= params.min_score)
            atomicOr(&shared.kept[own / LANES], 1u << own % LANES);
    }
    __syncthreads();
    for (int k = 0; k < EACH; k++) {
        const int own = threadIdx.x + k * THREADS;
        int place = __popc(shared.kept[own / LANES] & ((1u << own % LANES) - 1));
        if (!(shared.kept[own / LANES] >> own % LANES & 1))
            continue;
        for (int w = 0; w < own / LANES; w++)
            place += __popc(shared.kept[w]);
        const struct detect_box box = notes.boxes ? notes.boxes[own] : box_of(keys[own], layout, params.pyramid.window);
        float *row = (float *)image_row(&detections, place + 1);
        row[0] = box.x;
        row[1] = box.y;
        row[2] = row[3] = box.side;
        row[4] = scores[k];
    }
    if (threadIdx.x > 0)
        return;
    int found = 0;
    for (int w = 0; w < WORDS; w++)
        found += __popc(shared.kept[w]);
    for (int i = 0; i < DETECT_COLUMNS; i++)
        ((float *)detections.data)[i] = i == 0 ? found : 0;
    for (int i = 0; i < DETECT_HIT_COLUMNS; i++)
        ((float *)hits.data)[i] = i == 0 ? count : 0;
}

enum status groups_setup(struct groups_step *step, const struct detect_params *params)
{
    const size_t maximum = (size_t)params->maximum;
    enum status status = STATUS_OK;

    if (!step->count)
        TRY(device_allocate((void **)&step->count, sizeof *step->count));
    if (!step->keys)
        TRY(device_allocate((void **)&step->keys, maximum * sizeof *step->keys));
    if (!step->overlaps)
        TRY(device_allocate((void **)&step->overlaps,
                            ceiling_divide(maximum, LANES) * maximum * sizeof *step->overlaps));
out:
    return status;
}

enum status groups_note(struct groups_step *step, struct hits_step *hits, const struct detect_params *params)
{
    const size_t maximum = (size_t)params->maximum;
    enum status status = STATUS_OK;

    TRY(groups_setup(step, params));
    if (!hits->list.places)
        TRY(device_allocate((void **)&hits->list.places,
                            (size_t)hits->layout.width * hits->layout.height * sizeof *hits->list.places));
    if (!step->notes.places)
        TRY(device_allocate((void **)&step->notes.places, maximum * sizeof *step->notes.places));
    if (!step->notes.boxes)
        TRY(device_allocate((void **)&step->notes.boxes, maximum * sizeof *step->notes.boxes));
    if (!step->notes.marks)
        TRY(device_allocate((void **)&step->notes.marks, MARK_WORDS * maximum * sizeof *step->notes.marks));
out:
    return status;
}

enum status groups_end(struct groups_step *step, const struct hits_step *hits, struct image out[],
                       const struct detect_params *params, cudaStream_t stream)
{
    enum status status = STATUS_OK;

    sort_kernel<<<SORT_BLOCKS, THREADS, 0, stream>>>(hits->list, params->maximum, step->count, step->keys, step->notes,
                                                     hits->layout, params->pyramid.window);
    CUDA_TRY(cudaGetLastError());
    pairs_kernel<<<min((int)PAIR_BLOCKS, (int)ceiling_divide(params->maximum, step->notes.places ? 2 : LANES)),
                   PAIR_THREADS, 0, stream>>>(step->count, step->keys, step->overlaps, step->notes, hits->layout,
                                              *params, out[0], out[1]);
    CUDA_TRY(cudaGetLastError());
    group_kernel<<<1, THREADS, 0, stream>>>(step->count, step->keys, step->overlaps, step->notes, hits->layout, *params,
                                            out[0], out[1]);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

void groups_teardown(struct groups_step *step)
{
    device_free(step->notes.marks);
    device_free(step->notes.boxes);
    device_free(step->notes.places);
    device_free(step->overlaps);
    device_free(step->keys);
    device_free(step->count);
    *step = {};
}
