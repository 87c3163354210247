#!/bin/sh
# All tests, as `make test` runs them: unit tests, version checks, mutants and command line, first in the normal build,
# then in one with AddressSanitizer and UndefinedBehaviorSanitizer. The last line is "N passed, N failed, N skipped".
# usage: MAKE=make BUILD=build CUDA=emulated sh tests/run_all.sh
set -u
MAKE=${MAKE:-make}
BUILD=${BUILD:-build}
passed=0 failed=0 skipped=0
output=$(mktemp) || exit 1
trap 'rm -f "$output"' EXIT

add() { # PASSED FAILED SKIPPED
    passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
}

# Runs a command whose last line of that form is "N passed, N failed, N skipped", or which is a cmocka program.
stage() { # TITLE COMMAND...
    title=$1
    shift
    "$@" >"$output" 2>&1
    code=$?
    counts=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' "$output" | tail -n 1)
    if [ -z "$counts" ]; then
        count() { sed -n "s/^\[  $1 *\] \([0-9]*\) test(s).*/\1/p" "$output" | awk '{n += $1} END {print n + 0}'; }
        counts="$(count PASSED) $(count FAILED) $(count SKIPPED)"
    fi
    case "$code $counts" in
    0\ *) ;;
    *\ 0\ [0-9]*) set -- $counts; counts="$1 1 $3" ;; # crashed or refused before it could count
    esac
    set -- $counts
    [ "$code" != 0 ] && [ "$2" = 0 ] && set -- "$1" 1 "$3"
    [ "$code" = 0 ] && [ "$1" = 0 ] && { echo "       $title ran no test"; set -- 0 1 "$3"; }
    add "$1" "$2" "$3"
    if [ "$2" = 0 ]; then
        echo "ok     $title: $1 passed, $3 skipped"
    else
        echo "FAILED $title: $1 passed, $2 failed, $3 skipped"
        sed 's/^/       | /' "$output"
    fi
}

suite() { # BUILD-FOLDER MAKE-ARGUMENTS...
    build=$1
    shift
    if ! $MAKE --no-print-directory -s -j2 test-programs BUILD="$build" CUDA="$CUDA" "$@" >"$output" 2>&1; then
        echo "FAILED build of $build"
        tail -n 40 "$output" | sed 's/^/       | /'
        add 0 1 0
        return
    fi
    for program in "$build"/tests/test_*; do
        [ -x "$program" ] && [ ! -d "$program" ] && stage "$program" "$program"
    done
    stage "$build/rungs check" "$build/rungs" check
    for script in tests/test_*.sh; do
        stage "$script ($build)" sh "$script" "$build"
    done
}

suite "$BUILD"
suite "$BUILD-asan" SANITIZE=1
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
