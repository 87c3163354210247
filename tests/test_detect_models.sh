#!/bin/sh
# Models of detect that are damaged, cut off, of another program or hostile behind a right checksum: one line that names the file, exit
# status 2, nothing written. A picture smaller than the window has no windows: every version writes two empty tables.
# usage: test_detect_models.sh BUILD-FOLDER
set -u
build=$1
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0 skipped=0
cd "$(dirname "$0")/.." || exit 2
good=common/algo/detect/faces.model
bad() { failed=$((failed + 1)); echo "FAIL $1"; sed 's/^/     /' "$folder/stderr"; }
run() { # VERSION PICTURE MODEL
    "$build/rungs" run "detect$1" "$2" -o "$folder/out.csv" -o "hits=$folder/hits.csv" -p "model=$3" >"$folder/stdout" 2>"$folder/stderr"
}
refuses() { # FILE REASON
    run "" images/shapes.png "$folder/$1"
    code=$?
    if [ $code = 2 ] && [ "$(wc -l <"$folder/stderr")" = 1 ] && [ ! -s "$folder/stdout" ] && [ ! -e "$folder/out.csv" ] &&
        [ ! -e "$folder/hits.csv" ] && grep -q "^rungs: $folder/$1: .*$2" "$folder/stderr"; then
        passed=$((passed + 1))
    else
        bad "$1: exit $code, wanted '$2'"
    fi
}

: >"$folder/none"
head -c 20 $good >"$folder/head"
head -c 1000 $good >"$folder/cut"
{ cat $good; echo; } >"$folder/longer"
cp images/shapes.png "$folder/picture"
mkdir "$folder/folder"
refuses none 'empty file'
refuses head 'cut off'
refuses cut 'cut off'
refuses longer 'longer than its head says'
refuses picture 'does not begin with RUNGSDET'
refuses folder 'Is a directory'
refuses nothing 'No such file'

# One field changed, and the checksum made right again but for the first: offset, format of Python's struct, value, what is said.
changes='5000 B 7 mended=no checksum
8 <I 2 mended=yes another.format
12 <I 9 mended=yes unknown.feature
12 <I 0 mended=yes another.number.of.bins
16 <I 4000000000 mended=yes a.window.that.is.not
20 <I 0 mended=yes 4096.stages
20 <I 4294967295 mended=yes 4096.stages
24 <I 17 mended=yes another.number.of.bins
28 B 23 mended=yes outside.the.window
30 B 3 mended=yes outside.the.window
36 <f nan mended=yes a.threshold
40 <f inf mended=yes a.table
40 <f 1000 mended=yes a.table'
if command -v python3 >/dev/null; then
    number=0
    while read -r offset format value mended reason; do
        number=$((number + 1))
        python3 - $good "$folder/changed_$number" "$offset" "$format" "$value" "$mended" <<'PYTHON' || bad "python3"
import struct, sys, zlib
source, target, offset, form, value, mended = sys.argv[1:]
data = bytearray(open(source, "rb").read())
struct.pack_into(form, data, int(offset), float(value) if form.endswith("f") else int(value))
if mended == "mended=yes":
    data[-4:] = struct.pack("<I", zlib.crc32(data[:-4]))
open(target, "wb").write(data)
PYTHON
        refuses "changed_$number" "$reason"
    done <<CHANGES
$changes
CHANGES
else
    skipped=$((skipped + 1))
    echo "SKIP models with a right checksum: no python3"
fi

{ printf 'P5 23 40 255\n' && head -c 920 $good; } >"$folder/narrow.pgm"
"$build/rungs" list detect | sed -n 's/^  \(c[pu][ud]a*\/[a-z0-9._]*\) .*/\1/p' >"$folder/versions"
while read -r version; do
    rm -f "$folder/out.csv" "$folder/hits.csv"
    if run ":$version" "$folder/narrow.pgm" $good && [ "$(cat "$folder/out.csv" "$folder/hits.csv" | tr '\n' ' ')" = \
        "x,y,width,height,score x,y,level,response " ]; then
        passed=$((passed + 1))
    else
        bad "$version: a picture smaller than the window"
    fi
done <"$folder/versions"
[ -s "$folder/versions" ] || bad "no version"
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
