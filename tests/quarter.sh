#!/bin/sh
# One of four quarters of the ladders, as values of LADDERS, for what .ci/run does to one quarter at each commit (tests/README.md).
# --built: also those of other quarters that its pipelines are made of, without which they do not link.
# usage: sh tests/quarter.sh 0|1|2|3|all [--built]
set -eu
cd "$(dirname "$0")/.."
for folder in cuda/*/; do
    ladder=$(basename "$folder")
    needed=
    case $ladder in
    absdiff | blur | boxes | morphology | motion | otsu | threshold) quarter=0 ;;
    barcode | grayscale | labelling | lbp | nearest | texture) quarter=1 ;;
    edges | harris | hough | lines | pclines) quarter=2 ;;
    *) quarter=3 ;;
    esac
    case $ladder in
    grayscale) needed='0 2 3' ;;
    labelling) needed=0 ;;
    blur | boxes | threshold) needed=1 ;;
    esac
    case " $quarter all ${2:+$needed} " in *" $1 "*) echo "cuda/$ladder" ;; esac
done
