#!/bin/sh
# rungs bench of a video algorithm: its tables and files, that a wrong pipeline gets no times, and bad use; the synthetic
# scene and the contact sheet made of it. usage: sh tests/test_bench_video.sh BUILD-FOLDER
set -u
. tests/guard.sh
build=$1
rungs=$build/rungs
root=$(pwd)
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0 skipped=0

check() { # TITLE COMMAND...: the command must succeed
    title=$1
    shift
    if "$@" >"$folder/log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $title: $*"
        sed 's/^/     /' "$folder/log"
    fi
}

refuses() { # TITLE PATTERN COMMAND...: exit 2, one line on stderr that matches, nothing else
    title=$1 pattern=$2
    shift 2
    guarded 60 "$@" >"$folder/stdout" 2>"$folder/stderr"
    code=$?
    if [ $code = 2 ] && [ "$(wc -l <"$folder/stderr")" = 1 ] && grep -q -- "$pattern" "$folder/stderr" &&
        [ ! -s "$folder/stdout" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $title: exit $code"
        sed 's/^/     /' "$folder/stdout" "$folder/stderr"
    fi
}

bench() {
    guarded 120 "$rungs" bench motion --size 64x48 --time 0.02 "$@"
}

# Of a version's part of a table: name, frame average, total, load. Loads must add up to 100 % but for their rounding.
loads_add_up() { # VERSION FILE
    awk -v version="$1" '
        /^[a-z]/ { inside = $1 == version && $2 ~ /^\(/ }
        inside && $6 ~ /%$/ { sum += $6; steps++ }
        END { if (steps < 8 || sum < 99 || sum > 101) { print version ": " steps " steps, " sum " %"; exit 1 } }' "$2"
}

# --- the scene: the same pictures each time
check "scene" "$build/make-scene" "$folder/scene" 64 48 6
check "the same scene" "$build/make-scene" "$folder/again" 64 48 6
check "scene is reproducible" diff -r "$folder/scene" "$folder/again"
check "6 frames" test "$(ls "$folder/scene" | wc -l)" = 6
refuses "scene without arguments" "usage" "$build/make-scene"

# --- tables and files; a lab's handout has not all versions
versions=cpu/serial count=1
for version in cpu/bit_masks cpu/per_frame cuda/v1.0 cuda/v2.1; do
    "$rungs" list motion | grep -q "$version " && versions=$versions,$version count=$((count + 1))
done
bench --input "$folder/scene" --frames 5 --versions "$versions" \
    --json "$folder/m.json" --csv "$folder/m.csv" >"$folder/table" 2>"$folder/errors"
check "bench" test $? = 0
check "nothing on stderr but rows of the first round" sh -c "head -n 1 '$folder/errors' | grep -qx 'motion, the first of 3 rounds:' &&
    test \$(grep -c '^c[a-z]*/' '$folder/errors') = $count && ! grep -v '^motion, \|^version \|^[a-z]*/[a-z0-9_.]* .*\(frame\|reference for\)\|^$' '$folder/errors'"
check "frames" grep -q "64x48, 5 frames" "$folder/table"
check "steps of cpu/serial" loads_add_up cpu/serial "$folder/table"
check "every version in the table" test "$(grep -c '^c[a-z]*/[a-z0-9._]*  *[0-9r].*' "$folder/table")" -ge $count
check "FPS" grep -q "FPS: [0-9]" "$folder/table"
check "JSON" grep -q '"schema": "rungs-video-results"' "$folder/m.json"
check "JSON: all verified" test "$(grep -c '"frames_verified": [1-9]' "$folder/m.json")" = $count
check "CSV: a line each for the whole and the 8 steps of cpu/serial" test "$(grep -c ',cpu/serial,' "$folder/m.csv")" = 9
check "frames per second are those of the time" awk -F, '$7 == "cpu/serial" && $10 == "all" { exit !($11 > 0) }' "$folder/m.csv"

# --- swapped steps: the parallel region of cpu/omp's blur runs in a serial pipeline, and in no other
check "no parallel region in cpu/serial" sh -c "'$rungs' profile motion:cpu/serial --size 64x48 >'$folder/table' && ! grep -q 'cpu/blur/1_omp.c' '$folder/table'"
check "a swapped step runs" sh -c "'$rungs' profile motion:cpu/serial --size 64x48 -p blur=cpu/omp >'$folder/table' && grep -q 'cpu/blur/1_omp.c' '$folder/table'"
bench --input "$folder/scene" --frames 3 --versions cpu/serial -p background=mean -p rate=2 -p connectivity=4 -p max_boxes=9 >"$folder/table"
check "what differs from the defaults" sh -c "head -n 2 '$folder/table' | tr -s ' \n' ' ' | grep -q 'background=mean rate=2 connectivity=4 max_boxes=9'"
check "what does not" sh -c "! grep -q min_area '$folder/table'"

# --- bad use
refuses "no frames" "--frames" "$rungs" bench motion --frames 0
refuses "frames in words" "not a whole number" "$rungs" bench motion --frames many
refuses "no such input" "No such file" "$rungs" bench motion --input "$folder/nothing" --json "$folder/x.json"
refuses "text as input" "not a video" "$rungs" bench motion --input "$root/README.md"
refuses "no such version" "has no version" "$rungs" bench motion --versions cuda/v9
refuses "step of the other side" "cuda" "$rungs" bench motion --size 64x48 --frames 2 --input "$folder/scene" \
    --versions cpu/serial -p blur=cuda/v1.0
check "no half-written file" test ! -e "$folder/x.json"

# --- a step of the GPU's side: the reference, which is not asked for, keeps its own
if "$rungs" list motion | grep -q '\[emulated\]'; then
    bench --input "$folder/scene" --frames 3 --versions cuda/v1.2 -p labelling=cuda/v1.2 >"$folder/table" 2>&1
    check "a CUDA version with a swapped step is verified" grep -q "^cuda/v1.2 .*frames, emulated" "$folder/table"
fi

# --- the contact sheet
if command -v ffmpeg >/dev/null; then
    check "contact sheet" sh images/contact_sheet.sh "$rungs" "$folder/scene" 6 "$folder/sheet.png"
    check "sheet" test -s "$folder/sheet.png"
    refuses "too late a frame" "no frame 7" sh images/contact_sheet.sh "$rungs" "$folder/scene" 7 "$folder/none.png"
    refuses "frame 1" "background" sh images/contact_sheet.sh "$rungs" "$folder/scene" 1 "$folder/none.png"
    refuses "no video" "cannot be read" sh images/contact_sheet.sh "$rungs" "$folder/nothing" 6 "$folder/none.png"
    check "no sheet of those" test ! -e "$folder/none.png"
else
    skipped=$((skipped + 6))
    echo "SKIP contact sheet: no ffmpeg on this machine"
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
