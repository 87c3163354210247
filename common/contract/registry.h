/*
 * registry.h: algorithms and their versions.
 *
 * One file is one version, and its path is its identity: cuda/blur/v1.2_tiled.cu is version cuda/v1.2 of blur. The
 * file's last line registers it (RUNGS_CPU_VERSION, RUNGS_CUDA_VERSION); there is no second place to edit. The
 * build lists its files in a generated table (struct version_source), in the order in which they climb
 * (common/build/versions.sh), and registry_open() fails unless table and registrations agree, so that no version can
 * drop out silently.
 */
#ifndef RUNGS_REGISTRY_H
#define RUNGS_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/contract/algorithm.h"
#include "common/contract/parameters.h"
#include "common/contract/sides.h"
#include "common/core/status.h"
#include "common/image/image.h"

struct CUstream_st;    /* a cudaStream_t is a pointer to it */
struct pipeline;       /* pipeline.h */
struct version_queue;  /* queue.h */
struct version_remote; /* verify.h */

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------------- versions */

/* What the build knows of one version's file. Generated into $(BUILD)/generated/versions.c. */
struct version_source {
    const char *path;          /* "cuda/blur/v1.2_tiled.cu" */
    const char *algorithm;     /* "blur" */
    const char *id;            /* "cuda/v1.2" */
    const char *group;         /* "published": the folder of what is no step of the climb; NULL: a step */
    const char *below;         /* id of the rung that this one climbs from; NULL: the first, or no rung */
    const char *problem;       /* the header's lines, unwrapped. What limits the rung below; NULL: not said */
    const char *idea, *expect; /* of these each version has one */
    const char *result;        /* what measuring said, with the results file; NULL: nothing measured */
    const char *command;       /* the line "Run:"; NULL: none */
    const char *not_built;     /* NULL, or why the build left this file out: listed, but it cannot run */
};
extern const struct version_source version_sources[];
extern const size_t version_source_count;

/* One way to compute an algorithm. `in` points to the algorithm's `inputs` images, `out` to one with the shape that
 * algorithm->shape() gave and unspecified pixels. `state` is zeroed memory of state_size bytes: the harness makes one
 * for each input shape and parameter set, hands it to every call with those, and ends with teardown(). */
struct version {
    const char *path; /* __FILE__ of the registering file */
    const char *algorithm_name;
    size_t state_size;

    /* Host images in, host image out: all that a user of this version pays for. */
    enum status (*run)(void *state, const struct image in[], struct image *out, const void *params);

    /* CUDA versions only (else NULL); in and out are device images. setup() makes on the device what launch() needs
     * besides its images (weights, say) and does nothing when it is already there; launch() only enqueues work on
     * `stream` and may be called many times after one setup(). */
    enum status (*setup)(void *state, const struct image in[], const void *params);
    enum status (*launch)(void *state, const struct image in[], struct image *out, const void *params,
                          struct CUstream_st *stream);
    void (*teardown)(void *state);

    /* Everything below may be left out. */
    const char *instruction_set;      /* a simd version names what it was built with: "AVX-512 VNNI" */
    const char *(*unavailable)(void); /* NULL, or in one line why this version cannot run on this machine */
    const char *(*declines)(const struct image in[], const void *params); /* the same for one case */
    struct tunable *tunables;
    /* NULL, or in one line why the present values of the tunables do not go together in this case: more threads than a
     * block may have, say. With the lists of legal values, the one place that says which values are legal. */
    const char *(*illegal)(const struct image in[], const void *params);
    double tolerance;      /* of a peer; the larger one of this and the algorithm's counts */
    bool compare_interior; /* a peer whose borders differ: compare only pixels farther than radius from the edge */
    /* A peer whose result says the same in other words (components in another order): puts *out, on the host, into the
     * contract's words before it is compared. Not timed, so that the peer does not pay for our convention. */
    void (*normalise)(const struct image in[], struct image *out, const void *params);
    /* A CUDA version whose run() copies through page-locked memory, by several threads of the host while the bus is at
     * work (common/cuda/staging.h). */
    bool staged;
    bool by_rows; /* staged, and row y of the outputs needs nothing but row y of the inputs: launch() gets bands */
    const struct version_queue *queue; /* of a version that can have many pictures under way, else NULL */
    const struct pipeline *pipeline;   /* of every version of a video algorithm, else NULL */
    /* Of a peer in another process (process_peer.h), else NULL: how many seconds this state's calls so far have taken
     * that their times do not include, for copies between the processes; and how long the last call kept a GPU busy, 0
     * when the library does not say. */
    double (*uncharged)(void *state);
    double (*device_seconds)(void *state);

    /* A version that runs in another process, of which this is the stand-in (common/remote/remote.h); else NULL. */
    const struct version_remote *remote;

    /* The registry's. */
    const struct version_source *source;
    const struct algorithm *algorithm;
    struct version *next;
};

void registry_add_version(struct version *version);

/* Joins registrations with the generated table and sorts them. To be called once, at the start of main. Fails
 * (STATUS_FAILED) when a built file registered nothing, a registration has no built file, or an algorithm is
 * unknown. */
enum status registry_open(void);

/* In alphabetic order; NULL ends. */
const struct algorithm *registry_algorithms(void);
const struct algorithm *registry_find_algorithm(const char *name); /* NULL if there is none */

/* The versions of an algorithm in the order of the ladder: cpu/ and cuda/ by their numbers and then what is beside the
 * climb, then all other sides (peer/, mutant/, student/) by name; each rung behind the one that its header names
 * (From:).
 * *versions is the registry's own, *count long. */
void registry_versions(const struct algorithm *algorithm, struct version *const **versions, size_t *count);

/* Finds a version by id ("cuda/v1.2"), by name ("simd"), or by a unique prefix of either; sets a message that lists the
 * candidates when there is none or more than one (STATUS_BAD_INPUT). */
enum status registry_find_version(const struct algorithm *algorithm, const char *text, const struct version **version);

/* NULL, or in one line why this version cannot run on this machine: no device, or what the version itself says. Starts
 * the CUDA runtime for cuda versions: to be called in a child process, or in one that will not fork. */
const char *version_unavailable(const struct version *version);

/* Gives all CUDA versions for one picture that have no queue this one; NULL takes theirs from all. Before any is
 * used. */
void registry_set_queue(const struct version_queue *queue);

bool version_is_cuda(const struct version *version);
bool version_is_peer(const struct version *version);
/* The rung that the ladder compares this one with: the one that its header names (From:), else the one before it in the
 * climb; NULL for the first of a side, for peers and where this program does not have it. */
const struct version *version_below(const struct version *version);

#ifdef __cplusplus
}
#endif

#include "common/contract/version.h" /* the last line of a version's file */
#endif
