/*
 * thirds.cuh: maxima over chords by tripling: over 3, 9 and 27 pixels, from each pixel of a line on, and over the
 * chords out of these.
 */
#ifndef RUNGS_MORPHOLOGY_STEPS_THIRDS_CUH
#define RUNGS_MORPHOLOGY_STEPS_THIRDS_CUH

#include "cuda/morphology/shared/chords.cuh"
#include "cuda/morphology/shared/pairs.cuh"

#ifdef __CUDA_ARCH__
#define UNROLL _Pragma("unroll")
#else /* the emulator's compiler does not know it */
#define UNROLL
#endif

/* Maxima over `length` pixels, from pixel p on, out of maxima over `part` pixels, part <= length <= 3 * part. */
template <int WORDS> static __device__ unsigned longer(const struct pairs<WORDS> &parts, int p, int part, int length)
{
    if (length == part)
        return parts.get(p);
    if (length <= 2 * part)
        return __vmaxu2(parts.get(p), parts.get(p + length - part));
    return __vimax3_u16x2(parts.get(p), parts.get(p + part), parts.get(p + length - part));
}

/* Maxima over the chords around each of the thread's own pixels. */
template <class K, int KINDS>
static __device__ void find_maxima(unsigned (&row)[KINDS][K::OWN][2], struct pairs<K::WORDS> parts)
{
    constexpr struct chords CHORDS = K::CHORDS;

    UNROLL
    for (int part = 1; part <= 27; part *= 3) {
        UNROLL
        for (int n = 0; n < KINDS * K::OWN * 2; n++) {
            const int kind = n / (K::OWN * 2), word = n / 2 % K::OWN, length = CHORDS.lengths[kind];
            if (length >= part && length < 3 * part)
                row[kind][word][n % 2] = longer(parts, 4 * (K::HALO + word) + n % 2 - length / 2, part, length);
        }
        struct pairs<K::WORDS> next;
        UNROLL
        for (int n = 0; n < K::WORDS * 2; n++)
            next.at[n % 2][n / 2] = longer(parts, n / 2 * 4 + n % 2, part, 3 * part);
        parts = next;
    }
}

#endif
