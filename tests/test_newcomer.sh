#!/bin/sh
# What a new algorithm needs outside its own folders: nothing. In a copy of the tree six ladders are taken out, one of each kind
# (corners, detections with a model, lines from an accumulator, eigenvectors, three factor matrices, labels and centroids), and the
# rest builds and works as if they had never been there; then one that has all of it is put in, tests/newcomer: a model and its
# training, a table in any order, a picture, a matrix with a tolerance, inputs and a hard case of its own, a cost that the reference
# counts, state on the CPU, a peer in another process, a study and four mutants.
# Not under the sanitizers: it builds for itself, of objects that are there.
# usage: sh tests/test_newcomer.sh BUILD-FOLDER
set -u
cd "$(dirname "$0")/.." || exit 2
. tests/guard.sh
root=$PWD
build=$(cd "$1" && pwd) || exit 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0

check() { # TITLE STATUS PATTERN COMMAND...: its exit status, and in what it says a line of that pattern
    title=$1 status=$2 pattern=$3
    shift 3
    guarded 300 "$@" >"$work/said" 2>&1 </dev/null
    code=$?
    if [ $code = "$status" ] && grep -q -- "$pattern" "$work/said"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $title: exit status $code, or no '$pattern' in:"
        tail -n 12 "$work/said" | sed 's/^/     /'
    fi
}
same() { # TITLE A B
    if [ "$2" = "$3" ]; then passed=$((passed + 1)); else failed=$((failed + 1)) && echo "FAIL $1: '$2', not '$3'"; fi
}

# Links to all sources, and what is compiled of the CPU's side and of the harness.
tree=$work/tree
mkdir -p "$tree/build" "$tree/results"
cp -rs "$root/common" "$root/cpu" "$root/peers" "$root/images" "$root/assignments" "$root/tests" "$root/studies" "$root/Makefile" "$tree"
cp -r docs README.md results/schema.json "$tree"
mv "$tree/schema.json" "$tree/results"
mkdir -p "$tree/cuda"
(cd "$build" && find . \( -name '*.o' -o -name '*.d' \) ! -path './cuda/*' ! -path './tests/*' ! -path './unit-mutants/*' \
    ! -path './workers/*' ! -path './patched/*' -print; ls settings deps*.mk) | (cd "$build" && tar -cf - -T -) | tar -xf - -C "$tree/build"
cd "$tree" || exit 2
# A side that is not there leaves the changed words of mutants.toml out.
printf '#!/bin/sh\nexec make -s --no-print-directory CUDA=emulated SIDES="cpu none" BUILD=build "$@"\n' >builds
chmod +x builds
ladders() { "$1" list | sed -n 's/^\([a-z]*\)  *[0-9][0-9]* cpu .*/\1/p'; }

before=$(ladders "$build/rungs")
# What stands on them goes with them: pclines on hough, lines on both, components on eigen.
gone="harris detect hough eigen ntf kmeans pclines lines pca"
for ladder in $gone; do
    rm -r "cpu/$ladder" "common/algo/$ladder.c" "common/algo/$ladder.h" "docs/$ladder.md"
    rm -rf "common/algo/$ladder" "peers/$ladder" "tests/mutants/$ladder"
    rm -f common/train/"$ladder"_*
    rm -rf build/cpu/"$ladder" build/common/algo/"$ladder"* build/common/train/"$ladder"_* build/peers/"$ladder"
done
check "without six kinds of ladders" 0 '' ./builds build/rungs
same "the others are there" "$(ladders build/rungs | tr '\n' ' ')" "$(echo "$before" | grep -vwE "$(echo "$gone" | tr ' ' '|')" | tr '\n' ' ')"
check "one that is gone" 2 "no algorithm 'harris'" build/rungs list harris
check "one that stayed" 0 '^1 passed, 0 failed' build/rungs check threshold:cpu/omp --largest 1500

# --- one comes
# Of the sources that are not the newcomer's.
sources() { find . ! -path './build/*' ! -name 'wells.*' ! -path '*/wells/*' \( -name '*.[ch]' -o -name Makefile -o -name '*.mk' -o -name '*.sh' \) -exec cksum {} + | sort; }
without=$(sources)
(cd "$root/tests/newcomer" && tar -cf - common cpu peers tests) | tar -xf -
same "files of its own alone" "$(sources)" "$without"
check "it builds, with its mutants" 0 '' ./builds build/rungs build/rungs-mutants MUTANTS="$(echo tests/mutants/wells/*.c)"
rungs=build/rungs
check "it is listed" 0 '^wells  *[1-9] cpu .* dark points of a picture' "$rungs" list
check "its rungs" 0 '^  cpu/kept ' "$rungs" list wells
check "its peer" 0 '^  peer/plain_numpy' "$rungs" list wells
check "its training" 0 'rungs train wells FILE' "$rungs" list wells
check "all its versions are right" 0 ' 0 failed, ' "$rungs" check wells
check "its hard case is tried" 0 'PASS  cpu/kept  2 cases' "$rungs" check wells:cpu/kept --case deep
check "a model" 0 'trained with 3 inputs' "$rungs" train wells Makefile README.md images/README.md -o three.well
check "by it" 0 '' "$rungs" run wells:kept images/shapes_noisy.png -o found.csv -o mask=mask.png -o moments=moments.npy -p model=three.well
check "a table with its columns" 0 '^x,y,depth' cat found.csv
printf 'WELL' >bad.well
check "a damaged one" 2 'bad.well: damaged' "$rungs" run wells images/shapes_noisy.png -o out.csv -p model=bad.well
check "a target of its own" 0 '^cpu/kept .*×\|^cpu/kept ' ./builds bench-wells SIZE=96x64 TIME=0.02 INPUT=images/zone_plate.png VERSIONS=cpu OUT=
check "what the reference found is the cost" 0 '' "$rungs" bench wells --input images/shapes_noisy.png --versions cpu --time 0.02 --json bench.json
"$rungs" run wells images/shapes_noisy.png -o mask=mask.pgm >/dev/null
same "what the reference found is the cost" "$(sed -n 's/.*"operations": \([0-9]*\).*/\1/p' bench.json | head -n 1)" \
    "$(tr -dc '\377' <mask.pgm | wc -c)"
if command -v python3 >/dev/null; then
    # A line of docs/README.md says which table it is in.
    for ladder in $gone; do sed -i "/^<!-- ladders:/s/ $ladder\>//" docs/README.md; done
    sed -i '/^<!-- ladders:/s/ blur\>/ blur wells/' docs/README.md
    check "its page" 0 '' python3 -B common/report/pages.py --root .
    check "its page" 0 '^# wells$' cat docs/wells.md
    check "its line in the table of ladders" 0 '^| \[wells\](wells.md) ' cat docs/README.md
    check "make measure measures it" 0 '^1 measured, 0 not' env RUNGS_COMMIT=1 python3 -B common/report/measure.py --rungs "$rungs" \
        --versions cpu --seconds 0.01 here wells
    if command -v gnuplot >/dev/null && python3 -c 'import tomllib' 2>/dev/null; then
        check "its study" 0 '' python3 -B common/study/study.py run wells --rungs "$rungs" --dir images --work build/work --out build/out
        check "its study" 0 'The longest takes [0-9]' cat build/out/study.md
    else
        skipped=$((skipped + 2))
        echo "SKIP its study: no gnuplot or a Python without tomllib"
    fi
else
    skipped=$((skipped + 6))
    echo "SKIP its page, measure, study: no python3"
fi

# --- its mutants, as tests/test_mutants.sh tries all
check "mutants fail as they should" 0 '^4 passed, 0 failed, 0 skipped' sh tests/test_mutants.sh build/rungs-mutants shallow grown_list unsquared lost_row
check "what the hard case alone finds" 0 'PASS  mutant/shallow' build/rungs-mutants check wells:mutant/shallow --case random
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
