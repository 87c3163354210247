/*
 * Idea:     light-speed labelling (Lacassagne and Zavidovique 2011) as YACCLAB has it: runs by their relative numbers,
 *           found without a branch (LSL_STDZ), which suits noise.
 * Changed:  not ours; its numbers become ours after the clock has stopped. Its table of runs has room for (rows + 1) *
 *           columns, and rows * (columns + 1) may be written: only pictures that are wider than high are given to it.
 * Expect:   slower than cpu/simd on one thread on photographs, for it keeps 4 bytes a pixel of relative numbers, and
 *           half as fast in noise.
 */
/* Try: make yacclab bench-labelling THREADS=1 VERSIONS=cpu/row_lists,peer/opencv,peer/yacclab_bmrs,peer/yacclab_lsl */
#include "peers/labelling/yacclab.h"

#include "labeling_lacassagne_2016.h"

unsigned *UF::P_, UF::length_;
MemVector<unsigned> UF::mem_P_;

static enum status run(const struct image *in, struct image out[], const struct labelling_params *params)
{
    (void)params;
    return yacclab_run<LSL_STDZ<UF>>(in, out);
}

static const char *declines(const struct image in[], const void *params)
{
    return in->height >= in->width - 1 ? "overruns a table of its own unless the picture is wider than high"
                                       : yacclab_declines(in, params);
}

RUNGS_CPU_VERSION(labelling, .declines = declines, .normalise = labelling_normalise)
