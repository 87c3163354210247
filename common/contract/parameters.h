/*
 * parameters.h: the parameters of an algorithm (-p ksize=31) and the launch parameters of one version (-p
 * block_width=32): what is legal, what it is by default, and how text becomes values.
 */
#ifndef RUNGS_PARAMETERS_H
#define RUNGS_PARAMETERS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/contract/model.h"
#include "common/core/status.h"
#include "common/image/image.h"

struct algorithm;
struct version;

#ifdef __cplusplus
extern "C" {
#endif

enum parameter_kind { PARAMETER_INT, PARAMETER_REAL, PARAMETER_CHOICE, PARAMETER_TEXT, PARAMETER_MODEL };

enum { PARAMETER_TEXT_SIZE = 256 }; /* bytes of a TEXT field, with the 0 that ends it */

/* One field of an algorithm's parameter struct. A list of them ends with a zeroed entry. */
struct parameter {
    const char *name; /* as in -p name=value */
    enum parameter_kind kind;
    size_t offset;           /* of an int (INT, CHOICE), a double (REAL), a char[PARAMETER_TEXT_SIZE] (TEXT) or a struct
                               * model (MODEL) in the parameter struct */
    double minimum, maximum; /* legal range, inclusive; NaN is never legal. TEXT and MODEL have none */
    double preset;           /* the default */
    const char *const *words; /* CHOICE: the legal words, NULL-terminated; the value is the index. INT: words legal
                               * besides the range, or NULL; the first stands for -1, the next for -2 ... TEXT: the
                               * first is the default, or NULL for "". MODEL: the first is the default file, relative to
                               * the top of the source tree, or NULL for none */
    model_loader load;        /* MODEL: reads and checks the file */
    const char *help;         /* one line: meaning and unit */
    double check_maximum; /* INT: the largest value that `rungs check` draws, and its default there if that is larger,
                               * of a count of steps; 0: `maximum` */
    bool swaps_step;      /* TEXT: names another version for a part of the work, with the same result */
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

/* ---------------------------------------------------------------------------------------- parameter sets */

/* Fills params (algorithm->params_size bytes) with the defaults, then applies "name=value" assignments. A name that is
 * neither the algorithm's nor a tunable of every one of the given versions is an error, as is a value out of range,
 * NaN, or with trailing characters. Tunables are set in place. */
enum status params_parse(const struct algorithm *algorithm, const struct version *const *versions, size_t version_count,
                         const char *const *assignments, size_t assignment_count, void *params);
/* The same from one blank-separated text ("ksize=3 sigma=1"), algorithm parameters only. */
enum status params_parse_text(const struct algorithm *algorithm, const char *text, void *params);
/* Gives the parameters that swap a step their defaults where they name a version of another side than `id`: such a step
 * is not for version `id`, which is compared with one that has it. */
void params_keep_own_steps(const struct algorithm *algorithm, const char *id, void *params);
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
#endif
