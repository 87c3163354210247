#!/bin/sh
# One of two halves of the CUDA ladders, as values of LADDERS, for what .ci/run does to one half at each commit (tests/README.md): in the
# first those that the pipelines motion and barcode stand on, in the second all others and grayscale, with which lines begins.
# No pipeline needs a ladder that is not in its half.
# usage: sh tests/half.sh 0|1|all
set -eu
cd "$(dirname "$0")/.."
first='absdiff barcode blur boxes grayscale kmeans labelling lbp morphology motion nearest otsu texture threshold'
for folder in cuda/*/; do
    ladder=$(basename "$folder")
    case " $first " in
    *" $ladder "*) half=0 ;;
    *) half=1 ;;
    esac
    case $1 in
    all | $half) echo "cuda/$ladder" ;;
    *) [ "$1$ladder" != 1grayscale ] || echo "cuda/$ladder" ;;
    esac
done
