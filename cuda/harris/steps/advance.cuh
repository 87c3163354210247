/*
 * advance.cuh: a row of v2.10's walk, for the loops of v2.11 and v2.12 of harris.
 */
#ifndef RUNGS_HARRIS_ADVANCE_CUH
#define RUNGS_HARRIS_ADVANCE_CUH

#include "cuda/harris/steps/inside.cuh"
#include "cuda/harris/steps/lines.cuh"

/* What a thread takes along from row to row. */
template <int SIZE, bool EDGE> struct walk {
    struct columns columns;
    struct pixels<EDGE> next[AHEAD];
    struct line above, own;
    struct harris_sums kept[SIZE > 1 ? SIZE - 1 : 1][COLUMNS];
};

/* Row y of the gradients: gives the sums down the columns of the window that ends there. */
template <int SIZE, bool SOBEL, bool BOX, bool EDGE>
static __device__ void advance(struct walk<SIZE, EDGE> *walk, const struct image &in,
                               const struct harris_params &params, int y, struct harris_sums down[COLUMNS])
{
    const struct line above = walk->above, own = walk->own;
    const struct line below = make_line<SOBEL>(join(walk->next[0], walk->columns));
    const int turned_down = EDGE ? reflected_sign(y, in.height) : 1;

    for (int i = 0; i < AHEAD - 1; i++)
        walk->next[i] = walk->next[i + 1];
    walk->next[AHEAD - 1] = fetch<EDGE>(in, &walk->columns, y + 1 + AHEAD);
    for (int i = 0; i < COLUMNS; i++) {
        const int gy = (below.sum[i] - above.sum[i]) * turned_down;
        const int gx = (SOBEL ? above.difference[i] + 2 * own.difference[i] + below.difference[i] : own.difference[i]) *
                       (EDGE ? walk->columns.turned[i] : 1);
        const struct harris_sums products = {gx * gx, gx * gy, gy * gy};
        down[i] = weigh({0, 0, 0}, BOX ? 1 : params.taps[SIZE - 1], products);
        for (int j = 0; j < SIZE - 1; j++) {
            down[i] = weigh(down[i], BOX ? 1 : params.taps[j], walk->kept[j][i]);
            walk->kept[j][i] = j + 1 < SIZE - 1 ? walk->kept[j + 1][i] : products;
        }
    }
    walk->above = own;
    walk->own = below;
}

#endif
