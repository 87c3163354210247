/*
 * doubles.cuh: the response from sums that are exact in doubles.
 */
#ifndef RUNGS_HARRIS_DOUBLES_CUH
#define RUNGS_HARRIS_DOUBLES_CUH

#include "common/algo/harris.h"
#include "common/cuda/device.h"

/* Exact, and one addition, where the conversion takes four times as long: x + 2^31 is the mantissa of 2^52 + x + 2^31. */
static __device__ inline double exact_double(int x)
{
    return __hiloint2double(0x43300000, x ^ (int)0x80000000) - (0x1p52 + 0x1p31);
}

/* harris_response(), where a product is one instruction in place of four. */
template <int SIZE, bool BOX>
static __device__ float respond(const struct harris_params &params, struct harris_sums sums)
{
    if constexpr (!BOX && SIZE > 3) /* a Gaussian of 5 weighs 256: more than doubles hold (harris.h) */
        return harris_response(&params, sums);
    const double a = exact_double(sums.a), b = exact_double(sums.b), c = exact_double(sums.c), trace = a + c;
    const float response = (float)fma(-params.k, trace * trace, a * c - b * b) * params.scale;

    return params.window == HARRIS_NONE ? fabsf(response) : response;
}

#endif
