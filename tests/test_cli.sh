#!/bin/sh
# The command line with bad input: each case must exit with its status, say why in exactly one line on stderr, leave no
# output file and nothing half-written beside it. usage: sh tests/test_cli.sh BUILD-FOLDER
set -u
rungs=$1/rungs
folder=$(mktemp -d) || exit 1
mounted=
cleanup() {
    [ -n "$mounted" ] && umount "$mounted"
    rm -rf "$folder"
}
trap cleanup EXIT
passed=0 failed=0 skipped=0

ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); echo "FAIL $*"; }

# refuses TITLE REASON-PATTERN COMMAND...: exit 2, one line on stderr that matches, nothing in $folder/out
refuses() {
    title=$1 pattern=$2
    shift 2
    rm -rf "$folder/out" && mkdir "$folder/out"
    "$@" >"$folder/stdout" 2>"$folder/stderr"
    code=$?
    lines=$(wc -l <"$folder/stderr")
    if [ $code != 2 ]; then
        bad "$title: exit $code instead of 2: $(head -n 3 "$folder/stderr")"
    elif [ "$lines" != 1 ]; then
        bad "$title: $lines lines on stderr instead of 1: $(cat "$folder/stderr")"
    elif ! grep -Eq "$pattern" "$folder/stderr"; then
        bad "$title: '$(cat "$folder/stderr")' does not match '$pattern'"
    elif [ -n "$(ls -A "$folder/out")" ]; then
        bad "$title: left $(ls -A "$folder/out") behind"
    else
        ok
    fi
}

succeeds() { # TITLE COMMAND...
    title=$1
    shift
    "$@" >"$folder/stdout" 2>"$folder/stderr"
    code=$?
    if [ $code = 0 ]; then ok; else bad "$title: exit $code: $(head -n 3 "$folder/stderr")"; fi
}

has() { # TITLE PATTERN FILE
    if grep -Eq -- "$2" "$3"; then ok; else bad "$1: no '$2' in: $(head -n 5 "$3")"; fi
}

out=$folder/out/result.png
good=$folder/good.ppm
mkdir -p "$folder/out"
{ printf 'P6\n16 12\n255\n'; head -c 576 /dev/zero | tr '\0' 'x'; } >"$good"

# --- input files
: >"$folder/empty.png"
printf 'this is no picture\n' >"$folder/text.png"
succeeds "make a PNG" "$rungs" run blur:cpu/serial "$good" -o "$folder/good.png"
succeeds "make a JPEG" "$rungs" run blur:cpu/serial "$good" -o "$folder/good.jpg"
succeeds "make a npy" "$rungs" run blur:cpu/serial "$good" -o "$folder/good.npy"
succeeds "read a npy" "$rungs" run blur:cpu/serial "$folder/good.npy" -o "$folder/again.npy"
head -c 60 "$folder/good.png" >"$folder/cut.png"
head -c 400 "$folder/good.jpg" >"$folder/cut.jpg"
head -c 300 "$good" >"$folder/cut.ppm"
head -c 200 "$folder/good.npy" >"$folder/cut.npy"
{ cat "$folder/good.npy"; printf 'more'; } >"$folder/long.npy"
: >"$folder/empty.npy"
npy() { # HEADER-TEXT padded to 118 bytes: version 1.0, data at byte 128
    printf '\223NUMPY\001\000v\000%-117s\n' "$1"
}
{ npy "{'descr': '|O', 'fortran_order': False, 'shape': (2, 2), }"; head -c 32 /dev/zero; } >"$folder/object.npy"
{ npy "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 2), }"; head -c 4 /dev/zero; } >"$folder/fortran.npy"
{ npy "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }"; head -c 16 /dev/zero; } >"$folder/float.npy"
{ npy "{'descr': '|u1', 'fortran_order': False, 'shape': (3, 2, 2), }"; head -c 12 /dev/zero; } >"$folder/two_channels.npy"
{ npy "{'descr': '|u1', 'fortran_order': False, 'shape': (4294967296, 4294967296), }"; } >"$folder/huge.npy"
printf '\211PNG\r\n\032\n\000\000\000\rIHDR\000\001\206\240\000\001\206\240\010\002\000\000\000\000\000\000\000' >"$folder/huge.png"

run() { "$rungs" run blur:cpu/serial "$@" -o "$out"; }
refuses "missing file" "missing.png: .*[Nn]o such file" run "$folder/missing.png"
refuses "a folder" "$folder: " run "$folder"
refuses "empty file" "empty.png: .*empty" run "$folder/empty.png"
refuses "text named png" "text.png: " run "$folder/text.png"
for file in cut.png cut.jpg cut.ppm cut.npy long.npy empty.npy object.npy fortran.npy huge.npy huge.png; do
    refuses "$file" "$file: " run "$folder/$file"
done
refuses "f32 input" "float.npy: .*(u8|f32)" run "$folder/float.npy"
refuses "two channels" "two_channels.npy: .*channels" run "$folder/two_channels.npy"

# --- parameters
for setting in ksize=4 ksize=1 ksize=33 ksize=1e9 ksize=-3 ksize=7.5 ksize= ksize=abc ksize=nan sigma=nan sigma=-1 sigma=inf \
    sigma=1e9 sigma=2x bogus=1 =3 ksize; do
    refuses "-p $setting" "parameter|ksize=4: must be odd" run "$good" -p "$setting"
done

# --- names and options
refuses "unknown command" "no command 'blurr'" "$rungs" blurr
refuses "unknown algorithm" "no algorithm 'blurr'; there is .*blur" "$rungs" run blurr "$good" -o "$out"
refuses "unknown version" "no version 'cpu/magic'; it has cpu/serial" "$rungs" run blur:cpu/magic "$good" -o "$out"
refuses "ambiguous version" "could be cpu/serial, cpu/simd" "$rungs" run otsu:cpu/s "$good" -o "$out"
refuses "line end in a name" "no algorithm 'bl.x0aur'" "$rungs" run "bl
ur" "$good" -o "$out"
refuses "no algorithm" "needs an algorithm" "$rungs" run
refuses "no input" "takes 1 input file" "$rungs" run blur -o "$out"
refuses "two inputs" "takes 1 input file" "$rungs" run blur "$good" "$good" -o "$out"
refuses "no output" "needs -o" "$rungs" run blur "$good"
refuses "unknown option" "unrecognized option" "$rungs" run blur "$good" -o "$out" --fast
for command in list check bench diff; do
    refuses "$command: unknown option" "unrecognized option" "$rungs" $command --fast
done
for command in list check bench; do
    refuses "$command: unknown algorithm" "no algorithm 'nothing'" "$rungs" $command nothing
done
refuses "diff: unknown algorithm" "no algorithm 'nothing'" "$rungs" diff nothing cpu/serial cpu/omp
refuses "check: unknown version" "no version" "$rungs" check blur:cpu/magic
# A plain build's kernels tell of their accesses (common/emulator/races.h); clang's and the sanitizers' cannot, nor a GPU's.
if grep -q 'gcc g++ emulated' "$1/settings" && ! grep -q __asan_init "$rungs"; then
    kernels=$("$rungs" check grayscale:cuda/v1.0 --largest 300 --share 6 --seed 1)
    case $kernels in
    *"races of kernels"*) bad "check does not watch the races of kernels" ;;
    *"Not watched: "*) ok ;;
    *) bad "check says nothing of what is not watched" ;;
    esac
fi
refuses "check: bad seed" "seed" "$rungs" check blur:cpu/omp --seed x1
refuses "check: bad RUNGS_SEED" "seed" env RUNGS_SEED=x1 "$rungs" check blur:cpu/omp
succeeds "check: RUNGS_SEED" env RUNGS_SEED=77 "$rungs" check absdiff:cpu/serial --largest 300
has "check: RUNGS_SEED" "seed 77[,)]" "$folder/stdout"
refuses "check: bad number of pixels" "largest" "$rungs" check blur:cpu/omp --largest 0
refuses "check: bad total" "total: '0' is not" "$rungs" check blur:cpu/omp --total 0
if "$rungs" check hough:cpu/serial --total 0.1 --seed 1 | grep -q '^ *[1-9][0-9]* of [0-9]* cases left out: 0.1 s were over'; then
    ok
else
    bad "check --total"
fi
cases() { "$rungs" check threshold:cpu/omp --seed 3 --largest 1500 "$@" | sed -n 's/^  PASS  cpu.omp *\([0-9]*\) cases.*/\1/p'; }
all=$(cases) few=$(cases --brief)
# A quarter of the drawn settings is left and nothing else is left out.
if [ "${few:-0}" -gt 0 ] && [ "$few" -lt "$all" ] && [ "$few" -gt $((all / 2)) ]; then
    ok
else
    bad "check --brief: $few of $all cases"
fi
refuses "check: bad share" "share" "$rungs" check blur:cpu/omp --share 0
# One case, dealt out: of three versions beside each other one tries it, of three seeds each version with one; a shape is for all.
tried() { # CASE VERSION SEED
    "$rungs" check "threshold:$2" --share 3 --case "$1" --seed "$3" | grep -c '^  PASS'
}
for case in "65x63, 1 channel, gradient" "129x31, 1 channel, random"; do
    by_version=0 by_seed=0
    for i in 0 1 2; do
        by_version=$((by_version + $(tried "$case" cuda/v1.$i 7)))
        by_seed=$((by_seed + $(tried "$case" cuda/v1.1 $((7 + i)))))
    done
    case $case$by_version$by_seed in
    *gradient11 | *random33) ok ;;
    *) bad "check --share 3: $case is tried by $by_version of 3 versions and with $by_seed of 3 seeds" ;;
    esac
done
refuses "bench: unknown version" "no version" "$rungs" bench blur --versions cpu/magic
refuses "bench: bad size" "size" "$rungs" bench blur --size 0x10
refuses "bench: bad size" "size" "$rungs" bench blur --size 1920
refuses "bench: bad threads" "threads" "$rungs" bench blur --threads 0
refuses "bench: unknown parameter" "parameter 'bogus'" "$rungs" bench blur -p bogus=1
refuses "bench: parameter one version lacks" "parameter 'block_width'" "$rungs" bench blur --versions cpu/omp -p block_width=32
refuses "bench: missing input" "missing.png" "$rungs" bench blur --input "$folder/missing.png"
refuses "bench: unwritable JSON" "nowhere" "$rungs" bench blur --json "$folder/nowhere/result.json"
refuses "diff: one version" "." "$rungs" diff blur cpu/serial
refuses "diff: unknown version" "no version" "$rungs" diff blur cpu/serial cpu/magic

# --- output
refuses "unknown extension" "result.gif: " "$rungs" run blur "$good" -o "$folder/out/result.gif"
refuses "no extension" "result: " "$rungs" run blur "$good" -o "$folder/out/result"
refuses "missing folder" "nowhere/result.png: " "$rungs" run blur "$good" -o "$folder/nowhere/result.png"
# 512 bytes are too few for the picture and enough for the message.
refuses "file size limit" "result.bmp: .*large" \
    sh -c "ulimit -f 1; exec '$rungs' run blur:cpu/serial '$good' -o '$folder/out/result.bmp'"
mkdir -p "$folder/folder.png"
refuses "output is a folder" "folder.png: " "$rungs" run blur "$good" -o "$folder/folder.png"
if [ -w /proc/self/comm ] && mkdir -p "$folder/tiny" && mount -t tmpfs -o size=8k tmpfs "$folder/tiny" 2>/dev/null; then
    mounted=$folder/tiny
    { printf 'P5\n512 512\n255\n'; head -c 262144 /dev/urandom; } >"$folder/noise.pgm"
    for extension in png jpg bmp pgm npy; do
        refuses "full disk, $extension" "result.$extension: .*[Nn]o space" \
            "$rungs" run blur:cpu/omp "$folder/noise.pgm" -o "$folder/tiny/result.$extension"
        if [ -z "$(ls -A "$folder/tiny")" ]; then ok; else bad "full disk, $extension: left $(ls -A "$folder/tiny")"; fi
    done
else
    skipped=$((skipped + 10))
    echo "SKIP full disk: no tmpfs can be mounted here"
fi

# --- what must work
for command in "" list run check bench diff; do
    succeeds "--help $command" "$rungs" $command --help
    has "--help $command" "usage: rungs" "$folder/stdout"
done
succeeds "list" "$rungs" list
has "list: one line each" "^blur  *[1-9][0-9]* cpu .*Gaussian blur" "$folder/stdout"
if grep -q "cpu/serial" "$folder/stdout"; then bad "list: versions in it"; else ok; fi
succeeds "list --all" "$rungs" list --all
has "list --all" "cpu/serial" "$folder/stdout"
refuses "list --all of one" "an algorithm or --all" "$rungs" list blur --all
succeeds "list --json" "$rungs" list blur --json
has "list --json" '"id": "cpu/omp"' "$folder/stdout"
for extension in png jpg bmp ppm npy; do
    succeeds "write $extension" "$rungs" run blur "$good" -o "$folder/fine.$extension" -p ksize=5 -p sigma=1.5
    succeeds "read $extension" "$rungs" run blur:cpu/omp "$folder/fine.$extension" -o "$folder/fine2.npy"
done
succeeds "name without side" "$rungs" run blur:omp "$good" -o "$folder/fine.png"
succeeds "unique prefix" "$rungs" run blur:cuda/v1.0 "$good" -o "$folder/fine.png"
"$rungs" list >/dev/full 2>"$folder/stderr"
if [ $? = 2 ]; then ok; else bad "list to a full device: no error"; fi

"$rungs" --help >/dev/full 2>"$folder/stderr"
if [ $? = 2 ]; then ok; else bad "--help to a full device: no error"; fi

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
