/*
 * Idea:     the fastest labelling on one core that YACCLAB has for 8-connected masks: bit-merge-run-scan (Lee 2021),
 *           runs of two rows at once.
 * Changed:  not ours, but for how pixels become bits: its own way asks them one by one, which takes longer than the
 *           rest; it is given 64 at a time, as our rungs take them. Its numbers become ours after the clock has
 *           stopped.
 * Expect:   as fast as cpu/simd on one thread on photographs; slower in noise, where its labels are written pixel by
 *           pixel.
 */
/* Try: make yacclab bench-labelling THREADS=1 VERSIONS=cpu/row_lists,peer/opencv,peer/yacclab_bmrs,peer/yacclab_lsl */
#include "peers/labelling/yacclab.h"

#include "cpu/labelling/shared/bits.h"
#include "labeling_lee_2021_bmrs.h"

unsigned *UFPC::P_, UFPC::length_;
MemVector<unsigned> UFPC::mem_P_;

template <> void BMRS<UFPC>::InitCompressedData(Data_Compressed &to)
{
    const struct image in = {
        .width = img_.cols, .height = img_.rows, .channels = 1, .stride = img_.step, .data = img_.data};

    for (int y = 0; y < in.height; y++)
        for (int word = 0; word < to.data_width; word++)
            to[y][word] = 64 * word < in.width ? bits_of(&in, y, word) : 0;
}

static enum status run(const struct image *in, struct image out[], const struct labelling_params *params)
{
    (void)params;
    return yacclab_run<BMRS<UFPC>>(in, out);
}

RUNGS_CPU_VERSION(labelling, .declines = yacclab_declines, .normalise = labelling_normalise)
