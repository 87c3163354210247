#!/bin/sh
# The command cu: whole CUDA programs in the emulator: files, headers, arguments and options; what kernels cost; exit status and messages
# with the student's own file and line; libraries that are refused by name; the survey; and that CU.md says what is so.
# usage: sh test_cu.sh CU [--write]          (CU: the command, built or installed; --write: the list in CU.md made anew)
set -u
cu=$(readlink -f "${1:?usage: sh test_cu.sh CU [--write]}") || exit 2
emulator=$(cd "$(dirname "$0")/.." && pwd)
page=$emulator/CU.md
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0 skipped=0

# guarded SECONDS COMMAND...: with so much processor time; the wall clock ends only what waits for ever
guarded() {
    (
        ulimit -t "$1"
        shift
        exec timeout 900 "$@"
    )
}
finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ $failed = 0 ]
    exit
}
ok() { passed=$((passed + 1)); }
bad() {
    failed=$((failed + 1))
    echo "FAIL $1"
    sed 's/^/     /' "$folder/stdout" "$folder/stderr" | head -n 20
}
listed() {
    echo
    "$cu" --unsupported | awk -F '\t' '{
        gsub(/ /, "`, `", $2); gsub(/ /, "`, `", $3)
        headers = $2 == "-" ? "" : ": headers `" $2 "`..."
        print "- " $1 headers ($3 == "-" ? "" : (headers == "" ? ":" : ",") " names `" $3 "`...") }'
    echo '- inline PTX: `asm` in a kernel or in a `__device__` function'
    echo
}
if [ "${2:-}" = --write ]; then
    listed >"$folder/list"
    awk -v list="$folder/list" '/^<!-- \/unsupported/ { skip = 0 } !skip { print } /^<!-- unsupported/ { skip = 1; while ((getline line < list) > 0) print line }' \
        "$page" >"$folder/page" && cp "$folder/page" "$page"
    exit
fi

# run STATUS TITLE ARGUMENTS...: in $folder
run() {
    wanted=$1 title=$2
    shift 2
    (cd "$folder" && guarded 60 "$cu" "$@") >"$folder/stdout" 2>"$folder/stderr" </dev/null
    code=$?
    if [ $code = "$wanted" ]; then ok; else bad "$title: exit status $code instead of $wanted"; fi
}
says() { # TITLE TEXT: on stdout
    if grep -qF -- "$2" "$folder/stdout"; then ok; else bad "$1: no '$2'"; fi
}
complains() { # TITLE TEXT: on stderr
    if grep -qF -- "$2" "$folder/stderr"; then ok; else bad "$1: no '$2'"; fi
}

# --- the examples of the page: each program, the command and what it prints
example() { # NAME: its program, which is the indented text that has its kernel
    awk -v name="$1" '/^    / { text = text substr($0, 5) "\n"; next } { if (index(text, "void " name "(") > 0) printf "%s", text; text = "" }' "$page" >"$folder/$1.cu"
    [ -s "$folder/$1.cu" ] || bad "$page has no example $1"
}
for name in fill count sum; do
    example $name
    option=
    [ $name != count ] || option=--race
    run 1 "example $name" $option $name.cu
    while IFS= read -r line; do
        if grep -qxF -- "    $line" "$page"; then ok; else bad "$page has another text for $name"; fi
    done <"$folder/stderr"
    complains "example $name" "never asked for this error"
    [ $name = count ] || continue
    cat "$folder/count.cu" "$folder/stderr" >"$folder/stdout"
    while IFS= read -r line; do
        if grep -qxF -- "    $line" "$emulator/README.md"; then ok; else bad "README.md has no '$line'"; fi
    done <"$folder/stdout"
done

# --- what a program is made of
mkdir -p "$folder/a b/inc" "$folder/else where"
cat >"$folder/a b/main.cu" <<'CU'
#include <stdio.h>
#include <string.h>
#include "inc/kernels.cuh"
#include <other.h>
int twice(int x);
int main(int argc, char **argv)
{
    int *x;
    dim3 gridDim(2), blockDim(32);
    cudaMallocManaged(&x, 64 * sizeof(int));
    FILL(x, OTHER);
    if (cudaDeviceSynchronize() != cudaSuccess || x[63] != 63 + OTHER)
        return 3;
    printf("%d %d %s %s\n", twice(x[63]), argc, argv[1], strrchr(__FILE__, '/'));
    return 0;
}
CU
cat >"$folder/a b/inc/kernels.cuh" <<'CU'
#pragma once
#include "deeper.cuh"
__global__ void fill(int *x, int n)
{
    __shared__ int s[32];
    s[threadIdx.x] = blockIdx.x * blockDim.x + threadIdx.x;
    __syncthreads();
    x[blockIdx.x * blockDim.x + threadIdx.x] = deeper(s[threadIdx.x], n);
}
#define FILL(x, n) fill<<<gridDim, blockDim>>>(x, n)
CU
cat >"$folder/a b/inc/deeper.cuh" <<'CU'
#pragma once
#include "kernels.cuh"
__device__ int deeper(int a, int b) { return a + b; }
CU
echo '#define OTHER 100' >"$folder/else where/other.h"
echo 'int twice(int x) { return 2 * x; }' >"$folder/twice.cpp"
run 0 "several files" "a b/main.cu" -I "else where" twice.cpp -O3 -arch=sm_90 -- "two words" b
says "several files" "326 3 two words /main.cu"
run 0 "--compile" --compile -o "$folder/program" "a b/main.cu" "-Ielse where" twice.cpp
if [ -x "$folder/program" ] && [ ! -s "$folder/stdout" ]; then ok; else bad "--compile leaves the program and does not run it"; fi

# --- programs that check themselves
programs=$emulator/tests/programs
for program in groups language halves; do
    run 0 "$program" "$programs/$program.cu"
done
run 0 "order" --race --compile -o "$folder/order" "$programs/order.cu"
for kernel in 0 1 2 3 4 5; do
    for seed in 1 2 3; do
        RUNGS_EMULATOR_SEED=$seed RUNGS_EMULATOR_RACES=1 guarded 60 "$folder/order" $kernel >"$folder/stdout" 2>"$folder/stderr"
        if [ $? = $((kernel % 2)) ]; then ok; else bad "order $kernel, seed $seed: a race where there is none, or none where there is one"; fi
    done
    [ $((kernel % 2)) = 0 ] || says "order $kernel" "race: "
done
run 0 "groups, watched" --race "$programs/groups.cu"

# --- what kernels cost: each line "counts: " or "parts: " of the program is a row of the CSV
RUNGS_EMULATOR_COUNTERS=$folder/counters.csv
export RUNGS_EMULATOR_COUNTERS
run 0 "--profile" --profile "$programs/counters.cu"
unset RUNGS_EMULATOR_COUNTERS
awk -F, '$8 == 0 { gsub(/"/, "", $1); gsub(/ /, "_", $9); print "counts: " $1, $9, $10, $11, $12, $13, $14, $15; print "parts: " $1, $5, $6 }' \
    "$folder/counters.csv" >"$folder/stdout"
grep -oE '(counts|parts): [a-z_0-9]+( [a-z_]+)?( [0-9]+)+' "$programs/counters.cu" >"$folder/wanted"
[ -s "$folder/wanted" ] || bad "no counts in counters.cu"
while IFS= read -r line; do
    if grep -qxF "$line" "$folder/stdout"; then
        ok
    else
        bad "counters: $line"
        grep "^${line%% [0-9]*} " "$folder/stdout" | sed 's,^,     ,'
    fi
done <"$folder/wanted"
example transpose
run 0 "example transpose" --profile transpose.cu
while IFS= read -r line; do
    if [ -z "$line" ] || grep -qxF -- "    $line" "$page"; then ok; else bad "$page has another text for transpose: $line"; fi
done <"$folder/stdout"

# --- exit status and messages
cat >"$folder/status.cu" <<'CU'
#include <stdlib.h>
int main(int argc, char **argv) { return atoi(argv[1]); }
CU
run 7 "the program's own status" status.cu -- 7
run 2 "no file"
complains "no file" "usage: cu"
run 2 "a file that is not there" missing.cu
complains "a file that is not there" "cu: missing.cu: no such file"
run 2 "an option that is not there" --fast status.cu
complains "an option that is not there" "cu: --fast: not an option of cu"
printf 'int main()\n{\n    int x = y;\n}\n' >"$folder/wrong.cu"
run 2 "a mistake" wrong.cu
complains "a mistake" "wrong.cu:3:"
printf '__global__ void k() {}\nint main()\n{\n    k<<<1, 2(3);\n}\n' >"$folder/launch.cu"
run 2 "a mistake in a launch" launch.cu
complains "a mistake in a launch" "launch.cu:4: this <<< has no >>>"
printf 'int main()\n{\n    cudaLaunchSomething();\n}\n' >"$folder/call.cu"
run 2 "a call that the emulator lacks" call.cu
complains "a call that the emulator lacks" "call.cu:3: cudaLaunchSomething, which the emulator does not have"
printf '#include "oops.h"\nint main() {}\n' >"$folder/header.cu"
printf '\nint x = ;\n' >"$folder/oops.h"
run 2 "a mistake in a header" header.cu
complains "a mistake in a header" "oops.h:2:"
cat >"$folder/asked.cu" <<'CU'
__global__ void k(int *x) { x[0] = 1; }
int main()
{
    k<<<1, 2048>>>(nullptr);
    return cudaGetLastError() == cudaSuccess;
}
CU
run 0 "an error that the program asks for" asked.cu
run 0 "no race" --check status.cu -- 0
cat >"$folder/many.cu" <<'CU'
__global__ void add(int *x)
{
    *x += 1;
}
__global__ void set(char *x) { x[(size_t)blockIdx.x * blockDim.x + threadIdx.x] = 1; }
int main(int argc, char **argv)
{
    int *x;
    char *large;
    cudaMalloc(&x, sizeof(int));
    cudaMalloc(&large, 64 << 20);
    if (argc == 1)
        add<<<1000, 100>>>(x);
    else
        set<<<1 << 11, 1024>>>(large);
    return 0;
}
CU
run 1 "a race of 100,000 threads" --race many.cu
complains "a race of 100,000 threads" "many.cu:3, this one"
run 0 "too many threads to be watched" --race many.cu -- large
complains "too many threads to be watched" "emulator: 67108864 bytes of device memory are not watched for races: more than 16777216"
complains "too many threads to be watched" "emulator: kernel set (many.cu:15) is not watched for races: 2097152 threads, more than 1048576"
cat >"$folder/late.cu" <<'CU'
#include <stdio.h>
__global__ void k(int *x) { *x = 5; }
int main()
{
    int *d, *h;
    cudaStream_t s;
    cudaMalloc(&d, sizeof(int));
    cudaMallocHost(&h, sizeof(int));
    *h = 0;
    cudaStreamCreate(&s);
    k<<<1, 1, 0, s>>>(d);
    cudaMemcpyAsync(h, d, sizeof(int), cudaMemcpyDeviceToHost, s);
    return *h != 5;
}
CU
cat >"$folder/assert.cu" <<'CU'
#include <assert.h>
__global__ void all_below(int n) { assert(threadIdx.x < n); }
int main(int argc, char **argv)
{
    all_below<<<3, 64>>>(63);
    if (argc > 1 && (cudaDeviceSynchronize() != cudaErrorAssert || cudaGetLastError() != cudaErrorAssert))
        return 3;
    assert(argc != 3);
    return 0;
}
CU
run 1 "assert() in a kernel" assert.cu
complains "assert() in a kernel" "never asked for this error: device-side assert triggered: kernel all_below (assert.cu:5), block ("
run 0 "assert() in a kernel, asked for" assert.cu -- asked
if grep -qx 'assert.cu:2: void all_below(int): block: \[[0-2],0,0\], thread: \[63,0,0\] Assertion `threadIdx.x < n` failed.' "$folder/stderr"; then
    ok
else
    bad "assert() in a kernel: not what a GPU says"
fi
run 134 "assert() on the host" assert.cu -- asked host
complains "assert() on the host" "program: assert.cu:8: int main(int, char**): Assertion \`argc != 3' failed."
cat >"$folder/far.cu" <<'CU'
__global__ void scale(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i * n] *= 2;
}
int main()
{
    float *x;
    cudaMalloc(&x, 1000 * sizeof(float));
    scale<<<4, 250>>>(x, 4);
    cudaDeviceSynchronize();
    return 0;
}
CU
run 1 "far outside of memory" far.cu
complains "far outside of memory" "an illegal memory access was encountered: kernel scale (far.cu:10), block ("
complains "far outside of memory" " bytes behind an allocation of 4000 bytes, in "
run 0 "a wait that is missing, at once" late.cu
run 1 "a wait that is missing, late" --check late.cu
complains "a wait that is missing, late" "cu: with seed 1"

# --- libraries are refused by name and line
"$cu" --unsupported >"$folder/unsupported"
while IFS="$(printf '\t')" read -r what headers names; do
    for header in ${headers#-}; do
        case $header in */) header=${header}some.h ;; *.h) ;; */*) ;; *) header=$header.h ;; esac
        printf '\n#include <%s>\nint main() {}\n' "$header" >"$folder/library.cu"
        run 2 "$what" library.cu
        complains "$what" "library.cu:2: $what ($header) is not supported by cu"
    done
    for name in ${names#-}; do
        case $name in
        thrust | cub | cute | cutlass) printf '\nint main()\n{\n    %s::f();\n}\n' "$name" >"$folder/library.cu" ;;
        *) name=${name}X; printf '\nint main()\n{\n    %s();\n}\n' "$name" >"$folder/library.cu" ;;
        esac
        run 2 "$name" library.cu
        complains "$name" "library.cu:4: $name: $what is not supported by cu"
    done
done <"$folder/unsupported"
printf '__device__ int lane()\n{\n    int x;\n    asm volatile("mov.u32 %%0, %%laneid;" : "=r"(x));\n    return x;\n}\nint main() {}\n' >"$folder/ptx.cu"
run 2 "inline PTX" ptx.cu
complains "inline PTX" "ptx.cu:4: inline PTX is not supported by cu"
printf '#ifdef NEVER\n#include <curand.h>\n__device__ void f() { asm(""); }\n#endif\nint main() {}\n' >"$folder/never.cu"
run 0 "what the preprocessor leaves out" never.cu
listed >"$folder/stdout"
sed -n '/^<!-- unsupported/,/^<!-- \/unsupported/p' "$page" | sed '1d; $d' >"$folder/stderr"
if cmp -s "$folder/stdout" "$folder/stderr"; then ok; else bad "$page has another list: sh tests/test_cu.sh $cu --write"; fi

# --- the survey
if python3 -c '' 2>/dev/null; then
    mkdir -p "$folder/all/parts" "$folder/all/common"
    printf '#include <stdio.h>\n#include <ours.h>\nint two();\nint main() { printf("Test %%s\\n", two() == TWO ? "PASSED" : "FAILED"); }\n' >"$folder/all/parts/main.cu"
    echo 'int two() { return 2; }' >"$folder/all/parts/two.cu"
    echo '#define TWO 2' >"$folder/all/common/ours.h"
    printf '#include <curand.h>\nint main() {}\n' >"$folder/all/no.cu"
    printf '#include <stdio.h>\nint main() { puts("FAILED"); return 3; }\n' >"$folder/all/bad.cu"
    printf 'int main() { for (volatile int x = 0; ; x++); }\n' >"$folder/all/slow.cu"
    survey() { python3 -B "$emulator/survey.py" --cu "$cu" --limit 1 "$@" "$folder/all" >"$folder/stdout" 2>"$folder/stderr"; }
    survey || bad "the survey"
    for line in '4 programs: 3 compile, 1 end as they should, 1 are too slow' '| parts/main.cu | yes | yes | passes |  |' \
        '| bad.cu | yes | status 3 | fails | FAILED |' '| no.cu | no | - | - | no.cu:1: cuRAND (curand.h) is not supported by cu |' \
        '| slow.cu | yes | too slow | - | more than 1 s of a processor |'; do
        says "the survey" "$line"
    done
    for option in '--list none.tsv' '--changes none.tsv' '--out /nowhere/table.md'; do # said before an hour's work
        if survey $option; then bad "the survey $option"; else complains "the survey $option" "${option#* }: "; fi
    done
    # Changes: each kind, and constants that stand in no place or in two.
    mkdir -p "$folder/all/lent"
    echo '#define LENT 3' >"$folder/all/lent/lent.h"
    cat >"$folder/all/size.cu" <<'CU'
#include <stdio.h>
#include <stdlib.h>
#include <lent.h>
#define TURNS 100 // 10 / 2
static const int high{ 1 << 30 / 2 };
static const int wide = 1;
int main(int argc, char **argv)
{
    for (volatile int turn = 0; turn < 200000000; turn++)
        ;
    int wide = 2 + ::wide;
    printf("%s\n", argc == 2 && atoi(argv[1]) == TURNS && TURNS == high && atoi(getenv("SETTING")) == wide && wide == LENT ? "PASSED" : "FAILED");
}
CU
    printf 'size.cu\tconstant\tTURNS=7\nsize.cu\tconstant\thigh=7\nsize.cu\tword\t200000000=2\nsize.cu\targuments\t7\nsize.cu\tsetting\tSETTING=3\n' >"$folder/changes.tsv"
    printf 'size.cu\theaders\tlent\n# a remark\n' >>"$folder/changes.tsv"
    survey --only size --changes "$folder/changes.tsv" || bad "the survey with changes"
    says "the survey with changes" '1 programs: 1 compile, 1 end as they should, 0 are too slow; 1 of them are changed'
    says "the survey with changes" '| size.cu | yes | yes | passes |  | TURNS=7, high=7, 200000000=2, 7, SETTING=3, lent |'
    for change in 'constant wide=1 2' 'constant deep=1 0' 'word printf=puts 1' 'word LENT=4 1' 'word wide=4 5'; do
        set -- $change
        printf 'size.cu\t%s\t%s\n' "$1" "$2" >"$folder/changes.tsv"
        survey --only size --changes "$folder/changes.tsv" || bad "the survey with $change"
        [ "$3" = 1 ] || says "the survey with $change" "| size.cu | no | - | - | $1 ${2%=*} stands in $3 places, wanted one |"
    done
    printf 'size.cu\tcheck\tgone\n' >"$folder/changes.tsv"
    if survey --changes "$folder/changes.tsv"; then bad "a change of no kind"; else complains "a change of no kind" "changes.tsv: wanted a program, one of constant, "; fi
else
    skipped=$((skipped + 1))
    echo "SKIP the survey: no python3"
fi

finish
