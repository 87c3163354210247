#!/bin/sh
# Haar's rectangles: every version of detect that takes a model of them finds the same hits as cpu/serial; one that only looks at cells
# says so, with exit status 2 and no file written. check has no such cases, because what students write in lab 07 looks at cells.
# usage: test_rectangles.sh BUILD-FOLDER
set -u
build=$1
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0
cd "$(dirname "$0")/.." || exit 2
bad() { failed=$((failed + 1)); echo "FAIL $1"; sed 's/^/     /' "$folder/said"; }
find_hits() {
    "$build/rungs" run "detect:$1" images/shapes.png -o "hits=$folder/$2" -p model=common/algo/detect/rectangles.model -p scale=4 \
        -p min_response=2 -p maximum=300 >"$folder/said" 2>&1
}
find_hits cpu/serial expected.csv && [ "$(wc -l <"$folder/expected.csv")" -gt 20 ] || bad "cpu/serial finds nothing"
"$build/rungs" list detect | sed -n 's/^  \(c[pu][ud]a*\/[a-z0-9._]*\) .*/\1/p' >"$folder/versions"
while read -r version; do
    rm -f "$folder/hits.csv"
    find_hits "$version" hits.csv
    code=$?
    if [ $code = 0 ] && cmp -s "$folder/expected.csv" "$folder/hits.csv"; then
        passed=$((passed + 1))
    elif [ $code = 2 ] && [ ! -e "$folder/hits.csv" ] && grep -q "it looks at cells, and haar has none" "$folder/said"; then
        passed=$((passed + 1))
    else
        bad "$version: exit $code"
    fi
done <"$folder/versions"
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ] && [ $passed -gt 0 ]
