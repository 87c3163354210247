#!/bin/sh
# rungs bench and rungs diff from the command line: what they print and write, and that bad use costs one line and
# no work. usage: sh tests/test_bench.sh BUILD-FOLDER
set -u
. tests/guard.sh
build=$1
rungs=$build/rungs
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

refuses() { # TITLE PATTERN ARGUMENTS...: exit 2 within a second or two, one line that matches, and no file
    title=$1 pattern=$2
    shift 2
    guarded 20 "$rungs" "$@" >"$folder/stdout" 2>"$folder/stderr"
    code=$?
    if [ $code = 2 ] && [ "$(wc -l <"$folder/stderr")" = 1 ] && grep -q -- "$pattern" "$folder/stderr" &&
        [ ! -s "$folder/stdout" ] && [ -z "$(ls "$folder/out")" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $title: exit $code"
        sed 's/^/     /' "$folder/stdout" "$folder/stderr"
        ls -l "$folder/out"
    fi
}

mkdir "$folder/out"
refuses "no algorithm" "needs an algorithm" bench
refuses "two algorithms" "blur" bench blur blur
refuses "unknown algorithm" "nonsense" bench nonsense
refuses "unknown version" "magic" bench blur --versions serial,magic
refuses "empty version list" "no version" bench blur --versions ""
refuses "ambiguous version" "could be" bench blur --versions c
refuses "half a side" "could be" bench blur --versions cp
refuses "unknown option" "--frobnicate" bench blur --frobnicate
refuses "time 0" "--time" bench blur --time 0
refuses "time nan" "--time" bench blur --time nan
refuses "no round" "--rounds" bench blur --rounds 0
refuses "more rounds than there are" "--rounds: 4 is outside 1 to 3" bench blur --rounds 4
refuses "time with a unit" "--time" bench blur --time 1s
refuses "threads 0" "threads" bench blur --threads 0
refuses "threads, huge" "threads" bench blur --threads 99999999999999999999
refuses "channels 2" "channels" bench blur --channels 2
refuses "size 0x0" "size" bench blur --size 0x0
refuses "size, huge" "size" bench blur --size 100000x100000
refuses "more pixels than labels" "2^31-1 pixels" bench labelling --size 65535x65535
# 65535x65535 with 3 channels are 13 GB an image, of which a bench holds seven.
if [ "$(awk '/MemAvailable/ { print int($2 / 1e6) }' /proc/meminfo)" -lt 85 ]; then
    refuses "more than fits in memory" "65535x65535 pixels: measuring blur takes 90.2 GB, and .* GB are free" \
        bench blur --channels 3 --size 65535x65535
else
    skipped=$((skipped + 1))
    echo "SKIP more than fits in memory: 90 GB do here"
fi
refuses "even ksize" "ksize" bench blur -p ksize=4
refuses "two inputs for one" "input" bench blur --input a.png --input b.png
refuses "missing input" "missing.png" bench blur --input "$folder/missing.png"
refuses "JSON into no folder, before any measuring" "nowhere" bench blur --json "$folder/nowhere/a.json"
refuses "JSON that is a folder" "out" bench blur --json "$folder/out"
refuses "CSV into no folder" "nowhere" bench blur --csv "$folder/nowhere/a.csv" --json "$folder/out/a.json"
refuses "frames of a video cannot be pinned" "--pinned" bench motion --pinned
refuses "diff of one" "two versions" diff blur serial
refuses "diff of a version with itself" "cpu/omp" diff blur omp cpu/omp
refuses "diff, unknown version" "magic" diff blur serial magic

small="--size 64x48 --time 0.05 --threads 2"
check "bench runs" "$rungs" bench blur --versions serial,omp $small --json "$folder/out/a.json" --csv "$folder/out/a.csv"
cp "$folder/log" "$folder/table"
check "table names the reference" grep -q "cpu/serial *reference" "$folder/table"
check "table says exact" grep -q "cpu/omp *exact" "$folder/table"
check "table has the ceilings" grep -q "^ceilings *CPU, 2 threads: copy [0-9.]* GB/s" "$folder/table"
check "JSON has the schema" grep -q '"schema": "rungs-results"' "$folder/out/a.json"
check "JSON has the command" grep -q "rungs bench blur --versions serial,omp --size 64x48" "$folder/out/a.json"
check "CSV has header and two rows" test "$(wc -l <"$folder/out/a.csv")" = 3
check "nothing else was written" test "$(ls "$folder/out" | wc -l)" = 2
check "ASCII where the locale is" sh -c "LC_ALL=C '$rungs' bench blur --versions serial $small | LC_ALL=C grep -qv '[^ -~]' &&
    ! LC_ALL=C '$rungs' bench blur --versions serial $small | LC_ALL=C grep '[^ -~]'"
check "no column beyond 100" sh -c "! LC_ALL=C '$rungs' bench blur $small | grep '.\{101\}'"
check "a version behind a colon" "$rungs" bench blur:omp $small
check "a whole side" sh -c "'$rungs' bench absdiff --versions cpu $small >'$folder/side' && grep -q '^cpu/simd' '$folder/side' &&
    ! grep -q '^cuda\|^peer' '$folder/side'"
check "no parameters" sh -c "'$rungs' bench otsu --versions serial $small | grep -q '^otsu *no parameters, 64x48, 1 channel'"

# What is counted of the definition: as many windows are left as hits are found by cpu/serial when no response is too small.
counted="-p stages=20 -p min_response=-1000000"
check "bench counts windows" "$rungs" bench detect --versions omp --input images/zone_plate.png --time 0.02 --threads 2 $counted \
    --json "$folder/counts.json"
check "hits to compare with" "$rungs" run detect:cpu/serial images/zone_plate.png -o "hits=$folder/hits.csv" $counted -p maximum=4096
check "windows left" grep -q "\"left\": $(($(wc -l <"$folder/hits.csv") - 1))\.0" "$folder/counts.json"
check "no counts where none are named" sh -c "! grep -q counts '$folder/out/a.json'"

check "page-locked pictures" "$rungs" bench blur --versions serial,cuda/v1.3 --pinned $small --json "$folder/pinned.json"
cp "$folder/log" "$folder/pinned"
check "the table says so" grep -q page-locked "$folder/pinned"
check "so does the file" grep -q '"pinned": true' "$folder/pinned.json"
check "not the others" sh -c "! grep -q pinned '$folder/out/a.json'"

check "one round" sh -c "$rungs bench blur --versions serial,omp,cuda/v1.0 --size 64x48 --time 0.02 --rounds 1 --warm --json '$folder/round.json' &&
    grep -q '\"rounds\": 1,' '$folder/round.json' && test \$(grep -c '\"n\": 0' '$folder/round.json') = 0"
# Its rows are not as far apart as those of the other picture that is in flight beside it.
check "a picture that was cut" "$rungs" bench blur --versions serial,cuda/v1.0 --input images/zone_plate.png --size 640x48 --time 0.02
check "1x1" "$rungs" bench blur --versions serial,omp --size 1x1 --time 0.02 --threads 2

check "emulated versions have no times" sh -c "'$rungs' list blur | grep -q 'cuda/v1.0 .*\[emulated\]' || exit 0
    '$rungs' bench blur --versions cuda/v1.0 $small >'$folder/emulated' &&
    grep -q 'cuda/v1.0 *exact, emulated  *- *- *- *- *-\$' '$folder/emulated'"

check "diff runs" "$rungs" diff blur serial omp --size 64x48 --threads 2
cp "$folder/log" "$folder/diff"
check "diff shows the pragma" grep -q "^+#pragma omp parallel for" "$folder/diff"
check "diff counts lines" grep -q "cpu/blur/0_serial.c -> cpu/blur/1_omp.c: [0-9]* lines added, [0-9]* removed" "$folder/diff"
check "diff shows prediction and measurement" sh -c "grep -q '^predicted' '$folder/diff' && grep -q '^measured' '$folder/diff'"
check "diff of several outputs" "$rungs" diff harris cpu/omp cpu/separable --size 96x64 --no-code
check "diff of emulated versions and several outputs" "$rungs" diff harris cuda/v1.0 cuda/v1.1 --size 32x24 --no-code
check "diff of matrices" "$rungs" diff kmeans cpu/serial cpu/omp --size 8x8 -p k=2 --no-code
check "diff of an output that is absent" "$rungs" diff harris cpu/omp cpu/separable --size 96x64 --no-code -p outputs=corners
check "diff without code" sh -c "'$rungs' diff blur serial omp --no-code --size 64x48 >'$folder/diff' && ! grep -q pragma '$folder/diff'"
# What is missing is said before anything is built: this build folder stays empty.
check "make diff without its versions" sh -c "env -u MAKEFLAGS make BUILD='$folder/none' diff-blur A=cuda/v1.0 2>'$folder/make'; test \$? = 2 &&
    test \$(wc -l <'$folder/make') = 1 && grep -q 'diff-blur: name two versions' '$folder/make' && test ! -e '$folder/none'"
check "make run without files" sh -c "env -u MAKEFLAGS make BUILD='$folder/none' run-blur IN=x.png 2>'$folder/make'; test \$? = 2 &&
    test \$(wc -l <'$folder/make') = 1 && grep -q 'run-blur: name the files' '$folder/make' && test ! -e '$folder/none'"
cp images/zone_plate.png "$folder/it's one.png"
env -u MAKEFLAGS make -n BUILD="$build" run-blur IN="$folder/it's one.png" OUT="$folder/a 'b.png" >"$folder/make"
sed -n '/rungs-blur run blur/,$ s|^.*rungs-blur run [^ ]*|printf %s.|p' "$folder/make" | sed 's/\\$//' >"$folder/words"
check "make takes names with blanks and quotes" test "$(sh "$folder/words")" = "$folder/it's one.png.-o.$folder/a 'b.png."
env -u MAKEFLAGS make -n BUILD="$build" run-absdiff IN="a.png b.png" OUT=c.png >"$folder/make"
check "make takes two names" grep -q " run absdiff *'a.png' *'b.png' -o 'c.png'" "$folder/make"
check "phases of a version that keeps its buffers" sh -c "'$rungs' diff absdiff cuda/v1.0 cuda/v1.1 --no-code --size 64x48 >'$folder/diff' ||
    { '$rungs' list absdiff | grep -q 'cuda/v1.0 .*cannot run here'; exit; }
    test \$(grep -c '^  allocate' '$folder/diff') = 2 && grep -q '^  free  *-' '$folder/diff'"

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
