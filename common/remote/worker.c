/*
 * worker.c: the program around one version that may be anybody's: a student's, or a reference rung. It is linked with
 * that version's file, the algorithm's contract and the CUDA helpers, and with nothing else of Rungs, so a version that
 * asks for the registry or another version's functions does not link. A pipeline gets the registry and the versions of
 * its steps (worker_pipeline.c in place of worker_alone.c).
 *
 * usage: started by remote.c with the shared memory as file 3; it answers requests (channel.h) until it is killed.
 */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/contract/device_info.h"
#include "common/contract/pipeline.h"
#include "common/remote/channel.h"
#include "common/remote/worker.h"
#include "common/verify/verify.h"

__attribute__((weak)) void worker_races_begin(int one_page_in);
__attribute__((weak)) void worker_races_count(struct channel_counts *counts);
__attribute__((weak)) void worker_steps_begin(int wanted);
__attribute__((weak)) void worker_steps_count(const struct image *result, struct channel_counts *counts);

static struct channel *channel;
static const struct version *the_version;

/* ------------------------------------------------------------------------------- before any code of the version */

/* A system call that the filter refuses ends the worker; the judge reads which it was. */
static void refused(int signal_number, siginfo_t *info, void *context)
{
    (void)signal_number, (void)context;
    channel->refused = 1 + info->si_syscall;
    _exit(0);
}

/* Runs before the constructors, of which the version's file has one at least. The process was confined before it became
 * this program (confine.h); a handler only lets the judge say which call was refused. The program's first argument is
 * the number of its place in the address space. */
static void begin(int argc, char **argv, char **environment)
{
    void *const address = (char *)CHANNEL_ADDRESS + (size_t)(argc > 1 ? argv[1][0] - '0' : 0) * CHANNEL_BYTES;
    struct sigaction action = {.sa_sigaction = refused, .sa_flags = SA_SIGINFO | SA_NODEFER};

    (void)environment;
    if (mmap(address, CHANNEL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE | MAP_NORESERVE,
             CHANNEL_FILE, 0) != address)
        _exit(125);
    channel = address;
    worker_device_begin(channel->threads, 0, false);
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGSYS, &action, NULL) != 0)
        _exit(124);
}

__attribute__((section(".preinit_array"), used)) static void (*first)(int, char **, char **) = begin;

/* ------------------------------------------------------------------------------------ what is elsewhere in Rungs */

void verify_protect(const struct verify_buffer *buffer, void *memory, bool is_input, bool forbid)
{
    (void)buffer, (void)memory, (void)is_input, (void)forbid; /* guards are watched by the judge */
}

/* ------------------------------------------------------------------------------------------------------ requests */

static void *state;

static enum status make_state(void)
{
    const size_t size = the_version->state_size;

    if (!state)
        state = calloc(1, size ? size : 1);
    return state ? STATUS_OK : status_set(STATUS_NO_MEMORY, "no memory for the state of a version");
}

static void end_state(void)
{
    worker_device_end();
    if (state && the_version->teardown)
        the_version->teardown(state);
    free(state);
    state = NULL;
}

static enum status tune(int tunable, int value)
{
    const struct tunable *list = the_version->tunables;

    for (int i = 0; list && list[i].name; i++)
        if (i == tunable) {
            *list[i].value = value;
            return STATUS_OK;
        }
    return status_set(STATUS_FAILED, "no tunable number %d", tunable);
}

static enum status play(const struct channel *request)
{
    const struct pipeline *pipeline = the_version->pipeline;
    struct image out[ALGORITHM_MAX_OUTPUTS];

    memcpy(out, request->out, sizeof out);
    if (!pipeline)
        return status_set(STATUS_FAILED, "no pipeline: it does not end with RUNGS_PIPELINE_VERSION");
    switch (request->request) {
    case CHANNEL_START:
        return pipeline->start(state, &request->in[0], request->params);
    case CHANNEL_SUBMIT:
        return pipeline->submit(state, &request->in[0]);
    case CHANNEL_RECEIVE:
        return pipeline->receive(state, out);
    default:
        return pipeline->allocate ? worker_device_pin(&request->in[0]) : STATUS_OK;
    }
}

static enum status answer(const struct channel *request)
{
    struct image out[ALGORITHM_MAX_OUTPUTS];
    enum status status = STATUS_OK;

    if (request->request == CHANNEL_END) {
        end_state();
        return STATUS_OK;
    }
    if (request->request == CHANNEL_TUNE)
        return tune(request->tunable, request->value);
    TRY(make_state());
    worker_set_slots(request->inputs, request->outputs);
    memcpy(out, request->out, sizeof out);
    switch (request->request) {
    case CHANNEL_RUN:
        status = the_version->run(state, request->in, out, request->params);
        break;
    case CHANNEL_VERIFY:
    case CHANNEL_UPLOAD:
    case CHANNEL_LAUNCH:
    case CHANNEL_DOWNLOAD:
        status = worker_device(the_version, state, request);
        break;
    case CHANNEL_START:
    case CHANNEL_SUBMIT:
    case CHANNEL_RECEIVE:
    case CHANNEL_PIN:
        status = play(request);
        break;
    default:
        break;
    }
out:
    return status;
}

static void describe_version(void)
{
    const struct tunable *tunable = the_version->tunables;

    channel->depth = the_version->pipeline ? the_version->pipeline->depth : 0;
    channel->is_cuda = the_version->launch || (the_version->pipeline && the_version->pipeline->on_device);
    channel->emulated = channel->is_cuda && device_is_emulated();
    snprintf(channel->algorithm, sizeof channel->algorithm, "%s", the_version->algorithm_name);
    const char *why = the_version->unavailable ? the_version->unavailable() : NULL;
    if (why)
        snprintf(channel->unavailable, sizeof channel->unavailable, "%s", why);
    for (; tunable && tunable->name && channel->tunables < CHANNEL_MAX_TUNABLES; tunable++) {
        const int n = channel->tunables++;
        snprintf(channel->tunable_list[n].name, sizeof channel->tunable_list[n].name, "%s", tunable->name);
        channel->tunable_list[n].preset = *tunable->value;
        for (int i = 0; i < 31 && tunable->legal[i]; i++)
            channel->tunable_list[n].legal[i] = tunable->legal[i];
    }
}

int main(void)
{
    static struct channel request; /* a private copy: the version could change the request in shared memory */
    uint32_t turn = 0;

    channel->status = worker_version(&the_version);
    if (channel->status == STATUS_OK)
        describe_version();
    else
        snprintf(channel->message, sizeof channel->message, "%s", status_message());
    for (;;) {
        __atomic_store_n(&channel->answered, turn, __ATOMIC_SEQ_CST);
        syscall(SYS_futex, &channel->answered, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
        while (__atomic_load_n(&channel->asked, __ATOMIC_SEQ_CST) == turn)
            syscall(SYS_futex, &channel->asked, FUTEX_WAIT, turn, NULL, NULL, 0);
        turn = __atomic_load_n(&channel->asked, __ATOMIC_SEQ_CST);
        request = *channel;
        channel->lack = 0; /* none of the version's business */

        struct channel_counts before = worker_device_counts();

        worker_device_begin(request.threads, request.lack, request.counts_requests);
        mallopt(M_PERTURB, request.heap_byte);
        device_perturb(request.heap_byte, request.shared_byte);
        if (worker_races_begin)
            worker_races_begin(request.one_page_in);
        if (worker_steps_begin)
            worker_steps_begin(request.listens);
        channel->status = answer(&request);
        mallopt(M_PERTURB, 0);
        channel->counts = worker_device_counts();
        if (worker_steps_count)
            worker_steps_count(request.request == CHANNEL_RECEIVE ? &request.out[0] : NULL, &channel->counts);
        channel->counts.allocations -= before.allocations;
        channel->counts.launches -= before.launches;
        channel->counts.threads -= before.threads;
        channel->counts.barriers -= before.barriers;
        channel->counts.barrier_waits -= before.barrier_waits;
        channel->counts.atomics -= before.atomics;
        channel->counts.stream_copies -= before.stream_copies;
        channel->counts.stream_downloads -= before.stream_downloads;
        channel->counts.waited_bytes -= before.waited_bytes;
        channel->counts.stream_bytes -= before.stream_bytes;
        channel->counts.to_host_bytes -= before.to_host_bytes;
        channel->counts.lane_steps -= before.lane_steps;
        channel->counts.warp_steps -= before.warp_steps;
        channel->counts.global_loads -= before.global_loads;
        channel->counts.global_atomics -= before.global_atomics;
        channel->counts.global_sectors -= before.global_sectors;
        channel->counts.bank_conflicts -= before.bank_conflicts;
        if (worker_races_count)
            worker_races_count(&channel->counts);
        if (channel->status != STATUS_OK)
            snprintf(channel->message, sizeof channel->message, "%s", status_message());
        fflush(NULL);
    }
}
