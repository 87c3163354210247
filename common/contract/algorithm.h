/*
 * algorithm.h: the contract of an algorithm, as data; common/algo/<name>.c fills one in and registers it in its last
 * line, and so do the small algorithms of the tests.
 */
#ifndef RUNGS_ALGORITHM_H
#define RUNGS_ALGORITHM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/contract/parameters.h"
#include "common/contract/slot.h"
#include "common/core/status.h"
#include "common/image/image.h"
#include "common/image/pattern.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { ALGORITHM_MAX_INPUTS = 4, ALGORITHM_MAX_OUTPUTS = 6, ALGORITHM_MAX_COUNTS = 8 };

/* ------------------------------------------------------------------------------------------------- costs */

/* What operations are counted as. A kind with a ceiling is measured in the bench's own run (ceiling.h, bench_device.h)
 * and can limit a version; the others are for the record. */
enum operation {
    OPERATION_MULTIPLY_ADD_8,    /* products of 8-bit integers, added up in 16 or 32 bits */
    OPERATION_MULTIPLY_ADD_16,   /* products of 16-bit integers, added up in 32 bits */
    OPERATION_MULTIPLY_ADD_F32,  /* fused */
    OPERATION_MULTIPLY_ADD_F64,  /* fused */
    OPERATION_TABLE_LOOK_UP,     /* loads of 4 bytes at addresses that the data decide, from a table of 16 KB */
    OPERATION_COUNTER_INCREMENT, /* additions to counters at addresses that the data decide: on a GPU shared atomics */
    OPERATION_COMPARISON_8,      /* minima, maxima or comparisons of 8-bit samples */
    OPERATION_OTHER,             /* no ceiling is measured */
    OPERATION_COUNT
};

/* "8-bit multiply-accumulate". */
const char *operation_name(enum operation operation);

/* The least that any version must move and compute for one call; what the bench's limits are made of. */
struct cost {
    double bytes; /* read and written once each in main memory */
    double operations[OPERATION_COUNT];
};

/* The kind that most operations are of; OPERATION_COUNT when none are counted. */
enum operation cost_main_operation(const struct cost *cost);

/* ------------------------------------------------------------------------------------------------ inputs */

/* What the harness asks an algorithm's input maker for. */
struct input_request {
    int width, height,
        channels;          /* of the first input; a maker of no pictures reads them as rows, features, bands ... */
    enum pattern pattern;  /* what the samples are drawn from */
    uint64_t seed;         /* of everything random in it */
    const char *hard_case; /* NULL, or the name of one of the algorithm's hard cases: then it says what to make */
    const struct image *photograph; /* NULL, or a photograph of width x height x channels, u8, to make inputs out of */
    const void *params;
};

/* An input that is known to be difficult, by name; `rungs check` tries it at each of its sizes. */
struct hard_case {
    const char *name;       /* "spiral" */
    const int (*shapes)[3]; /* width, height, channels; a zeroed entry ends */
    const char *settings;   /* as after -p, NULL: the defaults */
    bool further;           /* tried behind all other cases, whose numbers and seeds stay as they were without it */
    bool long_emulated;     /* not for the emulator, in which it takes half a minute, unless --thorough */
    bool unanswered;        /* the contract has no answer: a version may fail, but must end (verify_unanswered()) */
};

/* An answer worked out by hand: the serial version must give exactly this. */
struct golden {
    const char *name;
    const char *settings; /* "ksize=3 sigma=1", as after -p, separated by blanks */
    int width, height, channels;
    int shapes[ALGORITHM_MAX_INPUTS][3];     /* width, height, channels of inputs that have another shape; else 0 */
    const uint8_t *in[ALGORITHM_MAX_INPUTS]; /* height x width x channels samples, no padding */
    const enum pixel_type *types;            /* of the inputs; NULL: the slots' */
    const uint8_t *out[ALGORITHM_MAX_OUTPUTS];
};

/* Samples of another type than bytes, for `in` and `out`. */
#define GOLDEN_SAMPLES(type, ...)                                                                                      \
    (const uint8_t *)(const type[])                                                                                    \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }

/* ---------------------------------------------------------------------------------------------- training */

/* What `rungs train ALGO DATA... -o MODEL` hands to the algorithm. */
struct training {
    const char *const *data; /* the files and folders that the user named */
    size_t data_count;
    const char *out;    /* the model's file: written whole or not at all (file.h) */
    const char *extra;  /* --boxes FILE: what is known about the data; NULL when none was given */
    const void *params; /* of the training, not of the algorithm */
    int threads;
    bool resume; /* go on from the checkpoint beside `out`, when there is one */
};

struct trainer {
    size_t params_size;
    const struct parameter *parameters;
    const char *data_help; /* what DATA is: "POSITIVES NEGATIVES/", for the help */
    /* Trains; reports progress (progress.h). The same data, parameters and seed give the same model, whatever the
     * threads. */
    enum status (*train)(const struct training *training);
};

/* --------------------------------------------------------------------------------------------- algorithms */

struct algorithm {
    const char *name;
    const char *summary;                              /* one line */
    struct named_slot inputs[ALGORITHM_MAX_INPUTS];   /* at least one */
    struct named_slot outputs[ALGORITHM_MAX_OUTPUTS]; /* the first is the main one */
    size_t params_size;
    const struct parameter *parameters; /* ends with a zeroed entry; NULL only for algorithms that are not registered */

    /* After parsing: fills derived fields, refuses combinations that single ranges cannot express. May be NULL. */
    enum status (*finish)(void *params);
    /* Refuses inputs of the wrong type or shape, else fills width, height, channels and type of each output (not data).
     * An output that these parameters do not ask for keeps width 0: it is absent, its data is NULL. */
    enum status (*shape)(const struct image in[], const void *params, struct image out[]);
    /* Refuses inputs, on the host, whose samples the contract does not allow (NaN), where the inputs come from a user;
     * those that the harness makes are legal. May be NULL. */
    enum status (*check_values)(const struct image in[], const void *params);
    /* One line for a user whose inputs are legal and hardly meant with these parameters; NULL: nothing to say. May be
     * NULL. */
    const char *(*advise)(const struct image in[], const void *params);
    /* `out` are the reference's results, so that a cost may depend on the data (edge points, stages evaluated); NULL
     * when only an estimate is wanted. */
    void (*cost)(const struct image in[], const struct image out[], const void *params, struct cost *cost);
    /* What the definition does with an input (windows left after the stages), for studies of the data: names,
     * NULL-terminated, of at most ALGORITHM_MAX_COUNTS numbers, and what finds them. May be NULL. */
    const char *const *count_names;
    enum status (*count)(const struct image in[], const void *params, double counts[]);
    /* How far, in pixels, an output pixel looks around: diagnosis, and interior-only comparison of peers. */
    int (*radius)(const void *params);
    /* "ksize=15 sigma=2.6": the settings as a table's headline shows them. NULL: it has no parameters. */
    void (*describe)(const void *params, char *text, size_t size);

    /* Makes new inputs (image_create, array_create), all of them; on failure none. NULL: pictures of the requested
     * shape and of each slot's type, filled with the pattern, or copies of the photograph. See inputs.h. */
    enum status (*make_inputs)(const struct input_request *request, struct image in[]);
    const struct hard_case *hard_cases; /* ends with a zeroed entry; may be NULL */
    bool inputs_stay_in_place;          /* a picture shifted cyclically would no longer be what the contract asks for */

    /* Settings that `rungs check` tries besides the default ("ksize=3 sigma=0.8"), NULL-terminated. */
    const char *const *check_settings;
    const int *check_channels;    /* channel counts of inputs, 0-terminated */
    const int (*check_shapes)[3]; /* width, height, channels that take the place of the picture sizes of check.c; a
                                      * zeroed entry ends; NULL for algorithms on pictures */
    const struct golden *goldens; /* ends with a zeroed entry */
    int bench_channels;           /* what the bench feeds it by default: 1 = gray, 3 = RGB */
    const int *bench_shape;       /* width, height, channels of the bench's default input; NULL: 1920 x 1080 */

    bool video; /* its versions are pipelines (pipeline.h): they take a video besides pictures */
    /* Of a video algorithm: the picture that takes the place of the first frame, or NULL. */
    const char *(*background_file)(const void *params);

    const struct trainer *trainer; /* NULL when there is nothing to train */

    /* The registry's. */
    int input_count, output_count;
    struct algorithm *next;
};

/* Counts the slots; registry_add_algorithm() does it for those that register. */
void algorithm_count_slots(struct algorithm *algorithm);

/* The slot of that name, -1 when there is none. */
int algorithm_find_output(const struct algorithm *algorithm, const char *name);

void registry_add_algorithm(struct algorithm *algorithm);

/* The last line of common/algo/<name>.c. */
#define RUNGS_ALGORITHM(algorithm)                                                                                     \
    __attribute__((constructor)) static void register_algorithm(void)                                                  \
    {                                                                                                                  \
        registry_add_algorithm(&(algorithm));                                                                          \
    }

#ifdef __cplusplus
}
#endif
#endif
