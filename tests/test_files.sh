#!/bin/sh
# No file gets lost: an output that is an input, another output or a kept file under another name (a link, a pattern, a
# folder) is refused before anything is opened, in every subcommand; what was measured is shown and written as far as the disk
# and the names allow. usage: sh tests/test_files.sh BUILD-FOLDER
set -u
. tests/guard.sh
root=$PWD
case $1 in /*) build=$1 ;; *) build=$PWD/$1 ;; esac
rungs=$build/rungs small=$build/rungs-small
folder=$(mktemp -d) || exit 1
mounted=
cleanup() {
    [ -z "$mounted" ] || umount "$mounted"
    rm -rf "$folder"
}
trap cleanup EXIT
cd "$folder" || exit 1
passed=0 failed=0 skipped=0

ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); echo "FAIL $*"; }
skip() { skipped=$((skipped + 1)); echo "SKIP $*"; }
sums() { find . -type f ! -name stdout ! -name stderr ! -name before ! -name after -exec cksum {} + | sort -k 3; }

# refuses TITLE REASON-PATTERN COMMAND...: exit 2, one line on stderr that matches, and every file here as it was
refuses() {
    title=$1 pattern=$2
    shift 2
    sums >before
    "$@" >stdout 2>stderr
    code=$?
    sums >after
    if [ $code != 2 ]; then
        bad "$title: exit $code instead of 2: $(head -c 300 stderr)"
    elif [ "$(wc -l <stderr)" != 1 ]; then
        bad "$title: $(wc -l <stderr) lines on stderr instead of 1: $(head -n 4 stderr)"
    elif ! grep -Eq -- "$pattern" stderr; then
        bad "$title: '$(head -c 300 stderr)' does not match '$pattern'"
    elif ! cmp -s before after; then
        bad "$title: changed files: $(diff before after | head -n 5)"
    else
        ok
    fi
}
succeeds() { # TITLE COMMAND...
    title=$1
    shift
    "$@" >stdout 2>stderr
    code=$?
    if [ $code = 0 ]; then ok; else bad "$title: exit $code: $(head -c 300 stderr)"; fi
}
is() { if [ "$2" = "$3" ]; then ok; else bad "$1: '$2' instead of '$3'"; fi; }
has() { if grep -Eq -- "$2" "$3"; then ok; else bad "$1: no '$2' in: $(head -n 5 "$3")"; fi; }

picture() { { printf 'P6\n16 12\n255\n'; head -c 576 /dev/zero | tr '\0' "$2"; } >"$1"; }
picture a.ppm x
picture b.ppm y
ln -s a.ppm link.ppm
ln b.ppm hard.ppm
mkdir frames
for n in 1 2 3; do picture frames/f$n.ppm $n; done
mkdir out && ln -s ../frames/f2.ppm out/g2.ppm
ln frames/f3.ppm out/h3.ppm
ln -s frames folder
awk 'BEGIN { print "YUV4MPEG2 W8 H8 F10:1 Cmono"; for (f = 0; f < 3; f++) { print "FRAME"; for (i = 0; i < 64; i++) printf "%c", 65 + f } }' >v.y4m
cp v.y4m v.csv
ln -s v.csv boxes.csv

# --- rungs run
same='the same file as the input'
refuses "itself" "$same a.ppm" "$rungs" run blur a.ppm -o a.ppm
refuses "another way" "$same" "$rungs" run blur a.ppm -o out/../a.ppm
refuses "a link" "$same a.ppm" "$rungs" run blur a.ppm -o link.ppm
refuses "an input that is a link" "$same link.ppm" "$rungs" run blur link.ppm -o a.ppm
refuses "a hard link" "$same" "$rungs" run blur b.ppm -o hard.ppm
refuses "the second input" "$same b.ppm" "$rungs" run absdiff a.ppm b.ppm -o hard.ppm
refuses "an output by name" "$same a.ppm" "$rungs" run absdiff a.ppm b.ppm -o difference=link.ppm
refuses "two outputs" 'are the same file' "$rungs" run blur a.ppm -o out/new.ppm -o ./out/new.ppm
refuses "a pattern" "$same frames/f1.ppm" "$rungs" run motion frames/f%d.ppm -o frames/f%d.ppm
refuses "a pattern through a folder's link" "$same frames/f1.ppm" "$rungs" run motion frames/f%d.ppm -o folder/f%d.ppm
refuses "a pattern of which one is a link" "$same frames/f2.ppm" "$rungs" run motion frames/f%d.ppm -o out/g%d.ppm
refuses "a pattern of which one is a hard link" "$same frames/f3.ppm" "$rungs" run motion frames -o out/h%d.ppm
refuses "a pattern over a folder's pictures" "$same frames/f[123].ppm" "$rungs" run motion frames -o frames/f%d.ppm
refuses "a glob" "$same" "$rungs" run motion 'frames/*.ppm' -o frames/f%d.ppm
refuses "the boxes" "$same v.csv" "$rungs" run motion v.csv -o out/x_%d.ppm --boxes v.csv
refuses "the boxes through a link" "$same v.csv" "$rungs" run motion v.csv -o out/x_%d.ppm --boxes boxes.csv
refuses "boxes alone" "$same v.csv" "$rungs" run motion v.csv -o boxes.csv
refuses "standard input" "$same standard input" "$rungs" run motion - -o v.csv <v.csv
refuses "the background" "$same v.csv" "$rungs" run motion v.y4m -o boxes.csv -p background=v.csv
refuses "a background among the pictures" "$same frames/f2.ppm" "$rungs" run motion v.y4m -o out/g%d.ppm -p background=frames/f2.ppm
refuses "a folder into itself" 'would go among the pictures' "$rungs" run blur frames -o folder
refuses "a folder with a link back" "$same frames/f2.ppm" sh -c "mkdir back; ln -s ../frames/f2.ppm back/f1.ppm; '$rungs' run blur frames -o back --format ppm"
rm -r back
cp "$root/tests/small/invert.lut" invert.lut
ln -s invert.lut model.ppm
refuses "a model" "$same invert.lut" "$small" run lut a.ppm -o model.ppm -p table=invert.lut
refuses "a model under a folder's results" "$same invert.lut" sh -c "mkdir back; ln -s ../invert.lut back/f1.ppm; '$small' run lut frames -o back --format ppm -p table=invert.lut"
rm -r back

# --- rungs train
mkdir data data/deep
cp a.ppm data/deep/one
ln data/deep/one one.lut
refuses "train over its data" "$same a.ppm" "$small" train lut a.ppm -o link.ppm
refuses "train over a file below a data folder" "$same data/deep/one" "$small" train lut data -o one.lut
refuses "train over its boxes" "$same b.ppm" "$small" train lut a.ppm -o hard.ppm --boxes b.ppm
succeeds "train beside its data" "$small" train lut a.ppm -o data/new.lut

# --- rungs bench, tune, profile
measured="blur --versions cpu/serial --input a.ppm --time 0.01"
refuses "--json over the input" "$same a.ppm" "$rungs" bench $measured --json link.ppm
refuses "--csv over the input" "$same b.ppm" "$rungs" bench absdiff --input a.ppm --input b.ppm --csv hard.ppm
refuses "--json over a video" "$same frames/f2.ppm" "$rungs" bench motion --input frames --json out/g2.ppm
refuses "--csv over a background" "$same a.ppm" "$rungs" bench motion --input v.y4m -p background=a.ppm --csv link.ppm
refuses "--json is --csv" 'are the same file' "$rungs" bench $measured --json r.txt --csv ./r.txt
refuses "--svg over the input" "$same a.ppm" "$rungs" tune blur:cpu/simd --input a.ppm --svg link.ppm
refuses "--trace over the input" "$same a.ppm" "$rungs" profile blur:cpu/serial --input a.ppm --trace link.ppm
echo '{"schema": "rungs-tuned", "version": 1, "entries": []}' >tuned.json
refuses "--json over tuned values" "$same tuned.json" env RUNGS_TUNED=tuned.json "$rungs" bench $measured --json ./tuned.json
refuses "--json over the photograph" "the same file as the input .*aloeL.jpg" sh -c "mkdir -p r/common/contract r/images/fetched r/build
    cp '$rungs' r/build && : >r/common/contract/registry.h && cp a.ppm r/images/fetched/aloeL.jpg &&
    r/build/rungs bench blur --versions cpu/serial --json r/images/fetched/aloeL.jpg; code=\$?; rm -r r; exit \$code"

# --- results are not lost
# A byte that is no UTF-8, an escape sequence and a line end in a name: spelled out in results and on the terminal.
odd=$(printf 'odd\377\033[31m\nname.ppm')
cp a.ppm "$odd"
succeeds "an odd name" "$rungs" bench blur --versions cpu/serial --input "$odd" --time 0.01 --json odd.json --csv odd.csv
has "an odd name in JSON" 'odd\\\\xff\\\\x1b\[31m\\\\x0aname.ppm' odd.json
has "an odd name in the table" 'odd\\xff\\x1b\[31m\\x0aname.ppm' stdout
succeeds "an odd name is compared" "$rungs" compare odd.json odd.json
printf 'lut\377\033' >"$(printf 'm\377.lut')"
refuses "an odd model" 'm\\xff.lut' "$small" run lut a.ppm -o out/x.png -p table="$(printf 'm\377.lut')"
for stream in stdout stderr; do
    if LC_ALL=C grep -q "$(printf '[\001-\010\013-\037\177-\377]')" $stream; then bad "an odd model: raw bytes on $stream"; else ok; fi
done

# A disk that is full at the end: the table is there, each file that could not be written is named, nothing is half-written.
mkdir -p disk
if mount -t tmpfs -o size=16k tmpfs disk 2>/dev/null; then
    mounted=$folder/disk
    head -c 20000 /dev/zero >disk/filler 2>/dev/null
    "$rungs" bench $measured --json disk/r.json --csv disk/r.csv >stdout 2>stderr
    is "full disk: exit status" $? 2
    has "full disk: the table is printed" 'cpu/serial' stdout
    has "full disk: names the JSON" '^rungs: disk/r.json: No space left on device; the results are not in it$' stderr
    has "full disk: names the CSV" '^rungs: disk/r.csv: No space left on device; the results are not in it$' stderr
    is "full disk: nothing half-written" "$(ls -A disk)" filler
    "$rungs" bench $measured --json disk/r.json --csv r.csv >stdout 2>stderr
    is "full disk: the other file is written" "$(wc -l <r.csv)" 2
    "$rungs" profile blur:cpu/serial --input a.ppm --json disk/r.json --trace r.json >stdout 2>stderr
    is "full disk, profile: exit status" $? 2
    has "full disk, profile: the other file is written" traceEvents r.json
    "$rungs" bench $measured --json r.json >disk/table 2>stderr
    is "a table that cannot be printed: exit status" $? 2
    has "a table that cannot be printed: the results are written" rungs-results r.json
    TMPDIR=$folder/disk "$rungs" doctor >stdout 2>stderr
    is "doctor on a full disk: exit status" $? 2
    is "doctor on a full disk: one line" "$(cat stderr stdout | wc -l)" 1
    has "doctor on a full disk" "^doctor: no room for temporary files in $folder/disk" stderr
    # The detector writes frames as they come.
    "$rungs" run motion v.y4m -o disk/f_%d.ppm >stdout 2>stderr
    is "full disk, pictures: exit status" $? 2
    is "full disk, pictures: nothing half-written" "$(ls -A disk | tr '\n' ' ')" "filler table "
else
    skip "full disk: no tmpfs may be mounted here"
fi

# What cannot be written is known before anything is measured.
refuses "--json nowhere" 'cannot write in folder' guarded 20 "$rungs" bench blur --time 100 --json nowhere/r.json
refuses "an empty --json" 'the name of the output file is empty' guarded 20 "$rungs" bench blur --time 100 --json ''
refuses "an empty --input" "the name of the input is empty" guarded 20 "$rungs" bench blur --time 100 --input ''
rungs_is_measuring() { [ "$(ls -A | grep -c '^[.]rungs-')" = 1 ]; }
for signal in INT TERM HUP; do
    env --default-signal=$signal "$rungs" bench blur --versions cpu/serial --input a.ppm --time 100 --json never.json >stdout 2>stderr &
    child=$!
    tries=0
    until rungs_is_measuring || [ $tries = 6000 ]; do
        sleep 0.05
        tries=$((tries + 1))
    done
    kill -$signal $child
    wait $child
    [ $? -gt 128 ] && ok || bad "SIG$signal while measuring: exit $?"
    is "SIG$signal while measuring: no file" "$(ls -A | grep -E '^[.]rungs-|never')" ""
done

# --- the reason stands behind a path of any length
long=$(printf 'd%.0s' $(seq 200))
path=$long/$long/$long/$long/$long/$long
mkdir -p "$path"
cp v.y4m "$path/v.y4m"
cp a.ppm "$path/a.ppm"
succeeds "a long path" "$rungs" bench motion --versions cpu/serial --input "$path/v.y4m" --time 0.01 --frames 3
succeeds "a long path" "$rungs" bench blur --versions cpu/serial --input "$path/a.ppm" --time 0.01 --json long.json
succeeds "a long path" "$rungs" run motion "$path/v.y4m" -o "$path/boxes.csv"
refuses "a long path: missing" 'No such file or directory$' "$rungs" bench motion --input "$path/w.y4m"
refuses "a long path: missing" 'No such file or directory$' "$rungs" run blur "$path/w.ppm" -o out/x.png
refuses "a long path: no folder" 'No such file or directory$' "$rungs" run blur a.ppm -o "$path/$long/x.png"
refuses "a name that is too long" 'File name too long$' "$rungs" run blur a.ppm -o "$path/$long$long.png"

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
