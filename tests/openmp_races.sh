#!/bin/sh
# Runs the CPU versions that have threads under ThreadSanitizer with clang's OpenMP run-time and its Archer tool, which tells the sanitizer
# where threads fork, join and wait. A mutant with a planted race must be reported, or the detector is not at work.
# usage: sh tests/openmp_races.sh     (packages: sh common/build/deps.sh ci)
set -eu
. tests/limits.sh
build=build-tsan
archer=$(find /usr/lib/llvm-*/lib -name libarcher.so | head -n 1)
[ -n "$archer" ] || { echo "openmp_races: no libarcher.so; install libomp-dev" >&2; exit 2; }
export OMP_TOOL_LIBRARIES="$archer" TSAN_OPTIONS="ignore_noninstrumented_modules=1 halt_on_error=1 exitcode=66" OMP_NUM_THREADS=4

planted="tests/mutants/blur/race.c $(grep -l '^ \* Expect: *ThreadSanitizer' tests/mutants/*/*.c)"
${MAKE:-make} -s -j2 CC=clang CXX=clang++ CUDA=emulated OPENCV=no OPENBLAS=no SIDES=cpu EXTRA="-fsanitize=thread -O1" SERIAL_EXTRA="-fno-sanitize=thread -O3" LDFLAGS=-fsanitize=thread \
    MUTANTS="$(echo $planted)" BUILD="$build" "$build/rungs" "$build/rungs-mutants"
grep -lE '^#pragma omp parallel|pthread_create' cpu/*/*.c | sed 's,cpu/\(.*\)/\(.*\).c,\1:cpu/\2,' |
    xargs -P 2 -I VERSION "$build/rungs" check VERSION --largest $small_pixels --brief
for file in $planted; do
    name=${file##*/} algorithm=${file#tests/mutants/}
    if "$build/rungs-mutants" check "${algorithm%%/*}:mutant/${name%.c}" --largest $small_pixels >"$build/race.txt" 2>&1 ||
        ! grep -q "ThreadSanitizer: data race in .* at $file" "$build/race.txt"; then
        echo "openmp_races: the planted race in $file was not reported:" >&2
        cat "$build/race.txt" >&2
        exit 1
    fi
done
echo "planted races reported; versions clean"
