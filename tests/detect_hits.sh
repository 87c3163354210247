#!/bin/sh
# All versions of detect find the same hits, to the bit, in all pictures of the folders: what a check with pictures of its own
# cannot show. Not part of make test: 200 photographs take minutes, and those with faces are the user's.
# usage: detect_hits.sh BUILD-FOLDER FOLDER...        VERSIONS="cpu/simd cuda/v2.12" chooses, default: all
# exit status: 0 all the same, 1 not, 2 bad use
set -u
[ $# -ge 2 ] || {
    echo "usage: detect_hits.sh BUILD-FOLDER FOLDER..." >&2
    exit 2
}
build=$1
shift
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
failed=0 pictures=0
cd "$(dirname "$0")/.." || exit 2
versions=${VERSIONS:-$(ls cpu/detect/*.c cuda/detect/v*.cu | grep -v /serial.c | sed 's|^cpu/detect/\(.*\)\.c$|cpu/\1|; s|^cuda/detect/\(v[0-9.]*\)_.*|cuda/\1|')}

find_hits() { # VERSION FOLDER OUT: a .npy for each picture; files in the folder that are no pictures are passed over
    "$build/rungs" run "detect:$1" "$2" -o "hits=$3" --format npy -p maximum=4096 >"$work/log" 2>&1 || [ -d "$3" ] || {
        cat "$work/log" >&2
        exit 2
    }
}

for folder in "$@"; do
    find_hits cpu/serial "$folder" "$work/expected"
    pictures=$((pictures + $(ls "$work/expected" | wc -l)))
    for version in $versions; do
        find_hits "$version" "$folder" "$work/actual"
        if ! diff -rq "$work/expected" "$work/actual"; then
            failed=$((failed + 1))
            echo "FAIL $version in $folder"
        fi
        rm -rf "$work/actual"
    done
    rm -rf "$work/expected"
done
echo "$pictures pictures, $(echo "$versions" | wc -w) versions, $failed failed"
[ $failed = 0 ] && [ $pictures -gt 0 ]
