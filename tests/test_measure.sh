#!/bin/sh
# make measure: files appear whole or not at all, what is measured is kept, and bad use costs one line. usage: sh tests/test_measure.sh BUILD-FOLDER
# Not under the sanitizers: it tests a program in Python.
set -u
build=$1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0
printf 'absdiff_64x48 --size 64x48\nthreshold_64x48 --size 64x48\n' >"$folder/list"
printf 'absdiff_bad --size 0x0\nthreshold_64x48 --size 64x48\n' >"$folder/bad"

# says TITLE STATUS PATTERN COMMAND...: in what it prints there is one line of that pattern
says() {
    title=$1 status=$2 pattern=$3
    shift 3
    "$@" >"$folder/printed" 2>&1 </dev/null
    code=$?
    if [ $code = "$status" ] && [ "$(grep -c -- "$pattern" "$folder/printed")" = 1 ] && ! grep -q Traceback "$folder/printed"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $title: exit $code"
        sed 's/^/     /' "$folder/printed" | head -n 20
    fi
}
measure() { timeout 120 python3 -B common/report/measure.py --rungs "$build/rungs" --results "$folder/results" --versions cpu,peer --seconds 0.01 "$@"; }
files() { find "$folder/results" -type f | wc -l; }
expect() { # TITLE NUMBER
    if [ "$(files)" = "$2" ]; then passed=$((passed + 1)); else failed=$((failed + 1)) && echo "FAIL $1: $(files) files"; fi
}
export RUNGS_COMMIT=1
says "no machine" 2 "MACHINE=My PC" measure --list "$folder/list" "My PC"
says "no such ladder" 2 "measure: sobel: no ladder" measure --list "$folder/list" here sobel
says "no list" 2 "No such file" measure --list "$folder/none" here
says "no time" 1 "^0 measured, 2 not" measure --list "$folder/list" --minutes 0 here
says "both" 0 "^2 measured, 0 not" measure --list "$folder/list" here
expect "both" 2
says "again" 0 "^0 measured, 0 not" measure --list "$folder/list" here
RUNGS_COMMIT=2
says "one ladder of the next commit" 0 "^1 measured, 0 not" measure --list "$folder/list" here absdiff
says "the other" 0 "^1 measured, 0 not" measure --list "$folder/list" here
says "one that fails" 1 "^1 measured, 1 not" measure --list "$folder/bad" there
expect "one that fails" 3
if sh -c 'find "$1" -name "*.json" -exec grep -L "\"commit\": \"[12]\"" {} +' - "$folder/results" | grep -q .; then
    failed=$((failed + 1)) && echo "FAIL commits"
else
    passed=$((passed + 1))
fi
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
