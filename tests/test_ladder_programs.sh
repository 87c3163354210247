#!/bin/sh
# The program of one ladder (common/build/ladders.mk) does what the program of all does: it has the same versions of it, and each finds
# the versions of other ladders that it stands on. Of pipelines, whose steps are found by name, and of one that has none.
# Not under the sanitizers: the same code is checked there in the program of all.
# usage: sh tests/test_ladder_programs.sh BUILD-FOLDER
set -u
build=$1 passed=0 failed=0
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
is() { # TITLE COMMAND...
    title=$1
    shift
    if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAIL $title"; fi
}
programs=$(ls "$build" | sed -n 's/^rungs-\([a-z]*\)$/\1/p')
for ladder in $programs; do
    [ -d "cpu/$ladder" ] || continue # rungs-mutants and others are no ladder's
    "$build/rungs" list "$ladder" >"$folder/all"
    "$build/rungs-$ladder" list "$ladder" >"$folder/one"
    is "rungs-$ladder has the ladder's versions" cmp "$folder/all" "$folder/one"
    "$build/rungs-$ladder" check "$ladder" --brief --largest 600 --share 50 --pictures "$folder" >"$folder/out"
    is "rungs-$ladder checks them" test $? = 0
    is "$ladder: all that they stand on is there" test "$(grep -c 'this program has one ladder' "$folder/out")" = 0
    [ $failed = 0 ] || cat "$folder/out"
done
is "there were pipelines among them" test "$(echo "$programs" | grep -cxE 'motion|barcode|lines|detect|texture|pca|threshold')" = 7
"$build/rungs-blur" list >"$folder/out"
is "rungs-blur lists blur alone" test "$(grep -c '^[a-z]' "$folder/out")" = 1
"$build/rungs-blur" bench harris >"$folder/out" 2>&1
is "another ladder is refused" test $? = 2
is "in one line" test "$(wc -l <"$folder/out")" = 1
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
