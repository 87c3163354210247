#!/bin/sh
# Builds Rungs for aarch64 with the cross compiler and runs it under qemu-user, with small pictures (tests/limits.sh), most by one call: every
# CPU version that includes simd.h, counts bits or makes threads, for plain ARMv8.0; two CUDA versions for the emulator's own
# assembly; what has dot products once more for processors that have instructions for them (dotprod: 2018 and later; i8mm:
# 2021 and later). ALL=1: every version of every algorithm with all pictures.
# usage: [LADDERS='cuda/blur ...'] [CHECKED=...] sh tests/aarch64.sh     (packages: sh common/build/deps.sh ci)
#        (LADDERS: built are the CPU versions of these alone; CHECKED: of them, where others are steps of pipelines)
set -eu
. tests/limits.sh
build=build-aarch64
of_cpu() { printf '%s\n' $1 | sed 's,^cuda/,cpu/,' | tr '\n' ' '; }
ladders="cuda/blur ${LADDERS:+$(of_cpu "$LADDERS")}"
files=$(printf '%s/*.c ' $(of_cpu "${CHECKED:-${LADDERS:-cpu/*}}"))
[ -z "${ALL:-}" ] || ladders=
build_for() { # SIMD_ARCH
    ${MAKE:-make} -s -j2 CC=aarch64-linux-gnu-gcc CXX=aarch64-linux-gnu-g++ ARCH=armv8-a SIMD_ARCH="$1" CUDA=emulated OPENCV=no OPENBLAS=no \
        LADDERS="$ladders" COMMON_EXTRA=-O1 LDFLAGS="-static -Wl,--no-warnings" BUILD=$build all
}
build_for armv8-a
check_simd() { # FILE...
    ls "$@" | sed 's,cpu/\(.*\)/\([0-9]*_\)\{0\,1\}\(.*\).c,\1:cpu/\3,' | xargs -P 2 -n 1 qemu-aarch64-static $build/rungs check --largest $small_pixels --brief
}
if [ -n "${ALL:-}" ]; then
    qemu-aarch64-static $build/rungs check
else
    for version in v1.2 v2.0; do
        qemu-aarch64-static $build/rungs check blur:cuda/$version --largest $small_pixels --brief
    done
    check_simd $(grep -lE 'common/simd/simd.h|__builtin_(ctz|clz|popcount)|pthread_create' $files)
fi
dotted=$(ls $files | grep -E '[/_](simd|dot_product)\.c$' | xargs grep -l simd_dot || true)
stale() { printf "$build/%s.o\n" $dotted | xargs rm -f; }
for arch in ${dotted:+armv8.2-a+dotprod armv8.6-a}; do
    stale
    build_for $arch
    check_simd $dotted
    stale
done
