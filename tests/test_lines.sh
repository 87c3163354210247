#!/bin/sh
# Lines: bad parameters of edges, hough, pclines and lines are one clear line and exit status 2, with no file written; no edges, all
# edges, one point and pictures of one row or column give the lists that they should; a photograph whose pixels all vote is worth
# a note; frames of a video get the lines that they get as pictures, however many are in flight; known lines of 60 random scenes are found by both, by pclines as well as by hough (lines_scenes.py); lines
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
    "$build/rungs" run "$algorithm:serial" images/colours.png -o "$folder/out.csv" "$@" >"$folder/said" 2>&1
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
refused "threshold: -5 is outside 1" pclines threshold=-5
refused "d: 1e9 is outside 16" pclines d=1e9
refused "high: -1 is outside 0" edges high=-1
refused "low: -5 is outside 0" edges low=-5
refused "threshold: 0 is outside 1" lines threshold=0
refused "threshold: -5 is outside 1" lines threshold=-5
refused "theta_steps: 0 is outside 1" lines theta_steps=0
refused "theta_steps: 1e9 is outside 1" lines theta_steps=1e9
refused "no power of two" lines detector=pclines d=500

# What is not 0 votes. One point and threshold=1 is no line, for a line has more votes than the threshold.
drawn() { # WIDTH HEIGHT LETTERS-OF-PIXELS: z is an edge point, . none
    { printf 'P5\n%d %d\n255\n' "$1" "$2"; printf %s "$3" | tr . '\0'; } >"$folder/drawn.pgm"
}
dots=$(printf '%4096s' '' | tr ' ' .)
lists() { # LINES FIRST-LINE ALGORITHM SETTING...: of drawn.pgm, by versions of the CPU's side, and the GPU's first and last that lets all points vote for all rows
    lines=$1 first=$2 algorithm=$3
    shift 3
    for setting; do set -- "$@" -p "$setting"; shift; done
    for version in cpu/serial cpu/simd cuda/v1.0 $([ $algorithm = hough ] && echo cpu/ring_buffer cpu/bins cuda/v2.1 || echo cpu/orientation_bins cpu/bit_planes cuda/v2.0); do
        rm -f "$folder/out.csv"
        "$build/rungs" run "$algorithm:$version" "$folder/drawn.pgm" -o "$folder/out.csv" "$@" >"$folder/said" 2>&1
        code=$?
        found=$(sed 1d "$folder/out.csv" | wc -l) said=$(sed -n 2p "$folder/out.csv" | cut -d , -f 1-3)
        if [ $code = 0 ] && [ "$found" = "$lines" ] && [ "$said" = "$first" ]; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            echo "FAIL $algorithm:$version $*: exit status $code, $found lines for $lines, first '$said' for '$first'"
            sed 's/^/     /' "$folder/said"
        fi
    done
}
for algorithm in hough pclines; do
    drawn 64 64 "$dots" # no edges
    lists 0 "" $algorithm threshold=1
    drawn 64 64 "$(echo "$dots" | sed 's/./z/2000')" # one point
    lists 0 "" $algorithm threshold=1
    drawn 1 1 z
    lists 0 "" $algorithm threshold=1
done
# All pixels of 64 x 64: a strip one pixel wide along a diagonal holds its 64 pixels and the 63 beside it.
drawn 64 64 "$(echo "$dots" | tr . z)"
lists 1 45,0.7853982,127 hough threshold=126 window=31
lists 2 0.5302937,2.3444762,127 pclines threshold=126 window=31
for shape in "64 1" "1 64"; do
    # shellcheck disable=SC2086
    set -- $shape
    drawn "$1" "$2" "$(printf '%64s' '' | tr ' ' z)"
    [ "$1" = 1 ] && line=0,0,64 parallel=0.44352174,3.127732,64 || line=0,1.5707964,64 parallel=-0.06262219,1.5727533,64
    lists 1 $line hough threshold=60 window=31
    lists 1 $parallel pclines threshold=60 window=31
done

# Frames of a video, more than any version has in flight: each gets the lines that it gets as a picture, in both spaces.
frames="1 2 3 4 5 6 7 8 9 10 11"
mkdir "$folder/shots"
for frame in $frames; do
    awk -v f="$frame" -v w=96 -v h=64 'BEGIN {
        printf "P6\n%d %d\n255\n", w, h
        for (y = 0; y < h; y++)
            for (x = 0; x < w; x++)
                printf "%s", (x > 5 * f && x < 5 * f + 20 && y > 9) || y < 3 * f - x / 4 ? "zQy" : "!2k"
    }' >"$folder/shots/shot_$frame.ppm"
done
for detector in hough pclines; do
    set -- -p detector=$detector -p high=60 -p low=30 -p threshold=25 -p theta_steps=90 -p d=64 -p maximum=20
    echo frame,rho,theta,votes >"$folder/wanted.csv"
    for frame in $frames; do
        "$build/rungs" run lines:cpu/serial "$folder/shots/shot_$frame.ppm" -o "$folder/frame.csv" "$@" >"$folder/said" 2>&1
        sed "1d; s/^/$frame,/" "$folder/frame.csv" >>"$folder/wanted.csv"
    done
    for version in cpu/serial cpu/omp cuda/v1.0 cuda/v1.1 cuda/v1.2 cuda/v1.3 cuda/v2.0; do
        rm -f "$folder/video.csv"
        RUNGS_EMULATOR_LATE=1 "$build/rungs" run lines:$version "$folder/shots/shot_%d.ppm" -o "$folder/video.csv" "$@" \
            >"$folder/said" 2>&1
        if [ "$(wc -l <"$folder/wanted.csv")" -gt 30 ] && cmp -s "$folder/video.csv" "$folder/wanted.csv"; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            echo "FAIL lines:$version, detector=$detector: frames of a video differ from the pictures that they are"
            sed 's/^/     /' "$folder/said"
        fi
    done
done

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
