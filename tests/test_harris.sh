#!/bin/sh
# That Harris responses are OpenCV's to 1.5e-6 of the largest and corners those of goodFeaturesToTrack except for ties, on all
# photographs of `make images` (tests/harris/agree.py), and that a k or a quality that is no number or out of range is
# refused without a file. The last line is "N passed, N failed, N skipped".
# usage: test_harris.sh BUILD-FOLDER [FOLDER OF PICTURES]
set -u
cd "$(dirname "$0")/.." || exit 2
build=$1 pictures=${2:-images/fetched}
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0 skipped=0
ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); echo "FAIL $1"; }

for setting in k=nan k=-0.01 k=inf quality=nan quality=-1 quality=1.5; do
    "$build/rungs" run harris images/shapes.png -o "$folder/out.csv" -p $setting >"$folder/out" 2>&1
    code=$?
    if [ $code = 2 ] && [ "$(wc -l <"$folder/out")" = 1 ] && [ ! -e "$folder/out.csv" ]; then ok
    else bad "$setting: status $code and: $(cat "$folder/out")"; fi
done

# A folder of pictures through a version, into a folder of .npy or .csv.
apply() { # VERSION OUTPUTS FORMAT TO
    "$build/rungs" run "harris:$1" "$folder/gray" -o "$2=$folder/$4" --format "$3" -p outputs="$2" -p quality=0.01 \
        -p maximum=65534 >"$folder/out" 2>&1 || { bad "$1, $2: $(tail -1 "$folder/out")"; }
}

if ! "$build/rungs" list harris 2>/dev/null | grep 'peer/opencv ' | grep -qv unavailable; then
    skipped=$((skipped + 1))
    echo "SKIP OpenCV's corners: no OpenCV"
elif ! ls "$pictures"/*.jpg >/dev/null 2>&1; then
    skipped=$((skipped + 1))
    echo "SKIP OpenCV's corners: no photographs, run make images"
else
    mkdir "$folder/gray" "$folder/ours" "$folder/theirs" "$folder/rgb"
    for picture in "$pictures"/*.jpg "$pictures"/*.png; do
        [ -e "$picture" ] && ln -s "$(realpath "$picture")" "$folder/rgb/"
    done
    "$build/rungs" run grayscale "$folder/rgb" -o "$folder/gray" >/dev/null 2>&1
    for picture in "$folder"/rgb/*; do # those that are gray already
        name=$(basename "$picture")
        [ -e "$folder/gray/${name%.*}.png" ] || cp -L "$picture" "$folder/gray/"
    done
    apply cpu/corners response npy ours
    apply peer/opencv response npy theirs
    apply cpu/corners corners csv ours
    apply peer/opencv_features corners csv theirs
    if python3 -B tests/harris/agree.py "$folder/ours" "$folder/theirs" 0.01 >"$folder/out"; then ok; else bad "agree.py: $(cat "$folder/out")"; fi
    tail -1 "$folder/out"
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
