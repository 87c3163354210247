/*
 * ntf.h: nonnegative tensor factorisation, the contract of every version in cpu/ntf, cuda/ntf and peers/ntf.
 *
 * Input    tensor: height x width x channels = R x S x T samples, u8 or f32, none negative. Pictures that stand one
 *          after the other in a file are such a tensor: R of them, S x T each. The longest side had best be the first.
 *          f32 samples are 2^40 at most.
 * Output   approx  f32 tensor, R x S x T: the sum over k of u_k (x) v_k (x) w_k; absent with approx=0
 *          u, v, w f32 matrices of R x K, S x K and T x K
 *          errors  f64 matrix of 1 column and a row for each iteration: |G - approx| / |G|, with Frobenius norms, after
 *                  the iteration (update=damped: before it); 0 where |G| is 0. Behind the last iteration its value
 *                  again.
 *
 * Formula  K = rank. The start: entry (i, k) of each factor from ntf_start(). An iteration updates u, then v, then w:
 *
 *              u(i,k) <- max(u(i,k) q, 1e-12)      q = N(i,k) / D(i,k)            0 where N is 0
 *              N(i,k) = SUM over s, t of G(i,s,t) v(s,k) w(t,k)                   (MTTKRP)
 *              D(i,k) = SUM over m of u(i,m) V(m,k) W(m,k)                        V = v'v, W = w'w
 *
 *          and v and w alike. gauss-seidel: each with the newest of the others, so that the error never rises (each
 *          step is one of Lee and Seung's). damped: u, v and w all from the old ones, and the cube root of q instead of
 *          q, for with q itself an error of scale c comes back as 1/c^2, and the factors go to infinity or 0.
 *          errors^2 = 1 - (2 SUM w(t,k) N_w(t,k) - SUM over k, m of U V W) / |G|^2, so that no iteration forms approx.
 *          f32 numerators leave an error of some 1e-6 in it: versions may differ by 1e-5 + 1e-3 errors^2, and
 *          gauss-seidel may rise by 1e-5. Factors may differ by 1e-2 of the largest of them, approx by 1e-2 of its
 *          largest.
 *
 * Parameters   rank        1 (default 4) to 128, at most the smallest product of two sides, the largest rank that such
 *                          a tensor can have
 *              iterations  1 to 100000, default 20
 *              tolerance   0 (default) to 1: ends once an iteration changes the error by this share of it or less; 0
 *                          never
 *              target      0 (default) to 1: ends once the error is this or less; 0 never
 *              seed        of the start, default 1; 0: all ones
 *              update      gauss-seidel (default) or damped
 *              approx      1 (default), 0: no approx
 *              type        f32 (default) or u8: the samples of a tensor that is made up; a file has its own
 *
 * Errors   another type, a sample that is negative or not finite, a rank above the limit: STATUS_BAD_INPUT.
 *
 * Source   Jošth 2014, equation 2 and algorithms 2 and 3; D. Lee, H. Seung, Algorithms for non-negative matrix
 *          factorization, NIPS 2000; T. Hazan, S. Polak, A. Shashua, Sparse image coding using a 3D non-negative tensor
 *          factorization, ICCV 2005; the contraction that two factors share: A.-H. Phan, P. Tichavský, A. Cichocki,
 *          Fast alternating LS algorithms for high order CANDECOMP/PARAFAC tensor factorizations, IEEE Transactions on
 *          Signal Processing 61(19), 2013.
 */
#ifndef RUNGS_NTF_H
#define RUNGS_NTF_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/contract/registry.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { NTF_MAX_RANK = 128 };
enum { NTF_APPROX, NTF_U, NTF_V, NTF_W, NTF_ERRORS };
enum { NTF_GAUSS_SEIDEL, NTF_DAMPED };

/* No entry of a factor becomes smaller, so that none is stuck at 0 and no product is a denormal number. */
#define NTF_SMALLEST 1e-12f

struct ntf_params {
    int rank, iterations, seed, update, approx, type;
    double tolerance, target;
};

/* R, S or T. */
static HOST_DEVICE inline int ntf_side(const struct image *in, int mode)
{
    return mode == 0 ? in->height : mode == 1 ? in->width : in->channels;
}

/* G(r, s, t) where i is its index in `mode`, and a and b are those in the other two modes, in their order. */
static HOST_DEVICE inline float ntf_sample(const struct image *in, int mode, int i, int a, int b)
{
    const int r = mode == 0 ? i : a, s = mode == 1 ? i : mode == 0 ? a : b, t = mode == 2 ? i : b;
    const size_t at = (size_t)s * (size_t)in->channels + (size_t)t;

    return in->type == PIXEL_U8 ? ((const uint8_t *)image_row(in, r))[at] : ((const float *)image_row(in, r))[at];
}

/* Uniform in [1/16, 1), or 1: a hash (splitmix64's) of the entry's place. */
static HOST_DEVICE inline float ntf_start(const struct ntf_params *params, int mode, int row, int k)
{
    uint64_t z = ((uint64_t)(uint32_t)params->seed << 40) + ((uint64_t)(unsigned)(mode + 1) << 38) +
                 ((uint64_t)(uint32_t)row << 7) + (uint32_t)k;

    if (params->seed == 0)
        return 1;
    z = (z + 1) * 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    z ^= z >> 31;
    return 0.0625f + 0.9375f * (float)(uint32_t)(z >> 41) * 0x1p-23f;
}

/* An entry after its update. */
static HOST_DEVICE inline float ntf_updated(float entry, float numerator, float denominator, int update)
{
    const float quotient = numerator > 0 ? numerator / (denominator > 1e-30f ? denominator : 1e-30f) : 0;
    const float updated = entry * (update == NTF_DAMPED ? cbrtf(quotient) : quotient);

    return updated > NTF_SMALLEST ? updated : NTF_SMALLEST;
}

/* From |G|^2, SUM w N_w and SUM U V W. */
static HOST_DEVICE inline double ntf_error(double norm, double product, double model)
{
    const double share = norm > 0 ? 1 - (2 * product - model) / norm : 0;

    return share > 0 ? sqrt(share) : 0;
}

/* Whether the iteration with error `now` is the last one; `before` is the error of the one before it, infinity for the
 * first. */
static HOST_DEVICE inline bool ntf_settled(double before, double now, const struct ntf_params *params)
{
    return (params->target > 0 && now <= params->target) ||
           (params->tolerance > 0 && before < INFINITY && fabs(before - now) <= params->tolerance * before);
}

/* ---------------------------------------------------------------------------------------- for host versions
 * Factors, numerators and weights lie in rows of `stride` floats, a multiple of 16, 64-byte aligned; what is behind the
 * rank is 0 and stays 0. */

struct ntf_work {
    const struct image *in;
    const struct ntf_params *params;
    int sides[3], rank, stride;
    bool parallel;        /* threads are worth their while */
    float *factors[3];    /* for an update to read */
    float *next[3];       /* for an update to write */
    float *numerators[3]; /* N */
    float *weights;       /* rank rows: V W, U W or U V */
};

/* Computes numerators[mode] and updates all rows of the mode by ntf_update(). */
typedef enum status (*ntf_pass)(void *state, struct ntf_work *work, int mode);

static inline size_t ntf_stride(const struct ntf_params *params)
{
    return ((size_t)params->rank + 15) / 16 * 16;
}

/* The whole factorisation; `parallel`: what is not a pass is shared by threads too, unless the tensor is small. */
enum status ntf_solve(const struct image in[], struct image out[], const struct ntf_params *params, ntf_pass pass,
                      void *state, bool parallel);
/* Updates `count` rows of next[mode] from factors[mode] and numerators[mode]. */
void ntf_update(struct ntf_work *work, int mode, int first, int count);
/* numerators[mode] of mode 1 or 2, v or w, out of P(s,t,k) = SUM over r of G(r,s,t) u(r,k), whose S * T rows are
 * `stride` long; then the update. */
void ntf_contract(struct ntf_work *work, int mode, const float *sums);
/* v(s,k) w(t,k), the S * T rows of the Khatri-Rao product, `stride` apart. */
void ntf_products(const struct ntf_work *work, float *products);
/* The tensor as a matrix of f32 with R rows of S * T, *step floats apart: its own memory, or that of *copy, to be
 * freed. */
enum status ntf_take_floats(const struct image *in, const float **samples, size_t *step, float **copy);
/* Aligned memory of so many floats, zeros; NULL where there is none. */
float *ntf_floats(size_t count);

/* NULL, or in one line why tensorly's non_negative_parafac() is not what these parameters ask for
 * (peers/ntf/tensorly.py). */
const char *ntf_tensorly_declines(const struct image in[], const void *params);

#ifdef __cplusplus
}
#endif

#endif
