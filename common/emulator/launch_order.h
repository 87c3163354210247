/*
 * launch_order.h: which kernels, copies and accesses of the host come before which, for a program that is watched for
 * races (RUNGS_EMULATOR_RACES=2). Two that touch the same memory, one of them writing, are a race when nothing orders
 * them, whatever came first in this run.
 *
 * Each stream has a clock: how many operations of each other stream come before its next one (a vector clock). What is
 * put on a stream comes after what the host knew then; an event carries the clock of its stream to whoever waits for
 * it; the default stream waits for all blocking ones of its device, and they for it. The host is stream 0: its
 * "operations" are the stretches between two calls. Who touched a byte last stands in its cell (races.h) by a name, and
 * here stands whose name it is.
 *
 * A program with CUDA in several host threads is not watched for this: what orders its threads is not known.
 */
#ifndef RUNGS_LAUNCH_ORDER_H
#define RUNGS_LAUNCH_ORDER_H

#include <memory>
#include <stdint.h>
#include <string>
#include <vector>

#include "common/emulator/emulator_internal.h"

namespace emulated
{

typedef std::vector<uint32_t> stream_clock; /* by stream; 0 where it is too short */

struct operation {
    unsigned stream;
    uint32_t number; /* on its stream, from 1 on */
    stream_clock before;
    const char *call;
    uint32_t place; /* of the call (line_of()) */
};
typedef std::shared_ptr<const operation> operation_pointer;

/* An operation is put on a stream, in the order of the program's calls; NULL where nobody watches. */
operation_pointer put_on_stream(const char *call, cudaStream_t stream, uint32_t place);
void order_stream_begins(cudaStream_t stream, bool blocking);
void order_stream_ends(cudaStream_t stream);
void order_event_recorded(cudaEvent_t event, cudaStream_t stream);
void order_event_ends(cudaEvent_t event);
void order_stream_waits(cudaStream_t stream, cudaEvent_t event);
void order_host_waits_for_stream(cudaStream_t stream);
void order_host_waits_for_event(cudaEvent_t event);
void order_host_waits_for_device();

/* A function of the host that ran on a stream may have told its thread of it, by a flag: it counts as waited for. */
void host_function_has_run();

/* While it lives, that operation runs: a kernel, a copy, a function of the host. */
class operation_runs
{
  public:
    explicit operation_runs(operation_pointer operation);
    /* One that runs as soon as it is called, unless it is part of another one (late, or of a graph); the host will
     * wait for it, or will not. */
    operation_runs(const char *call, cudaStream_t stream, uint32_t place, bool waits);
    ~operation_runs();
    operation_runs(const operation_runs &) = delete;
    operation_runs &operator=(const operation_runs &) = delete;
    /* Rows of memory of the device, of pinned or managed memory. */
    void reads(const void *memory, size_t pitch, size_t width, size_t height);
    void writes(const void *memory, size_t pitch, size_t width, size_t height);
    /* The host has waited for it, if it is no part of another one. */
    void host_waits();

  private:
    void begin(operation_pointer operation);
    bool needs_name();
    operation_pointer before;
    bool own = false, alone = false; /* nobody will ever see that it was there */
    uint32_t name = 0;
};

/* " in f.cu:9" of the call that put on a stream what runs now; "" for none. */
std::string line_of_running();

/* ------------------------------------------------------------------------------------------ for races*.cpp */

/* What has run under the names from `first_name` on. */
struct execution {
    uint32_t first_name;
    operation_pointer operation;
    std::string what; /* "kernel scale (f.cu:9)", "cudaMemcpyAsync" */
};
enum : uint32_t { ALL_ORDERED = UINT32_MAX };

/* From now on the operation that runs, or else the host, has names from this one on. Returned is the first name of any
 * that is not ordered before it, or ALL_ORDERED. */
uint32_t order_begins_names(uint32_t first_of_them, const std::string &what);
/* Whose name this is, if it is not ordered before the operation that runs, or the host; else NULL. */
const execution *unordered_before(uint32_t name);
/* Some operation is not known to be over, so what the host touches is to be looked at: by host_order(), of the host, or
 * of its function that runs on a stream. *from is as order_begins_names() says; *name is where accesses are
 * kept for operations that are still to run, 0 when there are none. False in another thread than the one that calls
 * CUDA. */
extern bool host_may_race;
bool host_order(uint32_t *from, uint32_t *name);

} /* namespace emulated */

#endif
