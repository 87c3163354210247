/*
 * tables.h: what a byte of bits means, looked up, for vectors of 8 lanes without instructions that compress or count (AVX2).
 */
#ifndef RUNGS_LABELLING_STEPS_TABLES_H
#define RUNGS_LABELLING_STEPS_TABLES_H

#include <stdint.h>

/* Of each byte the numbers of its bits that are set, from the lowest on. 2 KB. */
extern uint8_t tables_places[256][8];
/* Of 9 pixels, of which bit 0 is the one before the other 8, what each of these 8 takes: how many runs began at it or before
 * it, at most 4, or 7 where it is background. 4 KB. */
extern uint8_t tables_runs[512][8];

#endif
