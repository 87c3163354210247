#!/bin/sh
# The pictures committed in images/ are what images/make_synthetic.c draws, and a changed one is noticed; so is the model that
# checks of texture and barcode try besides the trained one.
# Not under the sanitizers: it compiles for itself.
# usage: sh tests/test_synthetic.sh [BUILD]   (compiles for itself; from the repository's root)
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

expect() { # EXIT-STATUS TITLE COMMAND...
    wanted=$1 title=$2
    shift 2
    "$@" >"$work/output" 2>&1
    code=$?
    if [ "$code" = "$wanted" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "$title: exit status $code instead of $wanted"
        cat "$work/output"
    fi
}

# shellcheck disable=SC2086 # CC may hold options
expect 0 "compile" ${CC:-gcc} -std=c11 -D_GNU_SOURCE -O1 -I. images/make_synthetic.c common/core/file.c common/image/npy.c \
    common/image/stb.c common/image/bmp.c common/image/exif.c common/image/picture.c common/image/picture_probe.c common/image/pnm.c \
    common/image/samples.c \
    common/image/image_io.c common/image/image.c common/core/status.c common/image/pattern.c -lm \
    -o "$work/make_synthetic"
expect 0 "images/ is as drawn" "$work/make_synthetic" --check images
mkdir "$work/copy"
expect 0 "write" "$work/make_synthetic" "$work/copy"
expect 0 "what was written is as drawn" "$work/make_synthetic" --check "$work/copy"
cp images/shapes_noisy.png "$work/copy/shapes.png"
expect 1 "a different picture" "$work/make_synthetic" --check "$work/copy"
rm "$work/copy/shapes.png"
expect 2 "a missing picture" "$work/make_synthetic" --check "$work/copy"
expect 2 "a missing folder" "$work/make_synthetic" "$work/nowhere"
expect 2 "no argument" "$work/make_synthetic"
expect 0 "make the hard model of texture" python3 -B common/algo/texture/make_hard.py "$work/hard.npy"
expect 0 "common/algo/texture/hard.npy is as made" cmp "$work/hard.npy" common/algo/texture/hard.npy
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
