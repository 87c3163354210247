#!/bin/sh
# rungs profile, make profile-, nsys- and ncu-ALGO: what they print and write, and that what is missing is said in one line.
# usage: sh tests/test_profile.sh BUILD-FOLDER
set -u
. tests/guard.sh
build=$1
rungs=$build/rungs
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/out" "$folder/bin"
passed=0 failed=0

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

refuses() { # TITLE EXIT PATTERN COMMAND...: one line on stderr that matches, nothing on stdout, no file
    title=$1 expected=$2 pattern=$3
    shift 3
    guarded 60 "$@" >"$folder/stdout" 2>"$folder/stderr"
    code=$?
    if [ $code = "$expected" ] && [ "$(grep -vc '^make: \*\*\*' "$folder/stderr")" = 1 ] &&
        grep -q -- "$pattern" "$folder/stderr" && [ ! -s "$folder/stdout" ] && [ -z "$(ls "$folder/out")" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $title: exit $code"
        sed 's/^/     /' "$folder/stdout" "$folder/stderr"
        ls -l "$folder/out"
    fi
}

refuses "no version" 2 "needs one version" "$rungs" profile
refuses "an algorithm alone" 2 "name a version too" "$rungs" profile blur
refuses "two versions" 2 "takes one version" "$rungs" profile blur:serial blur:omp
refuses "unknown version" 2 "fastest" "$rungs" profile blur:fastest
refuses "no calls" 2 "0 is outside 1 to" "$rungs" profile blur:serial --calls 0
refuses "calls are a number" 2 "not a whole number" "$rungs" profile blur:serial --calls many
refuses "bare and a file" 2 "bare records nothing" "$rungs" profile blur:serial --bare --json "$folder/out/a.json"
refuses "lines of nothing" 2 "name the program with --counted" "$rungs" profile blur:serial --lines
refuses "trace into no folder" 2 "none/a.json" "$rungs" profile blur:serial --size 64x48 --trace "$folder/out/none/a.json"
refuses "unreadable input" 2 "nothing.png" "$rungs" profile blur:serial --input "$folder/nothing.png"
check "help" sh -c "'$rungs' profile --help | grep -q -- --trace"
check "bare calls" sh -c "test \"\$('$rungs' profile blur:omp --bare --calls 3 --size 64x48)\" = '3 calls of blur:cpu/omp, not verified'"

check "a CPU version" sh -c "'$rungs' profile blur:cpu/omp --size 96x64 --threads 2 --calls 3 --json '$folder/out/a.json' \
    --trace '$folder/out/t.json' >'$folder/omp'"
check "says what it verified and recorded" sh -c "grep -q '^verified  *exact' '$folder/omp' && grep -q '^calls  *3 of' '$folder/omp'"
check "shows the system's counts" grep -q "^system  *per call" "$folder/omp"
if nm "$build/common/trace/openmp.c.o" 2>/dev/null | grep -q __wrap_GOMP_parallel; then
    check "both threads took part in three regions" sh -c "test \$(grep -c '^  *[01]  *3 ' '$folder/omp') = 2"
    check "the region has an imbalance and a place" grep -Eq " 3 .* [1-9]+\.[0-9]{2}  (cpu/blur/1_omp.c:[0-9]+|region 1)$" "$folder/omp"
    check "the trace has a row per thread" sh -c "grep -q 'OpenMP thread 0' '$folder/out/t.json' && grep -q 'OpenMP thread 1' '$folder/out/t.json'"
else
    check "says that threads cannot be seen" grep -q "threads: only builds by gcc" "$folder/omp"
fi
# Counters are either all there or one line says why not.
check "counters or the reason" sh -c "grep -q ' instructions: .* a cycle' '$folder/omp' || test \$(grep -c 'hardware counters: ' '$folder/omp') = 1"
check "the JSON is of its schema" sh -c "grep -q '\"kind\": \"profile\"' '$folder/out/a.json' && grep -q '\"calls\": 3' '$folder/out/a.json'"
check "the command is recorded without files" sh -c "grep -q '\"command\": \"rungs profile blur:cpu/omp --size 96x64' '$folder/out/a.json' &&
    ! grep -q '$folder' '$folder/out/a.json'"
check "the trace has the three calls" sh -c "test \$(grep -c '\"cat\": \"call\"' '$folder/out/t.json') = 3"
if command -v python3 >/dev/null; then
    check "both files are JSON" sh -c "python3 -m json.tool '$folder/out/a.json' && python3 -m json.tool '$folder/out/t.json'"
fi
check "nothing temporary stays" sh -c "test \$(ls -A '$folder/out' | wc -l) = 2"
rm -f "$folder/out"/*

check "a serial version has no regions" sh -c "'$rungs' profile blur:serial --size 64x48 --calls 1 >'$folder/serial' &&
    { grep -q 'no parallel region' '$folder/serial' || grep -q 'only builds by gcc' '$folder/serial'; }"
check "frames of a pipeline, by step" sh -c "'$rungs' profile motion:cpu/serial --size 160x120 --calls 2 >'$folder/motion' &&
    grep -q '^frames  *2 of' '$folder/motion' && grep -q ' 2 .* labelling$' '$folder/motion'"

if [ -x "$build/rungs-mutants" ]; then
    check "a wrong version has no profile" sh -c "'$build/rungs-mutants' profile blur:mutant/border_off_by_one --size 64x48 >'$folder/wrong'
        test \$? = 1 && grep -q 'has no profile' '$folder/wrong' && test \$(wc -l <'$folder/wrong') = 1"
fi

# A CUDA version: emulated, it shows launches and bytes but no time; natively, all of it or why it cannot run here.
if "$rungs" list blur | grep -q 'cuda/v1.3 .*cannot run here'; then
    refuses "no GPU" 2 "cannot run here: no CUDA device" "$rungs" profile blur:cuda/v1.3 --size 64x48
    refuses "no GPU, bare" 2 "cannot run here: no CUDA device" "$rungs" profile blur:cuda/v1.3 --size 64x48 --bare
elif "$rungs" list blur | grep -q cuda/v1.3; then
    check "a CUDA version" sh -c "'$rungs' profile blur:cuda/v1.3 --size 100x80 --trace '$folder/out/t.json' >'$folder/cuda' 2>&1"
    check "its launch" grep -Eq " 4x5 +32x16 .*blur_kernel" "$folder/cuda"
    check "the trace has the kernel" grep -q '"cat": "kernel"' "$folder/out/t.json"
    if grep -q emulated "$folder/cuda"; then
        check "no times of the emulator" sh -c "! grep -Eq '[0-9] (s|ms|µs|us|ns)( |$)' '$folder/cuda'"
        check "says who counts" grep -q "^missing .*make profile-blur V=cuda/v1.3 counts it" "$folder/cuda"
        check "a program that does not count" sh -c "'$rungs' profile blur:cuda/v1.3 --size 64x48 --counted '$rungs' >'$folder/not' &&
            { grep -q 'not built with COUNTED=1' '$folder/not' || grep -q '^Counted' '$folder/not'; }"
        check "bytes of copies" grep -Eq " 1 +8.00 kB +\[CUDA memcpy HtoD\]" "$folder/cuda"
    fi
    rm -f "$folder/out"/*
fi

# What emulated kernels cost: by a second program, from the objects of this build.
if grep -q emulated "$folder/cuda" 2>/dev/null && case $build in *-asan | *-races) false ;; esac && ! "${CXX:-g++}" --version | grep -q clang; then
    counted=$build-counted/rungs-grayscale
    check "the counting program" "${MAKE:-make}" --no-print-directory -s COUNTED=1 CUDA=emulated OPENCV=no OPENBLAS=no OBJECTS="$build" BUILD="$build-counted" "$counted"
    check "what kernels cost" sh -c "'$rungs' profile grayscale:cuda/v1.0 --size 64x48 --counted '$counted' --lines --json '$folder/out/a.json' >'$folder/costs'"
    check "in ncu's words" grep -Eq "^  global load efficiency +[0-9.]+ %$" "$folder/costs"
    # 64 registers for each of 32 lanes: of 64 warps 32 fit
    printf '#!/bin/sh\nprintf "ptxas info    : Compiling entry function \047%%s\047 for \047sm_90\047\\n    8 bytes stack frame, 0 bytes spill stores\\nptxas info    : Used 64 registers\\n" "%s" >&2\n' \
        "$(sed -n 's/.*"kernel": "\([a-z_]*\)".*/\1/p' "$folder/out/a.json" | head -n 1)" >"$folder/bin/nvcc"
    chmod +x "$folder/bin/nvcc"
    check "registers of a compiler" sh -c "python3 -B common/report/resources.py --nvcc '$folder/bin/nvcc' any.cu '$folder/out/a.json' | grep -Eq '^ +64 +0 B +8 B +50.0 %  [a-z_]+ \(bound by registers\)$'"
    check "are in the profile" grep -Eq '"registers": 64' "$folder/out/a.json"
    check "no compiler" sh -c "python3 -B common/report/resources.py --nvcc '$folder/none' any.cu '$folder/out/a.json' | grep -q 'are not known'"
    "$rungs" profile grayscale:cuda/v1.0 --counted "$counted" >"$folder/small" 2>&1
    check "at which size" grep -q "^Counted, not timed, at 256x144 " "$folder/small"
    check "by line" grep -Eq "^  global load +[0-9]+ x +[0-9.]+ .*[|] +[0-9]+ .* = " "$folder/costs"
    check "in the JSON" grep -Eq '"sectors_per_global_load": [1-9]' "$folder/out/a.json"
    rm -f "$folder/out"/*
fi

# The scripts for NVIDIA's tools, with stand-ins that print what they are asked to do.
for tool in nsys ncu; do
    printf '#!/bin/sh\necho "%s was told: $*"\n' "$tool" >"$folder/bin/$tool"
    chmod +x "$folder/bin/$tool"
done
nsight() { PATH="$folder/bin:$PATH" sh common/build/nsight.sh "$@"; }
nsight nsys "$folder/report/a" "$rungs" profile blur:cuda/v1.0 >"$folder/nsys" 2>&1
check "nsys traces CUDA and NVTX of bare calls" grep -q "nsys was told: profile --trace=cuda,nvtx.* profile blur:cuda/v1.0 --bare" "$folder/nsys"
nsight ncu "$folder/report/a" "$rungs" profile blur:cuda/v1.0 >"$folder/ncu" 2>&1
check "ncu measures one bare call" grep -q "ncu was told: --set full .*--clock-control none .*--bare --calls 1" "$folder/ncu"
check "ncu shows what it found" grep -q "ncu was told: --import $folder/report/a.ncu-rep" "$folder/ncu"
printf '#!/bin/sh\nexit 3\n' >"$folder/bin/ncu"
check "a tool that fails" sh -c "PATH='$folder/bin:$PATH' sh common/build/nsight.sh ncu '$folder/report/a' x; test \$? = 2"
rm "$folder/bin/nsys"
if ! command -v nsys >/dev/null && ! ls /usr/local/cuda/bin/nsys /opt/nvidia/*/*/nsys >/dev/null 2>&1; then
    refuses "no nsys" 2 "nsys is not installed" sh common/build/nsight.sh nsys "$folder/report/a" x
fi
refuses "make without a version" 2 "name a version" "${MAKE:-make}" -s profile-blur BUILD="$build"

echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
