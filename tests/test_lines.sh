#!/bin/sh
# Lines: bad parameters of hough and pclines are one clear line and exit status 2, with no file written; a photograph whose pixels
# all vote is worth a note; known lines of 60 random scenes are found by both, by pclines as well as by hough (lines_scenes.py); lines
# of six photographs are OpenCV's, byte for byte (lines_opencv.sh).
# usage: test_lines.sh BUILD-FOLDER
build=$1
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0 skipped=0
cd "$(dirname "$0")/.." || exit 2

refused() { # MESSAGE ALGORITHM SETTING...
    message=$1 algorithm=$2
    shift 2
    for setting; do set -- "$@" -p "$setting"; shift; done
    "$build/rungs" run "$algorithm:serial" images/shapes.png -o "$folder/out.csv" "$@" >"$folder/said" 2>&1
    code=$?
    if [ $code = 2 ] && [ "$(wc -l <"$folder/said")" = 1 ] && grep -q -- "$message" "$folder/said" &&
        [ ! -e "$folder/out.csv" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $algorithm $*: exit status $code"
        sed 's/^/     /' "$folder/said"
    fi
}
refused "threshold: 0 is outside 1" hough threshold=0
refused "threshold: -5 is outside 1" hough threshold=-5
refused "theta_steps: 0 is outside 1" hough theta_steps=0
refused "theta_steps: 1e9 is outside 1" hough theta_steps=1e9
refused "rho: 0 is outside" hough rho=0
refused "rho: .nan. is not a number" hough rho=nan
refused "odd number of cells" hough window=4
refused "would meet itself" hough window=9 theta_steps=8
refused "needs gradients" hough orientation=10
refused "threshold: 0 is outside 1" pclines threshold=0
refused "no power of two" pclines d=500
refused "odd number of cells" pclines window=8
refused "needs gradients" pclines orientation=10
refused "subpixel: 2 is outside 0" pclines subpixel=2

# A photograph is hardly ever 0, so that all of its pixels would vote; a drawing on black is as it should be.
noted() { # NOTES ALGORITHM INPUT SETTING...
    notes=$1 algorithm=$2 input=$3
    shift 3
    "$build/rungs" run "$algorithm:serial" "$input" -o "$folder/out.csv" "$@" >"$folder/said" 2>&1
    code=$?
    if [ $code = 0 ] && [ "$(grep -c '^note: .*edges=sobel' "$folder/said")" = "$notes" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $algorithm $input $*: exit status $code, not $notes notes"
        sed 's/^/     /' "$folder/said"
    fi
}
for algorithm in hough pclines; do
    noted 1 $algorithm images/gradient.png
    noted 0 $algorithm images/gradient.png -p edges=sobel
    noted 0 $algorithm images/shapes.png
done

if ! command -v python3 >/dev/null; then
    skipped=1
    echo "SKIP the scenes: python3 is not here"
else
    python3 tests/lines_scenes.py "$build" >"$folder/scenes"
    cat "$folder/scenes"
    # shellcheck disable=SC2046
    set -- $(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, .*/\1 \2/p' "$folder/scenes")
    passed=$((passed + ${1:-0})) failed=$((failed + ${2:-1}))
fi
mkdir "$folder/photographs"
for picture in building board aloeL baboon box_in_scene chessboard; do
    for file in images/fetched/$picture.jpg images/fetched/$picture.png; do
        [ -e "$file" ] && ln -s "$(realpath "$file")" "$folder/photographs/"
    done
done
if ! "$build/rungs" list hough 2>/dev/null | grep 'peer/opencv ' | grep -qv unavailable; then
    skipped=$((skipped + 1))
    echo "SKIP OpenCV's lines: no OpenCV"
elif [ -z "$(ls "$folder/photographs")" ]; then
    skipped=$((skipped + 1))
    echo "SKIP OpenCV's lines: no photographs, run make images"
else
    sh tests/lines_opencv.sh "$build" "$folder/photographs" 1:180:150 2:360:60 1:360:90 >"$folder/opencv"
    cat "$folder/opencv"
    # shellcheck disable=SC2046
    set -- $(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, .*/\1 \2/p' "$folder/opencv")
    passed=$((passed + ${1:-0})) failed=$((failed + ${2:-1}))
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
