#!/bin/sh
# Not under the sanitizers: it reads and compiles sources.
# What is true of every rung: how much of it is new since the rung below it, its header, its place in `ls` (rungs/ladders.py, which
# prints the table of all pairs), and what the path, the header and the last line of a version's file mean: numbers, groups, From:,
# Result:, state on the CPU, and a setup() with wrong arguments. The last line is "N passed, N failed, N skipped".
# usage: test_rungs.sh BUILD-FOLDER
set -u
cd "$(dirname "$0")/.." || exit 2
build=$1
root=$PWD
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0 skipped=0
ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); echo "FAIL $1"; }

# --- the table of all pairs
if ! ls -d assignments/*/solution >/dev/null 2>&1; then
    skipped=$((skipped + 1))
    echo "SKIP the table of pairs: a handout of a lab has only some of the rungs"
elif command -v python3 >/dev/null; then
    python3 -B tests/rungs/ladders.py . tests/rungs/exceptions.txt >"$folder/table"
    cat "$folder/table"
    set -- $(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, .*/\1 \2/p' "$folder/table")
    passed=$((passed + ${1:-0})) failed=$((failed + ${2:-1}))

    # The table itself: an exception that is larger than its rung, one twice, one for no rung, one without a reason.
    for line in 'pair grayscale cpu/omp 9999  # why' "$(grep -m 1 '^pair' tests/rungs/exceptions.txt)" 'lines grayscale cpu/none 300  # why' 'lines grayscale cpu/omp 300'; do
        { cat tests/rungs/exceptions.txt; echo "$line"; } >"$folder/exceptions"
        if python3 -B tests/rungs/ladders.py . "$folder/exceptions" >"$folder/out" 2>&1; then bad "an exception '$line' passes"; else ok; fi
    done
    # ... and a ladder that breaks each rule.
    mkdir -p "$folder/root/common/algo" "$folder/root/cpu/ladder" "$folder/root/results"
    : >"$folder/root/common/algo/ladder.c"
    : >"$folder/root/exceptions"
    header() { # FILE PROBLEM RESULT
        printf '/*\n%s * Idea:     i\n * Expect:   e\n%s */\nint a;\n' "$2" "$3" >"$folder/root/cpu/ladder/$1"
    }
    problem=' * Problem:  p
' result=' * Result:   r (results/a.json)
'
    judged() { # WHAT STATUS PATTERN
        python3 -B tests/rungs/ladders.py "$folder/root" "$folder/root/exceptions" >"$folder/out" 2>&1
        code=$?
        if [ $code = "$2" ] && grep -q "$3" "$folder/out"; then ok; else bad "$1: status $code and: $(cat "$folder/out")"; fi
    }
    header 0_serial.c '' '' && header 1_omp.c "$problem" "$result"
    judged "a ladder by the rules" 0 '^3 passed, 0 failed'
    header 1_omp.c "$problem" '' && judged "no result" 1 'cpu/omp .*no Result with a file'
    header 1_omp.c '' "$result" && judged "no problem" 1 'cpu/omp .*no Problem'
    header 1_omp.c "$problem" "$result * From:     cpu/serial
" && judged "From on the main path" 1 'cpu/omp .*From on the main path'
    header 1_omp.c "$problem" "$result$result" && judged "a line twice" 1 'cpu/omp .*a header of Problem, Idea, Expect, Result, Result'
    header 1_omp.c "$problem" "$result$(printf ' *           %s\n' 1 2 3 4 5 6)
" && judged "a long header" 1 'cpu/omp .*a header of 10 lines'
    header 1_omp.c "$problem" "$result" && seq -f 'int a%g;' 121 >>"$folder/root/cpu/ladder/1_omp.c"
    judged "a large pair" 1 'cpu/omp .*pair 121, more than 120'
    header 1_omp.c "$problem" "$result" && mkdir "$folder/root/cpu/ladder/shared" && seq -f 'int a%g;' 130 >"$folder/root/cpu/ladder/shared/a.c"
    echo 'int a;' >"$folder/root/cpu/ladder/shared/a.h"
    echo '#include "cpu/ladder/shared/a.h"' >>"$folder/root/cpu/ladder/1_omp.c"
    judged "a pair that is large by its helper" 1 'cpu/omp  *cpu/serial  *0  *131 .*pair 131'
    header 1_omp.c "$problem" "$result" && header fast.c "$problem" "$result"
    judged "a rung without a number" 1 'no number, and so no place in the climb: fast.c'
    rm "$folder/root/cpu/ladder/fast.c"
    header 10_late.c "$problem" "$result" && header 2_early.c "$problem" "$result"
    judged "an order that ls does not show" 1 'ls cpu/ladder is not its climb'
    rm "$folder"/root/cpu/ladder/[12]*_*e*.c
    header 1_omp.c "$problem" "$result"
    for i in 2 3 4 5 6 7; do header ${i}_a$i.c "$problem" "$result"; done
    judged "eight rungs" 1 'has 8 rungs on its main path'
else
    skipped=$((skipped + 1))
    echo "SKIP the table of pairs: no python3"
fi

# --- From: and state on the CPU, in a ladder of their own
mkdir -p "$folder/cpu/ladder"
for file in common/contract/registry.c common/contract/algorithm.c common/contract/parameters.c common/contract/sides.c common/contract/model.c \
    common/core/status.c common/core/paths.c common/image/image.c tests/rungs/ladder.c; do
    cc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -I. -c "$file" -o "$folder/$(basename "$file").o" || bad "$file does not compile"
done

rung() { # NAME FROM
    {
        echo "/*"
        echo " * Idea:     i"
        echo " * Changed:  c"
        echo " * Expect:   e"
        [ -z "$2" ] || echo " * From:     $2"
        echo " */"
        echo '#include "tests/rungs/ladder.h"'
        echo 'static enum status run(const struct image *in, struct image *out, const struct ladder_params *params)'
        echo '{'
        echo '    (void)in, (void)out, (void)params;'
        echo '    return STATUS_OK;'
        echo '}'
        echo 'RUNGS_CPU_VERSION(ladder)'
    } >"$folder/cpu/ladder/$1.c"
}

# Builds the ladder and opens its registry: the status and what it prints must be these.
table=$root/common/build/versions.sh sides=cpu
ladder() { # WHAT STATUS PATTERN
    (
        cd "$folder" && sh "$table" $(ls -d $sides | sed 's,$,/ladder/*.c,') >versions.c || exit 99
        for file in versions.c $(ls -d $sides | sed 's,$,/ladder/*.c,'); do
            cc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -I"$root" -c "$file" -o "$file.o" || exit 99
        done
        cc *.c.o $(ls -d $sides | sed 's,$,/ladder/*.c.o,') -lm -o ladder || exit 99
        ./ladder
    ) >"$folder/out" 2>&1
    code=$?
    if [ $code = "$2" ] && grep -q "$3" "$folder/out"; then ok; else bad "$1: status $code and: $(cat "$folder/out")"; fi
    rm -f "$folder"/*/ladder/*.o
}

for name in 0_serial 1_omp 2_simd 3_a 4_b; do rung $name ""; done
ladder "no From" 0 '^cpu/serial< cpu/omp<cpu/serial cpu/simd<cpu/omp cpu/a<cpu/simd cpu/b<cpu/a $'
rung 4_b cpu/omp
ladder "two rungs above one" 0 'cpu/simd<cpu/omp cpu/a<cpu/simd cpu/b<cpu/omp $'
rung 3_a cpu/b
ladder "behind the rung that it names" 0 'cpu/simd<cpu/omp cpu/b<cpu/omp cpu/a<cpu/b $'
rung 4_b cpu/a
ladder "a circle" 99 'cpu/ladder/3_a.c: From: cpu/b, which climbs'
rung 4_b cpu/b
ladder "itself" 99 'cpu/ladder/4_b.c: From: cpu/b, which is no other'
rung 4_b cpu/gone
ladder "nothing" 99 'cpu/ladder/4_b.c: From: cpu/gone, which is no other'

# --- numbers are the order, and beside the climb are groups
rm "$folder"/cpu/ladder/*.c
for name in 0_serial 2_b 10_a 1_omp; do rung $name ""; done
ladder "by number" 0 '^cpu/serial< cpu/omp<cpu/serial cpu/b<cpu/omp cpu/a<cpu/b $'
mkdir "$folder/cpu/ladder/others" "$folder/cpu/ladder/shared"
rung others/c cpu/omp
mv "$folder/cpu/ladder/10_a.c" "$folder/cpu/ladder/shared/helper.c"
(cd "$folder" && sh "$table" --list cpu/ladder/*.c cpu/ladder/others/*.c | cut -f2,4,5 | tr '\t\n' '< ') >"$folder/out"
if [ "$(cat "$folder/out")" = 'cpu/serial<< cpu/omp<<cpu/serial cpu/b<<cpu/omp cpu/c<others<cpu/omp ' ]; then ok; else bad "a group: $(cat "$folder/out")"; fi
rung 3_c ""
if (cd "$folder" && sh "$table" cpu/ladder/*.c cpu/ladder/others/*.c) >/dev/null 2>"$folder/out"; then bad "one id twice passes"; else ok; fi
rm -r "$folder/cpu/ladder" && mkdir "$folder/cpu/ladder"
for name in 0_serial 1_omp 2_simd 3_a 4_b; do rung $name ""; done

# --- another side is a line in the table of sides: without it its files are refused, with it they are rungs of their own
mkdir -p "$folder/mpi/ladder" "$folder/common/build" "$folder/common/contract"
cp common/build/versions.sh "$folder/common/build"
cp common/contract/sides.c "$folder/common/contract"
rung 3_a ""
rung 4_b ""
mv "$folder/cpu/ladder/3_a.c" "$folder/cpu/ladder/4_b.c" "$folder/mpi/ladder"
table=$folder/common/build/versions.sh sides="cpu mpi"
ladder "a side that is not in the table" 99 'mpi/ladder/3_a.c is in no folder for versions'
sed -i '/name = "cpu"/i\    {.name = "mpi", .order = 1, .ladder = true, .limits = SIDE_LIMIT_CPU},' "$folder/common/contract/sides.c"
cc -std=c11 -Wall -Wextra -Werror -I. -c "$folder/common/contract/sides.c" -o "$folder/sides.c.o" || bad "sides.c does not compile"
ladder "a side of its own" 0 '^cpu/serial< cpu/omp<cpu/serial cpu/simd<cpu/omp mpi/a< mpi/b<mpi/a $'
sed -i 's/^    {.name = "mpi", .order = 1, .ladder = true,/    {.name = "mpi", .order = 1,/' "$folder/common/contract/sides.c"
ladder "a side that is no ladder" 99 'mpi/ladder/3_a.c is in no folder for versions'
cc -std=c11 -I. -c common/contract/sides.c -o "$folder/sides.c.o"
rm -r "$folder/mpi"
table=$root/common/build/versions.sh sides=cpu

rung 4_b ""
cat >"$folder/cpu/ladder/3_a.c" <<'END'
/*
 * Idea:     counts its calls.
 * Changed:  c
 * Expect:   e
 * Result:   over two
 *           lines
 */
#include "tests/rungs/ladder.h"

struct state {
    int calls;
};

static enum status run(struct state *state, const struct image *in, struct image *out,
                       const struct ladder_params *params)
{
    (void)in, (void)params;
    *(int *)out->data = ++state->calls;
    return STATUS_OK;
}

static void teardown(struct state *state)
{
    printf("teardown after %d\n", state->calls);
}

RUNGS_CPU_VERSION_WITH_STATE(ladder)
END
sed -i '/^#include/i #include <stdio.h>' "$folder/cpu/ladder/3_a.c"
ladder "state on the CPU" 0 '^calls 1 2$'
if grep -q '^teardown after 2$' "$folder/out"; then ok; else bad "state on the CPU: no teardown"; fi
if grep -q '"over two lines",$' "$folder/versions.c"; then ok; else bad "Result: is not in the table"; fi

# --- threshold hands otsu a state
mkdir -p "$folder/cpu/otsu" && rm "$folder/ladder.c.o"
sed 's/ladder_params/otsu_params/; s/(ladder)/(otsu)/; s/"tests.rungs.ladder.h"/"common\/algo\/otsu.h"/
     s/= ++state->calls/= state \&\& ++state->calls == 1 ? 7 : 0/' "$folder/cpu/ladder/3_a.c" >"$folder/cpu/otsu/kept.c"
if (
    for file in common/algo/threshold.c common/algo/otsu.c common/contract/inputs.c common/image/pattern.c tests/rungs/threshold.c; do
        cc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -I. -c "$file" -o "$folder/${file##*/}.$(basename "${file%/*}").o" || exit 99
    done
    cd "$folder" && sh "$root/common/build/versions.sh" cpu/otsu/kept.c >versions.c || exit 99
    for file in versions.c cpu/otsu/kept.c; do
        cc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -I"$root" -c "$file" -o "$file.o" || exit 99
    done
    cc *.o cpu/otsu/kept.c.o -lm -o threshold && ./threshold
) >"$folder/out" 2>&1; then ok; else bad "threshold: $(cat "$folder/out")"; fi

# --- a CUDA version's setup() and teardown() may be missing, but not different
cuda() { # WHAT COMPILES|REFUSED SED-COMMAND
    mkdir -p "$folder/cuda/otsu"
    sed "$3" cuda/otsu/v1.2_private.cu >"$folder/cuda/otsu/v1.2_private.cu"
    "$build/cu2cpp" "$folder/cuda/otsu/v1.2_private.cu" "$folder/version.cpp" || bad "$1: cu2cpp"
    if g++ -std=c++20 -D_GNU_SOURCE -w -fopenmp -I. -Icommon/emulator/include -fsyntax-only "$folder/version.cpp" \
        >"$folder/out" 2>&1; then code=COMPILES; else code=REFUSED; fi
    if [ $code != "$2" ]; then bad "$1: $code and: $(cat "$folder/out")"
    elif [ $code = REFUSED ] && ! grep -q "$4" "$folder/out"; then bad "$1: $(cat "$folder/out")"
    else ok; fi
}
if [ -x "$build/cu2cpp" ]; then
    cuda "as it is" COMPILES ''
    cuda "no setup" COMPILES 's/^static enum status setup(/static enum status unused(/'
    cuda "no teardown" COMPILES 's/^static void teardown(/static void unused(/'
    cuda "setup with a number" REFUSED '/status setup(/s/const struct otsu_params \*params/int params/' 'setup() must take'
    cuda "setup without parameters" REFUSED '/status setup(/s/, const struct otsu_params \*params//' 'setup() must take'
    cuda "teardown of the image" REFUSED '/void teardown(/s/struct state/struct image/' 'teardown() must take'
else
    skipped=$((skipped + 6))
    echo "SKIP setup() with wrong arguments: CUDA is not emulated in $build"
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
