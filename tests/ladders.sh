#!/bin/sh
# Some of the ladders, as values of LADDERS: what a landing and a release do to a part of them at a time (tests/README.md).
#   turn N     of a landing: COUNT or six, those that the last day's commits touch first (or those since BASE), from another one on for
#              each N of 0 to 15
#   quarter N  of a release, N of 0 to 3; all four are all ladders, pipelines with their steps
#   --built    also the ladders whose rungs those stand on, without which they do not link
# usage: [COUNT=4] sh tests/ladders.sh turn|quarter N [--built]
set -eu
cd "$(dirname "$0")/.."
case ${1:-} in
turn)
    base=${BASE:-$(git rev-list -1 --before="$(($(git show -s --format=%ct HEAD 2>/dev/null || echo 86400) - 86400))" HEAD 2>/dev/null || true)}
    changed=$([ -z "$base" ] || git diff --name-only "$base" HEAD 2>/dev/null |
        sed -nE 's,^(cpu|cuda|peers|tests/mutants)/([a-z]+)/.*,\2,p; s,^common/algo/([a-z]+)[./].*,\1,p' | sort -u | tr '\n' ' ')
    chosen=$(ls cuda | awk -v turn="$2" -v most="${COUNT:-6}" -v changed="$changed" '
        { name[NR - 1] = $1 }
        END {
            n = split(changed, list, " ")
            for (i = 1; i <= n; i++) is_changed[list[i]] = 1
            for (first = 1; first >= 0; first--)
                for (i = 0; i < NR; i++) {
                    one = name[(i + int(turn * NR / 16)) % NR]
                    if ((one in is_changed) == first && ++count <= most) print one
                }
        }')
    ;;
quarter)
    chosen=$(for folder in cuda/*/; do
        ladder=$(basename "$folder")
        case $ladder in
        absdiff | blur | boxes | morphology | motion | otsu | threshold) quarter=0 ;;
        barcode | grayscale | labelling | lbp | nearest | texture) quarter=1 ;;
        edges | harris | hough | lines | pclines) quarter=2 ;;
        *) quarter=3 ;;
        esac
        [ $quarter != "$2" ] || echo "$ladder"
    done)
    ;;
*) echo 'usage: [COUNT=4] ladders.sh turn|quarter N [--built]' >&2; exit 2 ;;
esac
[ "${3:-}" != --built ] || chosen=$(make -s --no-print-directory ladders-with-steps ALGOS="$(echo $chosen)")
for ladder in $chosen; do
    [ ! -d "cuda/$ladder" ] || echo "cuda/$ladder"
done
