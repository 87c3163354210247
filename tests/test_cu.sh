#!/bin/sh
# The emulator by itself: a copy of its folder and of nothing else builds, passes its own tests (common/emulator/tests) and is installed,
# and the command cu works from there, in any folder. Then what Rungs adds: make cu, make survey, what the page says of the survey that
# is committed, and tests/counters_truth.py.
# Not under the sanitizers: the emulator is that of a plain build.
# usage: sh tests/test_cu.sh BUILD
set -u
build=${1:?usage: sh tests/test_cu.sh BUILD}
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0 skipped=0

ok() { passed=$((passed + 1)); }
bad() {
    failed=$((failed + 1))
    echo "FAIL $1"
    sed 's/^/     /' "$folder/stdout" "$folder/stderr" | head -n 40
}
does() { # TITLE COMMAND...
    title=$1
    shift
    if "$@" >"$folder/stdout" 2>"$folder/stderr" </dev/null; then ok; else bad "$title"; fi
}
has() { # TITLE TEXT
    if grep -qF -- "$2" "$folder/stdout" "$folder/stderr"; then ok; else bad "$1: no '$2'"; fi
}

# --- alone
cp -R common/emulator "$folder/alone"
rm -rf "$folder/alone/build"
alone() { env -u MAKEFLAGS -u MAKELEVEL make --no-print-directory -C "$folder/alone" "$@"; }
does "make, alone" alone -j2
does "make install, alone" alone install PREFIX="$folder/some where"
mv "$folder/some where" "$folder/moved"
mkdir "$folder/elsewhere"
cat >"$folder/elsewhere/far.cu" <<'CU'
__global__ void add(int *x, int *y)
{
    atomicAdd(y, 1);
    x[blockIdx.x * 1000000] = *y;
}
int main()
{
    int *x;
    cudaMalloc(&x, sizeof(int));
    add<<<2, 1>>>(x, x);
    return 0;
}
CU
ln -s "$folder/moved/bin/cu" "$folder/elsewhere/linked"
mv "$folder/alone" "$folder/gone" # an installed command does without it
(cd "$folder/elsewhere" && ./linked far.cu) >"$folder/stdout" 2>"$folder/stderr"
if [ $? = 1 ]; then ok; else bad "cu where it was installed"; fi
has "cu where it was installed" "an illegal memory access was encountered: kernel add (far.cu:10), block (1,0,0), thread (0,0,0): writes"
has "cu where it was installed" ", in far.cu:4"
mv "$folder/gone" "$folder/alone"
own() { # TITLE COMMAND...: tests that count themselves
    does "$@"
    set -- $(cat "$folder/stdout" "$folder/stderr" | sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' | tail -n 1)
    passed=$((passed + ${1:-0})) skipped=$((skipped + ${3:-0}))
    grep '^SKIP' "$folder/stdout"
}
own "its own tests, of the installed command" sh "$folder/alone/tests/test_cu.sh" "$folder/moved/bin/cu"
own "its own unit tests" sh "$folder/alone/tests/test_emulator.sh" "$folder/alone/build"

# --- in Rungs
does "make $build/cu" make --no-print-directory -s "$build/cu" BUILD="$build"
echo 'int main(int argc, char **) { return argc != 3; }' >"$folder/arguments.cu"
does "make cu" make --no-print-directory -s cu FILE="$folder/arguments.cu" ARGS="1 2" BUILD="$build"
make --no-print-directory -s cu BUILD="$build" >"$folder/stdout" 2>"$folder/stderr"
has "make cu without a file" "make cu: name a program"
page=common/emulator/CU.md survey=results/cpu2/emulator/survey.md
if [ ! -f $survey ]; then # a handout
    skipped=$((skipped + 1))
elif grep '^[0-9]* programs: ' $survey >"$folder/stdout" && grep -qxF "> $(cat "$folder/stdout")" $page; then
    ok
else
    bad "$page says something else than $survey"
fi
if ! python3 -c '' 2>/dev/null; then
    echo "SKIP make survey and counters_truth.py: no python3"
    echo "$passed passed, $failed failed, $((skipped + 1)) skipped"
    [ $failed = 0 ]
    exit
fi
mkdir "$folder/all"
echo 'int main() { for (volatile int x = 0;; x++); }' >"$folder/all/slow.cu"
does "make survey" make --no-print-directory -s survey DIR="$folder/all" LIMIT=1 BUILD="$build"
has "make survey" '| slow.cu | yes | too slow | - | more than 1 s of a processor |'
for option in LIST=none.tsv CHANGES=none.tsv OUT=/nowhere/table.md; do
    make --no-print-directory -s survey DIR="$folder/all" "$option" BUILD="$build" >"$folder/stdout" 2>"$folder/stderr"
    has "make survey $option" "${option#*=}: "
done

# --- what holds them to a GPU's counters (tests/counters_truth.py), with an ncu that is none
mkdir "$folder/bin"
printf '#!/bin/sh\nfor last; do :; done\ncp /bin/true "$last"\n' >"$folder/bin/nvcc"
cat >"$folder/bin/ncu" <<'NCU'
#!/bin/sh
cat <<'CSV'
==PROF== Connected to process 1
"ID","Kernel Name","l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum","smsp__sass_average_branch_targets_threads_uniform.pct"
"","","sector","%"
"0","void transpose<32>(float *, const float *, int)","65,536","100"
"1","tiled(float *, const float *, int)","4,096","100"
"2","tiled(float *, const float *, int)","4,096","100"
CSV
NCU
chmod +x "$folder/bin/nvcc" "$folder/bin/ncu"
awk '/^    / { text = text substr($0, 5) "\n"; next } { if (index(text, "void transpose(") > 0) printf "%s", text; text = "" }' $page >"$folder/transpose.cu"
does "tests/counters_truth.py" env PATH="$folder/bin:$PATH" python3 -B tests/counters_truth.py --cu "$build/cu" --cases "$folder/transpose.cu"
for line in transpose,'global store sectors,65536,65536,1.0000' tiled,'launches,1,2,0.5000' tiled,'global store sectors,8192,8192,1.0000' \
    padded,'global load requests,2048,0,'; do
    has "tests/counters_truth.py" ",$line"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
