#!/usr/bin/env bash
# All tests, as `make test` runs them: unit tests, version checks, mutants and command line, first in the normal build,
# then in one with AddressSanitizer and UndefinedBehaviorSanitizer; as many at a time as there are cores. The last line is
# "N passed, N failed, N skipped".
# usage: MAKE=make BUILD=build CUDA=emulated bash tests/run_all.sh
set -u
MAKE=${MAKE:-make} BUILD=${BUILD:-build} CUDA=${CUDA:-emulated}
jobs=$(nproc 2>/dev/null || echo 2)
passed=0 failed=0 skipped=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# Runs a command whose last line of that form is "N passed, N failed, N skipped", or which is a cmocka program; leaves
# "PASSED FAILED SKIPPED SECONDS" in $1.counts and the output in $1.
run_stage() { # FILE COMMAND...
    local file=$1 code counts begin=$SECONDS
    shift
    "$@" >"$file" 2>&1 </dev/null
    code=$?
    counts=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' "$file" | tail -n 1)
    if [ -z "$counts" ]; then
        count() { sed -n "s/^\[  $1 *\] \([0-9]*\) test(s).*/\1/p" "$file" | awk '{n += $1} END {print n + 0}'; }
        counts="$(count PASSED) $(count FAILED) $(count SKIPPED)"
    fi
    set -- $counts
    # Crashed or refused before it could count; or ran nothing: neither may look like success.
    if [ "$2" = 0 ] && { [ $code != 0 ] || [ "$1" = 0 ]; }; then
        echo "exit status $code with $1 passed and none failed" >>"$file"
        set -- "$1" 1 "$3"
    fi
    echo "$1 $2 $3 $((SECONDS - begin))" >"$file.counts"
}

stages=0 reported=0
titles=()

# Prints, in order, the stages that have ended.
report() {
    while [ $reported -lt $stages ] && [ -e "$work/$((reported + 1)).counts" ]; do
        reported=$((reported + 1))
        local title=${titles[$((reported - 1))]}
        set -- $(cat "$work/$reported.counts")
        passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
        if [ "$2" = 0 ]; then
            echo "ok     $title: $1 passed, $3 skipped ($4 s)"
        else
            echo "FAILED $title: $1 passed, $2 failed, $3 skipped ($4 s)"
            sed 's/^/       | /' "$work/$reported"
        fi
    done
}

stage() { # TITLE COMMAND...
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do
        wait -n
        report
    done
    titles+=("$1")
    stages=$((stages + 1))
    shift
    run_stage "$work/$stages" "$@" &
}

suite() { # BUILD-FOLDER MAKE-ARGUMENTS...
    local build=$1
    shift
    if ! $MAKE --no-print-directory -s -j"$jobs" test-programs BUILD="$build" CUDA="$CUDA" "$@" >"$work/build" 2>&1; then
        echo "FAILED build of $build"
        tail -n 40 "$work/build" | sed 's/^/       | /'
        failed=$((failed + 1))
        return
    fi
    for contract in common/algo/*.c; do
        algorithm=$(basename "$contract" .c)
        if [ "$build:$algorithm" = "$BUILD-asan:motion" ]; then
            # The other pipelines are these with other versions of the steps, which are checked by themselves.
            for version in cpu/serial cpu/packed cpu/per_frame cuda/v1.0 cuda/v1.1 cuda/v2.0; do
                set -- "${version%/*}/motion/${version#*/}"[._]* # a lab's handout has only some of them
                [ ! -e "$1" ] || stage "$build/rungs check motion:$version" "$build/rungs" check "motion:$version"
            done
        else
            stage "$build/rungs check $algorithm" "$build/rungs" check "$algorithm"
        fi
    done
    for script in tests/test_*.sh; do
        case $build:$script in # they test scripts, not C
        *-asan:tests/test_doctor.sh | *-asan:tests/test_report.sh | *-asan:tests/test_rungs.sh | \
            *-asan:tests/test_pages.sh) continue ;;
        esac
        stage "$script ($build)" sh "$script" "$build"
    done
    for program in "$build"/tests/test_*; do
        [ -x "$program" ] && [ ! -d "$program" ] && stage "$program" "$program"
    done
    wait
    report
}

suite "$BUILD"
suite "$BUILD-asan" SANITIZE=1
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
