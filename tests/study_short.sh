#!/bin/sh
# The short form of one study: every point is measured and right, and its words and plots are there.
# usage: sh tests/study_short.sh BUILD-FOLDER STUDY
build=$1 name=$2
. tests/guard.sh
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0

check() { # TITLE COMMAND...
    title=$1
    shift
    if "$@" >"$folder/log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $title: $*"
        tail -n 20 "$folder/log" | sed 's/^/     /'
    fi
}
check "without Python it says so" sh -c "! env -u MAKEFLAGS -u MFLAGS make -s 'study-$name' BUILD='$build' PYTHON=no-python 2>'$folder/said' &&
    grep -q 'no-python is not here; to install it' '$folder/said'"
if ! command -v gnuplot >/dev/null || ! python3 -c 'import tomllib' 2>/dev/null; then
    echo "$passed passed, $failed failed, 1 skipped"
    [ $failed = 0 ]
    exit
fi
check "it runs, nothing is wrong" guarded 600 python3 -B common/study/study.py run "$name" --level short \
    --rungs "$build/rungs" --dir images --work "$folder/work" --out "$folder/out"
check "no point is left out" sh -c "grep -q '\"left_out\": \\[\\]' '$folder/out/results.json'"
check "rows" test "$(wc -l <"$folder/out/results.csv")" -gt 1
# Where the short form is too small for the plots of the full one, its tables are there.
check "a plot or a table" sh -c "grep -q '</svg>' '$folder'/out/*.svg || grep -q '^|' '$folder/out/study.md'"
check "every place in a paragraph is filled" sh -c "! grep '{[a-z]' '$folder/out/study.md'"
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
