/*
 * no_device.c: in place of the device's code where a program runs nothing on one: the judge of a build whose device is
 * the emulator, which works in the workers, and the worker of a version in C. Neither waits for the emulator to be
 * compiled.
 */
#include <stdio.h>
#include <string.h>

#include "common/contract/device_info.h"
#include "common/measure/bench_device.h"
#include "common/remote/worker.h"
#include "common/verify/verify.h"

static enum status refuse(void)
{
    return status_set(STATUS_UNSUPPORTED, "a version in C has no device");
}

/* ------------------------------------------------------------------------------------------------ the judge */

bool device_is_emulated(void)
{
    return true;
}

const char *device_needs_capability(int capability)
{
    (void)capability;
    return NULL; /* the workers have one */
}

enum status device_start(void)
{
    return STATUS_OK;
}

void device_perturb(int device_byte, int shared_byte)
{
    (void)device_byte, (void)shared_byte;
}

enum status verify_launch(const struct version *version, void *state, struct verify_buffer in[], int inputs,
                          struct verify_buffer out[], int outputs, const void *params, int launches,
                          enum verify_waits waits, const struct image other[])
{
    (void)version, (void)state, (void)in, (void)inputs, (void)out, (void)outputs, (void)params, (void)launches,
        (void)waits, (void)other;
    return refuse();
}

enum status bench_device_facts(struct device_facts *facts)
{
    memset(facts, 0, sizeof *facts);
    snprintf(facts->why, sizeof facts->why, "this build emulates CUDA on the CPU");
    return refuse();
}

/* ----------------------------------------------------------------------------------- the worker of a version in C */

enum status worker_device(const struct version *version, void *state, const struct channel *request)
{
    (void)version, (void)state, (void)request;
    return refuse();
}

void worker_device_end(void)
{
}

enum status worker_device_pin(const struct image *image)
{
    (void)image;
    return STATUS_OK;
}

void worker_device_begin(int threads, int lack, bool counts_requests)
{
    (void)threads, (void)lack, (void)counts_requests;
}

void worker_device_in_turn(struct CUstream_st *stream, void (*function)(void *), void *argument)
{
    (void)stream, (void)function, (void)argument;
}

struct channel_counts worker_device_counts(void)
{
    return (struct channel_counts){0};
}

size_t device_memory_used(void)
{
    return 0;
}

void device_make_small(int blocks)
{
    (void)blocks;
}
