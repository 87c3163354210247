#!/bin/sh
# Builds Rungs for aarch64 with the cross compiler and verifies every version under qemu-user: once for plain ARMv8.0, once
# with the dot-product instructions. usage: sh tests/aarch64.sh     (packages: sh common/build/deps.sh ci)
set -eu
for arch in armv8-a armv8.2-a+dotprod; do
    build=build-aarch64-$arch
    ${MAKE:-make} -s -j2 CC=aarch64-linux-gnu-gcc CXX=aarch64-linux-gnu-g++ ARCH="$arch" CUDA=emulated OPENCV=no \
        LDFLAGS=-static BUILD="$build" all
    echo "-- $arch"
    qemu-aarch64-static "$build/rungs" check
done
