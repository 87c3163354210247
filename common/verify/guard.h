/*
 * guard.h: images with guard bytes around them, and what may differ between two runs of a version on the same input
 * without any effect on the result.
 */
#ifndef RUNGS_GUARD_H
#define RUNGS_GUARD_H

#include "common/verify/verify.h"

struct setting {
    int stride;  /* 0: rows as close as they may be, 1: farther apart */
    int outside; /* which garbage lies outside the pixels of the inputs */
    int poison;  /* what the outputs hold before */
    int heap;    /* what fresh memory holds, of the heap and of an emulated device */
    int shared;  /* what the shared memory of an emulated device holds as a block begins */
    int again;   /* how many launches more follow the first after one setup(), without a wait between them */
    enum verify_waits waits; /* launch(): for what it is waited before */
};

extern const uint8_t guard_poisons[2];
extern const int guard_heap_bytes[2];

struct guarded {
    struct verify_buffer buffer;
    uint8_t *before; /* what the memory held before the call */
    uint8_t *pages;  /* of its own, which can be made read-only; NULL: it is on the heap */
    size_t mapped;   /* bytes of them */
};

/* Of buffers that are made from now on. Rows lie so many times IMAGE_ALIGNMENT bytes farther apart than
 * guarded_create() is told, two more for each further input or output. An input has no guard bytes on the side of the
 * page: the first byte that its contract lets nobody read lies on it. */
struct guard_layout {
    int in_apart, out_apart;
    enum verify_page page;
};
void guard_lay_out(struct guard_layout layout);
/* Whether an input of theirs has a page beside it that can't be read. */
bool guard_has_page(void);

/* A buffer for input or output number `slot`, an image of the shape of `like` with `apart` bytes more than need be
 * between the rows; of an absent slot (width 0) a zeroed one. When `remote` is not NULL it is memory that a worker
 * sees, too; else an input's has pages of its own. */
enum status guarded_create(struct guarded *guarded, const struct image *like, size_t apart, int slot, bool is_input,
                           const struct version_remote *remote);
void guarded_free(struct guarded *guarded, const struct version_remote *remote);

/* Makes inputs read-only. A write to them is noted, and allowed from then on, so that the call can go on. */
void guarded_forbid_writes(struct guarded in[], int inputs);
/* Allows writes again. Whether one was tried: *which input, and its pixel, as near as an image has one. */
bool guarded_allow_writes(struct guarded in[], int inputs, int *which, int *x, int *y);

/* Fills all of the buffer, guards and pixels. */
void guarded_fill(const struct verify_buffer *buffer, uint64_t seed);
/* Remembers what the buffer holds, for the two checks below. */
void guarded_remember(struct guarded *guarded);

/* Whether something around the pixels was written: `what` happened and its `cause`, in one line each. `name` says whose
 * buffer it is ("output", "input"). */
bool guarded_overrun(const struct guarded *guarded, const char *name, char *what, size_t what_size, char *cause,
                     size_t cause_size);
/* Whether any byte changed, pixels and guards. */
bool guarded_touched(const struct guarded *guarded);
/* Whether a pixel changed: the first one that did. */
bool guarded_changed(const struct guarded *guarded, int *x, int *y);

#endif
