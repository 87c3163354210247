/*
 * growth.h: memory that a version takes in every call, or leaves behind with every state.
 */
#ifndef RUNGS_GROWTH_H
#define RUNGS_GROWTH_H

#include "common/verify/session.h"

/* Calls a version many times with one state, and with one state after the other, on one input; counts the bytes of the
 * heap and of the emulated device that are in use after each. Fails the verdict when they grow each time, and names the
 * line that allocated what nobody freed, where binutils are installed. */
enum status verify_growth(const struct version *version, const struct image in[], const void *params,
                          const struct image expected[], struct verdict *verdict);

#endif
