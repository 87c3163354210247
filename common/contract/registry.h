/*
 * registry.h: algorithms and their versions.
 *
 * One file is one version, and its path is its identity: cuda/blur/v1.2_tiled.cu is version cuda/v1.2 of blur. The
 * file's last line registers it (RUNGS_CPU_VERSION, RUNGS_CUDA_VERSION); there is no second place to edit. The
 * Makefile lists the files it builds in a generated table (struct version_source), and registry_open() fails unless
 * table and registrations agree, so that no version can drop out silently, and unless every From: in a header names
 * another rung of its side, without a circle.
 */
#ifndef RUNGS_REGISTRY_H
#define RUNGS_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/core/status.h"
#include "common/image/image.h"

struct CUstream_st;    /* a cudaStream_t is a pointer to it */
struct pipeline;       /* pipeline.h */
struct version_remote; /* verify.h */

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------- parameters */

enum parameter_kind { PARAMETER_INT, PARAMETER_REAL, PARAMETER_CHOICE, PARAMETER_TEXT };

enum { PARAMETER_TEXT_SIZE = 256 }; /* bytes of a TEXT field, with the 0 that ends it */

/* One field of an algorithm's parameter struct. A list of them ends with a zeroed entry. */
struct parameter {
    const char *name; /* as in -p name=value */
    enum parameter_kind kind;
    size_t offset;            /* of an int (INT, CHOICE), a double (REAL) or a char[PARAMETER_TEXT_SIZE] (TEXT) in the
                               * parameter struct */
    double minimum, maximum;  /* legal range, inclusive; NaN is never legal. TEXT has none */
    double preset;            /* the default */
    const char *const *words; /* CHOICE: the legal words, NULL-terminated; the value is the index. INT: words legal
                               * besides the range, or NULL; the first stands for -1, the next for -2 ... TEXT: the
                               * first is the default, or NULL for "" */
    const char *help;         /* one line: meaning and unit */
};

/* A launch parameter of one version (-p block_width=32), for searching (rungs tune). A list of them ends with a zeroed
 * entry and has VERSION_MAX_TUNABLES at most. */
struct tunable {
    const char *name;
    int *value;       /* static in the version's file; its initial value is the documented default */
    const int *legal; /* positive, ascending, 0-terminated, with the default among them */
    const char *help;
    const char *const
        *words; /* what the legal values are called (-p schedule=dynamic), in their order; NULL: numbers */

    int preset; /* the registry's: the documented default */
};

enum { VERSION_MAX_TUNABLES = 4 };

/* -------------------------------------------------------------------------------------------- algorithms */

enum { ALGORITHM_MAX_INPUTS = 2, ALGORITHM_MAX_OUTPUTS = 1 };

/* The least that any version must move and compute for one call; what the bench's limits are made of. */
struct cost {
    double bytes;          /* read and written once each in main memory */
    double operations;     /* of the kind named in operation */
    const char *operation; /* for example "8-bit multiply-accumulate" */
};

/* An answer worked out by hand: the serial version must give exactly this. */
struct golden {
    const char *name;
    const char *settings; /* "ksize=3 sigma=1", as after -p, separated by blanks */
    int width, height, channels;
    const uint8_t *in[ALGORITHM_MAX_INPUTS]; /* height x width x channels samples, no padding */
    const uint8_t *out;
};

/* What an output is: whoever explains a wrong one has to know. In LABELS (i32) a fault in one place changes pixels far
 * away; a TABLE (1 channel) has in its first sample how many rows below the first are in use. */
enum output_kind { OUTPUT_PICTURE, OUTPUT_LABELS, OUTPUT_TABLE };

/* The contract of an algorithm, as data; common/algo/<name>.c fills one in. */
struct algorithm {
    const char *name;
    const char *summary; /* one line */
    int inputs;          /* images it takes, 1..ALGORITHM_MAX_INPUTS; it gives one */
    size_t params_size;
    const struct parameter *parameters;

    /* After parsing: fills derived fields, refuses combinations that single ranges cannot express. May be NULL. */
    enum status (*finish)(void *params);
    /* Refuses inputs of the wrong type or shape, else fills width, height, channels and type of *out (not data). */
    enum status (*shape)(const struct image in[], const void *params, struct image *out);
    void (*cost)(const struct image in[], const void *params, struct cost *cost);
    /* How far, in pixels, an output pixel looks around: diagnosis, and interior-only comparison of peers. */
    int (*radius)(const void *params);
    /* "ksize=15 sigma=2.6": the settings as a table's headline shows them. NULL: it has no parameters. */
    void (*describe)(const void *params, char *text, size_t size);

    double tolerance; /* largest legal difference between versions; 0 = to the bit */
    enum output_kind output;
    const char *const *columns; /* of a TABLE: their names, NULL-terminated */
    /* Settings that `rungs check` tries besides the default ("ksize=3 sigma=0.8"), NULL-terminated. */
    const char *const *check_settings;
    const int *check_channels;    /* channel counts of inputs, 0-terminated */
    const struct golden *goldens; /* ends with a zeroed entry */
    int bench_channels;           /* what the bench feeds it by default: 1 = gray, 3 = RGB */
    enum pixel_type input_type;   /* what the harness makes as input */
    /* Makes legal inputs out of what the harness has filled in (patterns, or a photograph in each): a mask out of
     * gray values, say. Must not be needed by inputs that a user gives. May be NULL. */
    void (*prepare)(struct image in[]);
    bool video; /* its versions are pipelines (pipeline.h): they take a video besides two pictures */
    /* Of a video algorithm: the picture that takes the place of the first frame, or NULL. */
    const char *(*background_file)(const void *params);

    struct algorithm *next; /* the registry's */
};

/* ---------------------------------------------------------------------------------------------- versions */

/* What the build knows of one version's file. Generated into $(BUILD)/generated/versions.c. */
struct version_source {
    const char *path;                    /* "cuda/blur/v1.2_tiled.cu" */
    const char *algorithm;               /* "blur" */
    const char *id;                      /* "cuda/v1.2" */
    const char *idea, *changed, *expect; /* the header lines, unwrapped */
    const char *result;                  /* what measuring said, with the results file; NULL: nothing measured */
    const char *from;                    /* id of the rung that this one climbs from; NULL: the one before it */
    const char *not_built;               /* NULL, or why the build left this file out: listed, but it cannot run */
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
    const struct pipeline *pipeline; /* of every version of a video algorithm, else NULL */

    /* A version that runs in another process, of which this is the stand-in (common/remote/remote.h); else NULL. */
    const struct version_remote *remote;

    /* The registry's. */
    const struct version_source *source;
    const struct algorithm *algorithm;
    struct version *next;
};

void registry_add_algorithm(struct algorithm *algorithm);
void registry_add_version(struct version *version);

/* Joins registrations with the generated table and sorts them. To be called once, at the start of main. Fails
 * (STATUS_FAILED) when a built file registered nothing, a registration has no built file, or an algorithm is
 * unknown. */
enum status registry_open(void);

/* In alphabetic order; NULL ends. */
const struct algorithm *registry_algorithms(void);
const struct algorithm *registry_find_algorithm(const char *name); /* NULL if there is none */

/* The versions of an algorithm in the order of the ladder: cpu/serial, cpu/omp, cpu/simd, other cpu/, cuda/ by
 * number, then all other sides (peer/, mutant/, student/) by name; each rung behind the one that its header names
 * (From:). *versions is the registry's own, *count long. */
void registry_versions(const struct algorithm *algorithm, struct version *const **versions, size_t *count);

/* Finds a version by id ("cuda/v1.2"), by name ("simd"), or by a unique prefix of either; sets a message that lists the
 * candidates when there is none or more than one (STATUS_BAD_INPUT). */
enum status registry_find_version(const struct algorithm *algorithm, const char *text, const struct version **version);

/* NULL, or in one line why this version cannot run on this machine: no device, or what the version itself says. Starts
 * the CUDA runtime for cuda versions: to be called in a child process, or in one that will not fork. */
const char *version_unavailable(const struct version *version);

bool version_is_cuda(const struct version *version);
bool version_is_peer(const struct version *version);
/* The rung that the ladder compares this one with: the one that its header names (From:), else the one before it of the
 * same side; NULL for the first of a side and for peers. */
const struct version *version_below(const struct version *version);

/* ---------------------------------------------------------------------------------------- parameter sets */

/* Fills params (algorithm->params_size bytes) with the defaults, then applies "name=value" assignments. A name that is
 * neither the algorithm's nor a tunable of every one of the given versions is an error, as is a value out of range,
 * NaN, or with trailing characters. Tunables are set in place. */
enum status params_parse(const struct algorithm *algorithm, const struct version *const *versions, size_t version_count,
                         const char *const *assignments, size_t assignment_count, void *params);
/* The same from one blank-separated text ("ksize=3 sigma=1"), algorithm parameters only. */
enum status params_parse_text(const struct algorithm *algorithm, const char *text, void *params);
/* The settings in words, "no parameters" where there are none to name. */
void params_describe(const struct algorithm *algorithm, const void *params, char *text, size_t size);

/* Whether one of the assignments is for this name. */
bool params_assigned(const char *const *assignments, size_t assignment_count, const char *name);

/* The tunable of that name, NULL when the version has none. */
struct tunable *version_tunable(const struct version *version, const char *name);
/* Gives it a value as after "name=": STATUS_BAD_INPUT when that is none of the legal ones. */
enum status tunable_set(const struct tunable *tunable, const char *value);
/* Appends " name=value", without the blank at the beginning of the text, as after -p. */
void tunable_describe(const struct tunable *tunable, int value, char *text, size_t size);
/* "block_width=32 block_height=16": the present values of a version's tunables; "" when it has none. */
void version_describe_tunables(const struct version *version, char *text, size_t size);
/* Refuses (STATUS_BAD_INPUT) tunables whose present values do not go together for these inputs and parameters. */
enum status version_check_tunables(const struct version *version, const struct image in[], const void *params);

#ifdef __cplusplus
}
#endif

#include "common/contract/version.h" /* the last line of a version's file */
#endif
