#!/bin/sh
# What a user sees of labellings that would not end, and of pictures that have too many pixels or are not black and white.
# Not under the sanitizers: it needs the mutants that are a few changed words of a version.
# The last line is "N passed, N failed, N skipped". usage: test_labelling.sh BUILD-FOLDER
set -u
. tests/guard.sh
tree=$(cd "$(dirname "$0")/.." && pwd) || exit 2
build=$(cd "$1" && pwd) || exit 2
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 2
passed=0 failed=0 skipped=0
ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); echo "FAIL $1"; }

# fails TITLE PATTERN COMMAND...: exit status 2 within a minute, one line on stderr that matches, nothing in out
fails() {
    title=$1 pattern=$2
    shift 2
    rm -rf out && mkdir out
    guarded 60 "$@" >stdout 2>stderr
    code=$?
    if [ $code != 2 ]; then bad "$title: exit $code instead of 2: $(head -n 3 stderr)"
    elif [ "$(wc -l <stderr)" != 1 ]; then bad "$title: not one line on stderr: $(cat stderr)"
    elif ! grep -Eq -- "$pattern" stderr; then bad "$title: '$(cat stderr)' does not match '$pattern'"
    elif [ -n "$(ls -A out)" ]; then bad "$title: left $(ls -A out) behind"
    else ok; fi
}

# A snake of 21x5 pixels. Of a version that goes on until a pass changes nothing each has a mutant that never sees it; the list
# is of the files, so that a new version of the kind is missed here.
{ printf 'P5\n21 5\n255\n'
  printf '\007%.0s' $(seq 21); printf '\0%.0s' $(seq 20); printf '\007'
  printf '\007%.0s' $(seq 21); printf '\007'; printf '\0%.0s' $(seq 20); printf '\007%.0s' $(seq 21); } >snake.pgm
if [ -x "$build/rungs-mutants" ] && [ -d "$build/patched" ]; then
    for version in $(cd "$tree" && grep -l 'still change after ' cpu/labelling/*.c cpu/labelling/*/*.c cuda/labelling/*.cu cuda/labelling/*/*.cu); do
        name=$(awk -F'"' -v of="$version" '/^name = / { name = $2 } /^of = / { if ($2 == of && name ~ /^never_quiet/) print name }' \
            "$tree/tests/mutants/mutants.toml")
        if [ -z "$name" ]; then
            bad "$version has a limit of passes and no mutant that never ends"
        elif [ "${version##*.}" = cu ] && [ ! -f "$build/patched/tests/mutants/labelling/$name.cu" ]; then
            skipped=$((skipped + 1))
            echo "SKIP $version: $name is not in this build"
        else
            for connectivity in 4 8; do
                fails "$version that never ends, connectivity $connectivity" 'still change after ([0-9]+ passes|as many scans as labels)$' \
                    "$build/rungs-mutants" run "labelling:mutant/$name" snake.pgm -o out/labels.npy -p "connectivity=$connectivity"
            done
        fi
    done
else
    skipped=$((skipped + 1))
    echo "SKIP versions that never end: a handout of a lab has no mutants"
fi

# --- more pixels than an i32 has labels for; the file is sparse and refused by its header
printf 'P5\n65535 65535\n255\n' >huge.pgm
if truncate -s $((18 + 65535 * 65535)) huge.pgm 2>/dev/null; then
    fails "65535x65535 as a file" 'huge.pgm: .*larger than [12] GiB$' "$build/rungs" run labelling huge.pgm -o out/labels.npy
else
    skipped=$((skipped + 1))
    echo "SKIP 65535x65535 as a file: this file system has no sparse files of 4 GiB"
fi
fails "65535x65535 in a bench" 'at most 2\^31-1 pixels' "$build/rungs" bench labelling --size 65535x65535 --json out/a.json

# --- foreground is what is not 0: a gray picture gives the labels of the mask that has 255 there, in every version. No pixels meet at
# corners alone, so that the versions that know one connectivity give the same labels as the others.
printf 'P5\n4 3\n255\n\001\000\177\200\000\000\000\201\376\002\000\377' >gray.pgm
printf 'P5\n4 3\n255\n\377\000\377\377\000\000\000\377\377\377\000\377' >mask.pgm
printf 'P5\n4 3\n65535\n%024d' 0 >deep.pgm
"$build/rungs" run labelling:cpu/serial mask.pgm -o mask.npy >/dev/null || bad "a mask"
versions=$("$build/rungs" list labelling --json | tr -d '\n' | grep -o '"id": "c[^"]*"[^{}]*"runs_here": true' | sed 's/"id": "\([^"]*\)".*/\1/')
for version in $versions; do
    [ "$version" = cpu/copy ] && continue # the floor, which finds nothing
    for connectivity in 8 4; do
        "$build/rungs" run "labelling:$version" gray.pgm -o gray.npy -p connectivity=$connectivity >stdout 2>stderr && break
        grep -q 'connectivity [48] only$' stderr || break
    done
    if [ ! -s stderr ] && cmp -s gray.npy mask.npy; then ok; else bad "$version takes a gray picture for another mask: $(cat stderr)"; fi
    rm -f gray.npy
done
fails "16 bits" 'labelling takes u8 samples, not u16$' "$build/rungs" run labelling deep.pgm -o out/labels.npy

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
