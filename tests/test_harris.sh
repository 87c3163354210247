#!/bin/sh
# That Harris responses are OpenCV's to 1.5e-6 of the largest and corners those of goodFeaturesToTrack except for ties, on all
# photographs of `make images` (tests/harris/agree.py), that a k or a quality that is no number or out of range is
# refused without a file, that the extension of a file says which output goes there, and that pictures without a corner give an
# empty list. The last line is "N passed, N failed, N skipped".
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

# .csv and .json list corners, .png and .jpg draw them, .npy is the response, where -p outputs= leaves both and where it leaves one.
kind() { # FILE: what it is, by its first bytes
    case $(head -c 40 "$1" | LC_ALL=C tr -c 'a-zA-Z0-9,_<>' '.') in
    x,y,response*) echo corners ;;
    .PNG*) echo png ;;
    .NUMPY*'<f4'*) head -n 1 "$1" | LC_ALL=C tr -cd ' -~' | sed "s/.*'shape': (\([0-9, ]*\)).*/array \1/" ;;
    *slot*corners*) echo corners ;;
    ....*JFIF*) echo jpg ;;
    *) echo another ;;
    esac
}
gives() { # WANTED FILE SETTING...
    wanted=$1 file=$folder/$2
    shift 2
    for setting; do set -- "$@" -p "$setting"; shift; done
    rm -f "$file"
    "$build/rungs" run harris:cpu/serial images/shapes.png -o "$file" "$@" >"$folder/out" 2>&1
    if [ -e "$file" ]; then found=$(kind "$file"); else found="nothing: $(cat "$folder/out")"; fi
    case $found in "$wanted"*) ok ;; *) bad "$file $*: $found, not $wanted" ;; esac
}
gives corners x.csv
gives corners x.json
gives png x.png
gives jpg x.jpg
gives "array 240, 320" x.npy
gives corners x.csv outputs=corners
gives png x.png outputs=corners
gives "array " x.npy outputs=corners
gives "nothing: rungs: $folder/x.csv: with these parameters there is no corners" x.csv outputs=response
gives "nothing: rungs: $folder/x.txt: response is a picture" x.txt
if cmp -s "$folder/x.csv" "$folder/x.png"; then bad "x.csv is x.png"; fi
mkdir "$folder/in"
cp images/shapes.png images/edges.png "$folder/in/"
for case in "drawn shapes.png" "listed shapes.csv --format csv" "alone shapes.csv -p outputs=corners"; do
    # shellcheck disable=SC2086
    set -- $case
    to=$1 file=$2
    shift 2
    "$build/rungs" run harris:cpu/serial "$folder/in" -o "$folder/$to/" "$@" >"$folder/out" 2>&1
    if [ $? = 0 ] && [ -e "$folder/$to/$file" ] && [ "$(find "$folder/$to" -type f | wc -l)" = 2 ]; then ok
    else bad "a folder, $to: $(cat "$folder/out")"; fi
done

# Too small for a corner, or all the same: a list without a row.
for picture in "1 1" "2 2" "1 9" "9 1" "16 16"; do
    # shellcheck disable=SC2086
    set -- $picture
    { printf 'P5\n%d %d\n255\n' "$1" "$2"; printf "%$(($1 * $2))s" "" | tr ' ' z; } >"$folder/flat.pgm"
    for version in cpu/serial cpu/corners cuda/v1.0 cuda/v2.2 cuda/v2.4; do
        rm -f "$folder/flat.csv"
        "$build/rungs" run "harris:$version" "$folder/flat.pgm" -o "$folder/flat.csv" >"$folder/out" 2>&1
        if [ $? = 0 ] && [ "$(cat "$folder/flat.csv")" = x,y,response ]; then ok
        else bad "harris:$version, $picture: $(cat "$folder/out")"; fi
    done
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
    if python3 -B tests/harris/agree.py "$folder/ours" "$folder/theirs" 0.01 "$folder/gray" >"$folder/out"; then ok; else bad "agree.py: $(cat "$folder/out")"; fi
    cat "$folder/out"
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
