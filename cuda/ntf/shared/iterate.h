/*
 * iterate.h: the iterations of ntf on the device, with what all rungs share: the start, the products of each factor
 * with itself, the update, the error and the outputs. A rung adds its pass: the numerators of one factor.
 */
#ifndef RUNGS_NTF_ITERATE_H
#define RUNGS_NTF_ITERATE_H

#include "common/algo/ntf.h"
#include "common/cuda/device.h"

/* All in device memory; factors and numerators are rows of `rank` floats. */
struct ntf_device {
    float *floats;        /* the memory of what follows */
    float *factors[3];    /* for an update to read */
    float *next[3];       /* for an update to write */
    float *numerators[3]; /* N */
    double *sums;         /* the memory of what follows */
    double *grams[3];     /* F'F, rank x rank */
    double *norm;         /* |G|^2 */
    int *settled;         /* 1 when the tolerance is reached: updates then leave the factor as it is */
    int *arrived;         /* blocks that have stored their parts of the error */
    double *parts;        /* these: a product and a model for each column */
    int sides[3], rank, multiprocessors;
};

/* Enqueues what writes numerators[mode]. */
typedef enum status (*ntf_device_pass)(void *state, struct ntf_device *device, const struct image *in, int mode,
                                       cudaStream_t stream);
/* Enqueues a whole iteration: new factors, their products and row `iteration` of the errors. */
typedef enum status (*ntf_device_iteration)(void *state, struct ntf_device *device, const struct image *in,
                                            struct image errors, int iteration, const struct ntf_params *params,
                                            cudaStream_t stream);

/* Allocates what is not there yet. */
enum status ntf_device_setup(struct ntf_device *device, const struct image *in, const struct ntf_params *params);
/* Enqueues the whole factorisation, an update after each pass. */
enum status ntf_device_solve(struct ntf_device *device, const struct image *in, struct image out[],
                             const struct ntf_params *params, ntf_device_pass pass, void *state, cudaStream_t stream);
/* The same, of iterations that the caller makes. */
enum status ntf_device_repeat(struct ntf_device *device, const struct image *in, struct image out[],
                              const struct ntf_params *params, ntf_device_iteration iteration, void *state,
                              cudaStream_t stream);
void ntf_device_teardown(struct ntf_device *device);

/* ------------------------------------------------------------------------ pieces of iterations, enqueued
 * P(s,t,k) = SUM over r of G(r,s,t) u(r,k) is in device memory, as K matrices of S x T. */

/* v(s,k) w(t,k), the S * T rows of the Khatri-Rao product. */
enum status ntf_device_products(struct ntf_device *device, float *products, cudaStream_t stream);
/* Updates u from its numerators, unless next[0] is `updated`; unless damped, it becomes the factor. */
enum status ntf_device_lead(struct ntf_device *device, bool updated, const struct ntf_params *params,
                            cudaStream_t stream);
/* All that follows P in an iteration, a block for each column; P becomes zero. */
enum status ntf_device_follow(struct ntf_device *device, float *sums, struct image errors, int iteration,
                              const struct ntf_params *params, cudaStream_t stream);

#endif
