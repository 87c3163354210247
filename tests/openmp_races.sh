#!/bin/sh
# Runs the CPU versions that have threads under ThreadSanitizer with clang's OpenMP run-time and its Archer tool, which tells the sanitizer
# where threads fork, join and wait. A mutant with a planted race must be reported, or the detector is not at work.
# usage: [LADDERS='cuda/blur ...'] [CHECKED=...] sh tests/openmp_races.sh     (packages: sh common/build/deps.sh ci)
#        (LADDERS: built are the CPU versions of these alone; CHECKED: of them, where others are steps of pipelines)
set -eu
. tests/limits.sh
build=build-tsan
of_cpu() { printf '%s\n' $1 | sed 's,^cuda/,cpu/,' | tr '\n' ' '; }
ladders=$(of_cpu "${LADDERS:-}") checked=$(of_cpu "${CHECKED:-${LADDERS:-cpu/*}}")
archer=$(find /usr/lib/llvm-*/lib -name libarcher.so | head -n 1)
[ -n "$archer" ] || { echo "openmp_races: no libarcher.so; install libomp-dev" >&2; exit 2; }
# Two threads show what is unordered; three also what is handed on. Those that wait leave the cores to the others.
export OMP_WAIT_POLICY=passive OMP_TOOL_LIBRARIES="$archer" TSAN_OPTIONS="ignore_noninstrumented_modules=1 halt_on_error=1 exitcode=66" OMP_NUM_THREADS=3

planted="tests/mutants/blur/race.c $(grep -l '^ \* Expect: *ThreadSanitizer' tests/mutants/*/*.c)"
${MAKE:-make} -s -j2 CC=clang CXX=clang++ CUDA=emulated OPENCV=no OPENBLAS=no SIDES=cpu EXTRA="-fsanitize=thread -O1" SERIAL_EXTRA="-fno-sanitize=thread -O3" LDFLAGS=-fsanitize=thread \
    LADDERS="$ladders" MUTANTS="$(echo $planted)" BUILD="$build" "$build/rungs" "$build/rungs-mutants"
grep -lE '^#pragma omp parallel|pthread_create' $(printf '%s/*.c ' $checked) | sed 's,cpu/\(.*\)/\([0-9]*_\)\{0\,1\}\(.*\).c,\1:cpu/\3,' |
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
