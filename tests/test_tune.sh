#!/bin/sh
# rungs tune from the command line: what it prints, writes and keeps, who uses that, and that bad use costs one line and no
# work. usage: sh tests/test_tune.sh BUILD-FOLDER
set -u
. tests/guard.sh
build=$1
rungs=$build/rungs
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0 skipped=0
RUNGS_TUNED=$folder/out/tuned.json
export RUNGS_TUNED

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

refuses() { # TITLE PATTERN ARGUMENTS...: exit 2 within seconds, one line that matches, and no file
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
refuses "no version at all" "needs ALGO:VERSION" tune
refuses "no version" "name the version" tune blur
refuses "two" "omp" tune blur:simd blur:omp
refuses "unknown version" "magic" tune blur:magic
refuses "serial" "nothing to tune" tune blur:serial
refuses "unknown option" "--frobnicate" tune blur:simd --frobnicate
refuses "time 0" "--time" tune blur:simd --time 0
refuses "no thread" "threads" tune blur:simd --threads 1,0
refuses "threads, cut off" "threads" tune blur:simd --threads 1,
refuses "no legal value" "none of 32, 64" tune blur:simd -p band_height=33
refuses "no legal word" "none of static, dynamic" tune blur:simd -p schedule=2
refuses "unknown parameter" "band_height, schedule" tune blur:simd -p band=32
refuses "SVG into no folder, before any measuring" "nowhere" tune blur:simd --svg "$folder/nowhere/a.svg"
refuses "JSON into no folder" "nowhere" tune blur:simd --json "$folder/nowhere/a.json" --svg "$folder/out/a.svg"
refuses "a missing input" "missing.png" tune blur:simd --input "$folder/missing.png"
RUNGS_TUNED=$folder/nowhere/t.json
refuses "nowhere to keep" "nowhere" tune blur:simd
echo '{"schema": "other"}' >"$folder/broken.json"
RUNGS_TUNED=$folder/broken.json
refuses "keeping in a file of another kind" "not a file of tuned values" tune blur:simd
RUNGS_TUNED=$folder/out/tuned.json
if "$rungs" list blur | grep -q '^  cuda/v1.0 .*\[emulated\]'; then
    refuses "an emulated version" "emulates CUDA on the CPU" tune blur:cuda/v1.3
fi
if "$rungs" list blur | grep -q '^  cuda/v1.3'; then
    refuses "more threads than a block may have" "8192 threads in a block, of which CUDA allows 1024" \
        bench blur:cuda/v1.3 -p block_width=256 -p block_height=32 --size 64x64
    refuses "the same in run" "8192 threads" \
        run blur:cuda/v1.3 images/impulse.png -o "$folder/out/a.png" -p block_width=256 -p block_height=32
    refuses "more shared memory than CUDA grants" "81399 bytes of shared memory" \
        bench blur:cuda/v2.0 -p block_width=256 -p block_height=4 -p ksize=31 --channels 3 --size 64x64
else
    skipped=$((skipped + 3))
    echo "SKIP launch shapes: no CUDA versions of blur in this tree"
fi

small="--size 64x48 --time 0.03 --threads 2"
check "tune runs" "$rungs" tune blur:simd $small --svg "$folder/out/a.svg" --json "$folder/out/a.json"
cp "$folder/log" "$folder/table"
check "18 points" grep -q '^18 points timed, each verified first; 0 illegal, 0 skipped, 0 wrong$' "$folder/table"
check "by time" sh -c "awk '/%/ { for (i = 2; i <= NF; i++) { unit = \$i == \"ms\" ? 1000 : \$i == \"s\" ? 1e6 : \$i ~ /^(µ|u)s\$/ ? 1 : 0
    if (unit) print unit * \$(i - 1) } }' '$folder/table' >'$folder/times' && test \$(wc -l <'$folder/times') = 18 && sort -C -g '$folder/times'"
check "the best and the default are marked" sh -c "grep -q '  best' '$folder/table' && test \$(grep -c 'default\$' '$folder/table') -ge 1"
check "says what was kept" grep -q '^kept in .*tuned.json for .*, 2 threads: band_height=' "$folder/table"
check "the three files" test "$(ls "$folder/out" | wc -l)" = 3
check "JSON has schema and kind" sh -c "grep -q '\"schema\": \"rungs-results\"' '$folder/out/a.json' && grep -q '\"kind\": \"tune\"' '$folder/out/a.json'"
check "JSON has the command without files" grep -q '"command": "rungs tune blur:simd --size 64x48 --time 0.03 --threads 2"' "$folder/out/a.json"
check "the heat map has all numbers" test "$(grep -c "font-weight='bold'>[0-9.]*</text>" "$folder/out/a.svg")" -ge 18
if command -v xmllint >/dev/null; then
    check "the heat map is well-formed" xmllint --noout "$folder/out/a.svg"
else
    skipped=$((skipped + 1))
    echo "SKIP the heat map as XML: no xmllint"
fi
check "no column beyond 100" sh -c "! LC_ALL=C grep -v '^kept' '$folder/table' | grep '.\{101\}'"

# A value that no search would have chosen by itself here, so that its use shows.
sed 's/"band_height": [0-9]*/"band_height": 32/; s/"schedule": "[a-z]*"/"schedule": "guided"/' "$folder/out/tuned.json" >"$folder/kept"
cp "$folder/kept" "$folder/out/tuned.json"
check "bench uses what is kept, and says so" sh -c "'$rungs' bench blur:simd $small --json '$folder/out/b.json' | tr -d '\n' | tr -s ' ' |
    grep -q 'tuned cpu/simd: band_height=32 schedule=guided, as tuned on 20'"
check "and in its JSON" sh -c "tr -d ' \n' <'$folder/out/b.json' | grep -q '\"tunables\":{\"band_height\":32,\"schedule\":\"guided\"},\"tuned\":true'"
check "-p wins" sh -c "! '$rungs' bench blur:simd $small -p band_height=64 | grep '^tuned'"
check "other threads, other values" sh -c "! '$rungs' bench blur:simd --size 64x48 --time 0.03 --threads 1 | grep '^tuned'"
check "diff says so" sh -c "'$rungs' diff blur omp simd --no-code --size 64x48 --threads 2 | grep -q '^tuned *cpu/simd: band_height=32'"
check "RUNGS_TUNED= ignores it" sh -c "! RUNGS_TUNED= '$rungs' bench blur:simd $small | grep '^tuned'"
check "list shows tunables" sh -c "'$rungs' list blur | grep -q -- '-p schedule=static|dynamic|guided .*(default dynamic)'"
check "a broken file is named, and defaults are used" sh -c "RUNGS_TUNED='$folder/broken.json' '$rungs' bench blur:simd $small |
    tr -d '\n' | tr -s ' ' | grep -q 'tuned cpu/simd: its default: .*not a file of tuned values'"
check "a partial search" sh -c "'$rungs' tune blur:simd $small -p band_height=64 >'$folder/partial' && grep -q '^3 points timed' '$folder/partial'"
check "is not kept" cmp "$folder/kept" "$folder/out/tuned.json"
check "--no-keep" "$rungs" tune blur:simd $small --no-keep
check "keeps nothing" cmp "$folder/kept" "$folder/out/tuned.json"
check "threads alone, as bars" sh -c "'$rungs' tune blur:omp --size 64x48 --time 0.03 --threads 2,1 --svg '$folder/out/c.svg' |
    grep -q '^2 points timed' && grep -q Whiskers '$folder/out/c.svg'"

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
