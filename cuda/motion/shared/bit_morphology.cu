#include "cuda/motion/shared/bit_mask.h"

/*
 * A closing is two dilations, for an erosion is a dilation of the negative, and an opening behind it two more. A block
 * has a tile of the mask in shared memory, with the pixels around that all passes look at, and each pass gives a tile
 * that is smaller by the radius on all sides.
 *
 * Rows y - j and y + j of the element have the same chord, so they are united first, and chords only get longer towards
 * the centre. So one word of a result is made from the centre outwards: take rows y - j and y + j, spread what there is
 * by as much as the chord of row j is longer than that of row j + 1, and go on. What row j gave has then been spread by
 * its whole chord in the end, for all spreading is a union. 15 rows are 45 loads and 6 times 3 instructions a word.
 */
enum {
    TILE_WORDS = 8, /* of a row of a block's result */
    THREADS = 512,
    MIN_ROWS = 16,
    MAX_ROWS = 128 /* 24 KB of shared memory at ksize 31 */
};

struct element {
    int radius;
    int before[MORPHOLOGY_MAX_RADIUS + 1]; /* [j]: how much wider row j - 1 reaches than row j, 0 for j = 0 */
    int last;                              /* how far row `radius` reaches */
};

enum status bit_mask_create(struct bit_mask *mask, int width, int height)
{
    *mask = {NULL, width, height, (width + 31) / 32};
    return device_allocate((void **)&mask->words, (size_t)mask->pitch * height * sizeof *mask->words);
}

void bit_mask_free(struct bit_mask *mask)
{
    device_free(mask->words);
    *mask = {};
}

/* Which of a word's pixels lie in the image. */
static __device__ unsigned inside(const struct bit_mask &mask, int column, int y)
{
    if (column < 0 || column >= mask.pitch || y < 0 || y >= mask.height)
        return 0;
    const int pixels = mask.width - 32 * column;
    return pixels >= 32 ? 0xffffffff : (1u << pixels) - 1;
}

/* Each bit also on the `reach` places on either side: by 1, 3, 9 ... places, as far as there is no gap between. */
static __device__ unsigned long long spread(unsigned long long bits, int reach)
{
    for (int done = 0, step; done < reach; done += step) {
        step = min(reach - done, 2 * done + 1);
        bits |= bits << step | bits >> step;
    }
    return bits;
}

/* The word at `at` of a tile, dilated. 16 pixels beyond either end are enough: chords reach 15. */
static __device__ unsigned dilate(const unsigned *at, int width, const struct element &element)
{
    unsigned long long bits = 0;

    for (int j = 0; j <= element.radius; j++) {
        const unsigned *above = at - j * width, *below = at + j * width;
        const unsigned left = above[-1] | below[-1], own = above[0] | below[0], right = above[1] | below[1];
        bits = spread(bits, element.before[j]);
        bits |= (unsigned long long)right << 48 | (unsigned long long)own << 16 | left >> 16;
    }
    return (unsigned)(spread(bits, element.last) >> 16);
}

/* A result of `rows` rows with `halo` words on either side. What is next to a tile's first and last word is wrong, and
 * that creeps inwards with each pass, by PASSES radii in all: never past the halo. */
template <int PASSES>
static __global__ void __launch_bounds__(THREADS)
    morphology_kernel(struct bit_mask in, struct bit_mask out, const __grid_constant__ struct element element, int rows,
                      int halo)
{
    extern __shared__ unsigned tiles[]; /* two, each with a word to spare in front and behind */
    const int width = TILE_WORDS + 2 * halo, height = rows + 2 * PASSES * element.radius, words = width * height;
    const int left = blockIdx.x * TILE_WORDS - halo, top = blockIdx.y * rows - PASSES * element.radius;
    unsigned *from = tiles + 1, *to = tiles + words + 3;

    if (threadIdx.x < 4)
        tiles[threadIdx.x / 2 * (words + 2) + threadIdx.x % 2 * (words + 1)] = 0;
    for (int i = threadIdx.x; i < words; i += THREADS) {
        const int column = left + i % width, y = top + i / width;
        from[i] = inside(in, column, y) ? in.words[y * in.pitch + column] : 0;
    }
    __syncthreads();
    for (int pass = 1; pass <= PASSES; pass++) {
        const int first = pass * element.radius * width;
        for (int i = first + threadIdx.x; i < words - first; i += THREADS) {
            const int column = left + i % width, y = top + i / width;
            const unsigned bits = dilate(from + i, width, element);
            /* dilate, erode, erode, dilate: negatives from the first pass to the third. Outside counts for nothing. */
            const unsigned result = (pass % 2 || (PASSES == 2 && pass == 2) ? ~bits : bits) & inside(out, column, y);
            if (pass < PASSES)
                to[i] = result;
            else if (i % width >= halo && i % width < halo + TILE_WORDS && column < out.pitch && y < out.height)
                out.words[y * out.pitch + column] = result;
        }
        unsigned *next = to;
        to = from;
        from = next;
        __syncthreads();
    }
}

template <int PASSES>
static enum status enqueue(const struct bit_mask *in, const struct bit_mask *out, const struct element *element,
                           int multiprocessors, cudaStream_t stream)
{
    enum status status = STATUS_OK;
    const int halo = (int)ceiling_divide(PASSES * element->radius, 32);
    const int across = (int)ceiling_divide(in->pitch, TILE_WORDS);
    /* A tile for each multiprocessor: the fewer rows, the more of the work is at tiles' rims, done twice. */
    const int wanted = (int)ceiling_divide(in->height, max(1, multiprocessors / across));
    const int rows = min(max(wanted, (int)MIN_ROWS), (int)MAX_ROWS);
    const size_t words = (size_t)(TILE_WORDS + 2 * halo) * (rows + 2 * PASSES * element->radius);
    const dim3 grid(across, ceiling_divide(in->height, rows));

    morphology_kernel<PASSES>
        <<<grid, THREADS, 2 * (words + 2) * sizeof(unsigned), stream>>>(*in, *out, *element, rows, halo);
    CUDA_TRY(cudaGetLastError());
out:
    return status;
}

enum status bit_morphology(const struct bit_mask *in, const struct bit_mask *out, bool opens, int shape, int ksize,
                           int multiprocessors, cudaStream_t stream)
{
    struct element element = {.radius = ksize / 2};

    for (int j = 1; j <= element.radius; j++)
        element.before[j] = morphology_reach(shape, element.radius, j - 1) - morphology_reach(shape, element.radius, j);
    element.last = morphology_reach(shape, element.radius, element.radius);
    return opens ? enqueue<4>(in, out, &element, multiprocessors, stream)
                 : enqueue<2>(in, out, &element, multiprocessors, stream);
}
