#!/bin/sh
# Every CUDA version with the emulator watching each access of each kernel for data races (common/emulator/races.h), on small
# pictures: a race shows in the order of two accesses, not in the size. The mutants prove in every build that it sees them.
# usage: [OBJECTS=build] [LADDERS='cuda/blur ...'] [CHECKED=...] sh tests/kernel_races.sh
#        (OBJECTS: see the Makefile; LADDERS: built are these alone; CHECKED: of them, where others are steps of pipelines)
set -u
cd "$(dirname "$0")/.." || exit 2
. tests/limits.sh
# Of the CPU's the references, and boxes, whose versions pipelines of the GPU end with.
make --no-print-directory -s CUDA=emulated RACES=1 OBJECTS="${OBJECTS:-}" LADDERS="cpu/boxes ${LADDERS:-}" BUILD=build-races OPENCV=no OPENBLAS=no build-races/rungs || exit 2
export OMP_WAIT_POLICY=passive
# One for all: by it the cases are dealt out to the versions of a ladder.
seed=${RUNGS_SEED:-$(($(date +%s) % 100000))}
echo "kernel races: seed $seed"
for file in $(printf '%s\n' ${CHECKED:-${LADDERS:-cuda/*}} | sed 's,$,/*.cu,'); do
    version=${file##*/} algorithm=${file#cuda/}
    echo "${algorithm%%/*}:cuda/${version%%_*}"
done | xargs -P 2 -I VERSION sh -c 'out=$(build-races/rungs check VERSION --largest '"$small_pixels"' --brief --share '"$emulated_share"' \
    --seed '"$seed"' --first 2>&1) || { printf "%s\n" "$out"; exit 1; }' && echo "kernels are free of races that the emulator sees"
