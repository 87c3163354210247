/*
 * clock.h: the clock that all times are taken from.
 */
#ifndef RUNGS_CLOCK_H
#define RUNGS_CLOCK_H

#ifdef __cplusplus
extern "C" {
#endif

/* Seconds since some fixed moment; monotonic, so that setting the machine's time does not change a difference. */
double clock_seconds(void);

#ifdef __cplusplus
}
#endif

#endif
