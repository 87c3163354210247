#!/bin/sh
# Builds Rungs for aarch64 with the cross compiler and runs it under qemu-user: every version for plain ARMv8.0, and the
# simd versions once more for processors with dot-product instructions (dotprod: 2018 and later; i8mm: 2021 and later).
# usage: sh tests/aarch64.sh     (packages: sh common/build/deps.sh ci)
set -eu
build=build-aarch64
build_for() { # SIMD_ARCH
    ${MAKE:-make} -s CC=aarch64-linux-gnu-gcc CXX=aarch64-linux-gnu-g++ ARCH=armv8-a SIMD_ARCH="$1" CUDA=emulated OPENCV=no \
        LDFLAGS="-static -Wl,--no-warnings" BUILD=$build all
}
build_for armv8-a
qemu-aarch64-static $build/rungs check
for arch in armv8.2-a+dotprod armv8.6-a; do
    rm -f $build/cpu/*/simd.c.o
    build_for $arch
    for simd in cpu/*/simd.c; do
        algorithm=${simd#cpu/}
        qemu-aarch64-static $build/rungs check "${algorithm%/simd.c}:cpu/simd"
    done
done
rm -f $build/cpu/*/simd.c.o
