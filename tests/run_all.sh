#!/usr/bin/env bash
# All tests, as `make test` runs them, by the rule in tests/README.md: unit tests, version checks, mutants and command line,
# in the normal build and in one with AddressSanitizer and UndefinedBehaviorSanitizer. Both are built first, so that then as many
# stages run at a time as there are cores until the last has ended, the longest first. Each stage prints its seconds and its processor seconds, which a busy machine does not change much. The last line is
# "N passed, N failed, N skipped".
# usage: MAKE=make BUILD=build CUDA=emulated bash tests/run_all.sh
set -u
MAKE=${MAKE:-make} BUILD=${BUILD:-build} CUDA=${CUDA:-emulated}
jobs=$(nproc 2>/dev/null || echo 2)
BUDGET=${BUDGET:-1}
. tests/limits.sh
passed=0 failed=0 skipped=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
: >"$work/plan"

# Runs a command whose last line of that form is "N passed, N failed, N skipped", or which is a cmocka program; leaves
# "PASSED FAILED SKIPPED SECONDS PROCESSOR-SECONDS" in $1.counts and the output in $1.
run_stage() { # FILE COMMAND...
    local file=$1 code counts begin=$SECONDS processor TIMEFORMAT='%U %S'
    shift
    { time "$@" >"$file" 2>&1 </dev/null; } 2>"$file.time"
    code=$?
    processor=$(awk 'END {printf "%.0f", $1 + $2}' "$file.time")
    counts=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' "$file" | tail -n 1)
    if [ -z "$counts" ]; then
        count() { sed -n "s/^\[  $1 *\] \([0-9]*\) test(s).*/\1/p" "$file" | awk '{n += $1} END {print n + 0}'; }
        counts="$(count PASSED) $(count FAILED) $(count SKIPPED)"
    fi
    set -- $counts
    # Crashed or refused before it could count; or ran nothing: neither may look like success.
    if [ "$2" = 0 ] && { [ $code != 0 ] || [ $(($1 + $3)) = 0 ]; }; then
        echo "exit status $code with $1 passed and none failed" >>"$file"
        set -- "$1" 1 "$3"
    fi
    echo "$1 $2 $3 $((SECONDS - begin)) $processor" >"$file.new"
    mv "$file.new" "$file.counts"
}

# Peers in Python need numpy, which a python3 that comes first on PATH may lack where Debian's own has it.
[ -n "${RUNGS_PYTHON:-}" ] || python3 -c 'import numpy' 2>/dev/null || [ ! -x /usr/bin/python3 ] || export RUNGS_PYTHON=/usr/bin/python3

stages=0 reported=0
titles=() budgets=() over=()

# Prints, in order, the stages that have ended.
report() {
    while [ $reported -lt $stages ] && [ -e "$work/$((reported + 1)).counts" ]; do
        local title=${titles[$reported]} budget=${budgets[$reported]}
        reported=$((reported + 1))
        set -- $(cat "$work/$reported.counts")
        if [ "$budget" != 0 ] && [ "$5" -gt "$budget" ]; then
            over+=("$title: $5 processor seconds, budget $budget")
            if [ "$5" -gt $((2 * budget)) ]; then
                echo "more than twice its budget of $budget processor seconds" >>"$work/$reported"
                set -- "$1" $(($2 + 1)) "$3" "$4" "$5"
            fi
        fi
        passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
        awk -v title="$title" '/^ *SKIP /          { sub(/^ *SKIP */, ""); print title ": " $0 }
                               /^\[  SKIPPED \] / && !/listed below/ && !seen[$NF]++ { print title ": " $NF }' \
            "$work/$reported" >>"$work/skipped"
        if [ "$2" = 0 ]; then
            echo "ok     $title: $1 passed, $3 skipped ($4 s, processor $5 s)"
        else
            echo "FAILED $title: $1 passed, $2 failed, $3 skipped ($4 s, processor $5 s)"
            sed 's/^/       | /' "$work/$reported"
        fi
    done
}

stage() { # BUDGET TITLE COMMAND...
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do
        wait -n
        report
    done
    budgets+=("$1")
    titles+=("$2")
    stages=$((stages + 1))
    shift 2
    run_stage "$work/$stages" "$@" &
}

# For later: what takes more of these "seconds" begins earlier.
plan() { # SECONDS BUDGET TITLE COMMAND
    printf '%s\t%s\t%s\t%s\n' "$@" >>"$work/plan"
}

suite() { # BUILD-FOLDER LADDER-BUDGET CHECK-OPTIONS MAKE-ARGUMENTS...
    local build=$1 budget options=$3 begin=$SECONDS
    budget=$(awk "BEGIN {printf \"%.0f\", $2 * $BUDGET}")
    shift 3
    if ! $MAKE --no-print-directory -s -j"$jobs" test-programs BUILD="$build" CUDA="$CUDA" "$@" >"$work/build" 2>&1; then
        echo "FAILED build of $build"
        tail -n 40 "$work/build" | sed 's/^/       | /'
        failed=$((failed + 1))
        return
    fi
    echo "built  $build ($((SECONDS - begin)) s)"
    # Scripts come first: some wait for time limits while checks keep the other cores at work.
    for script in tests/test_*.sh; do
        [ "$build" = "$BUILD" ] || ! grep -q '^# Not under the sanitizers:' "$script" || continue
        seconds=1000
        ! grep -q '^# Takes minutes:' "$script" || seconds=2000
        plan $seconds 0 "$script ($build)" "sh $script $build"
    done
    # Threads that spin while they wait would take the cores from the stage beside this one.
    for contract in common/algo/*.c; do
        algorithm=$(basename "$contract" .c)
        versions=$(ls cpu/"$algorithm"/*.c cuda/"$algorithm"/*.cu peers/"$algorithm"/* 2>/dev/null | wc -l)
        plan $((budget * versions)) $((budget * versions)) "$build/rungs check $algorithm" \
            "env OMP_WAIT_POLICY=passive $build/rungs check $algorithm $options"
    done
    if [ "$build" = "$BUILD" ]; then # a study is Python and what `rungs bench` prints, which is tested under sanitizers
        for name in $(python3 -B common/study/study.py list 2>/dev/null | sed -n 's/^study-\([^ ]*\) .*/\1/p'); do
            plan 20 0 "study-$name, short form" "sh tests/study_short.sh $build $name"
        done
    fi
    for program in "$build"/tests/test_*; do
        [ -x "$program" ] && [ ! -d "$program" ] && plan 0 0 "$program" "$program"
    done
}

suite "$BUILD" $budget_normal ""
# The peers are libraries that nobody here built with sanitizers.
suite "$BUILD-asan" $budget_asan "--largest $small_pixels --brief" SANITIZE=1 OPENCV=no OPENBLAS=no
sort -s -t "$(printf '\t')" -k1,1nr "$work/plan" >"$work/sorted"
while IFS=$(printf '\t') read -r _ budget title command; do
    stage "$budget" "$title" $command
done <"$work/sorted"
wait
report
[ ! -s "$work/skipped" ] || sed 's/^/not tried: /' "$work/skipped"
[ ${#over[@]} = 0 ] || printf 'over budget: %s\n' "${over[@]}"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
