/*
 * rotation.h: the rotations of as many matrices as a vector has lanes.
 */
#ifndef RUNGS_EIGEN_STEPS_ROTATION_H
#define RUNGS_EIGEN_STEPS_ROTATION_H

#include <stdbool.h>

#include "common/simd/simd.h"

enum { LANES = SIMD_BYTES / 8 };

/* eigen_rotation() in the lanes of `wanted`, which is all ones there; no rotation in the others. */
SIMD_INLINE void rotation(simd_f64 pp, simd_f64 qq, simd_f64 pq, simd_i64 wanted, simd_f64 *cosine, simd_f64 *sine)
{
    const simd_f64 one = 1 + (simd_f64){0}, some = (simd_f64)(((simd_i64)pq & wanted) | ((simd_i64)one & ~wanted));
    const simd_f64 tau = (qq - pp) / (2 * some), magnitude = (simd_f64)((simd_i64)tau & INT64_MAX);
    const simd_f64 least = 1 / (magnitude + simd_root_f64(1 + tau * tau));
    const simd_f64 tangent = (simd_f64)(((simd_i64)least | ((simd_i64)tau & INT64_MIN)) & wanted);

    *cosine = 1 / simd_root_f64(1 + tangent * tangent);
    *sine = tangent * *cosine;
}

SIMD_INLINE bool any(simd_i64 lanes)
{
    int64_t all = 0;

    for (int lane = 0; lane < LANES; lane++)
        all |= lanes[lane];
    return all != 0;
}

#endif
