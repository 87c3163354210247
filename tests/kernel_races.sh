#!/bin/sh
# Every CUDA version with the emulator watching each access of each kernel for data races (common/emulator/races.h), on small
# pictures: a race shows in the order of two accesses, not in the size. The mutants prove in every build that it sees them.
# usage: sh tests/kernel_races.sh
set -u
cd "$(dirname "$0")/.." || exit 2
. tests/limits.sh
# Of the CPU's the references, and boxes, whose versions pipelines of the GPU end with.
make --no-print-directory -s CUDA=emulated RACES=1 LADDERS=cpu/boxes BUILD=build-races OPENCV=no OPENBLAS=no build-races/rungs || exit 2
failed=0
for folder in cuda/*/; do
    algorithm=$(basename "$folder")
    for file in "$folder"*.cu; do
        version=$(basename "$file" .cu)
        out=$(OMP_WAIT_POLICY=passive build-races/rungs check "$algorithm:cuda/${version%%_*}" --largest "$small_pixels" --brief --first 2>&1) ||
            { failed=$((failed + 1)) && printf '%s\n' "$out"; }
    done
done
[ $failed = 0 ] && echo "kernels are free of races that the emulator sees"
