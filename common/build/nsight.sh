#!/bin/sh
# Runs one of NVIDIA's profilers on one version: make nsys-ALGO, make ncu-ALGO.
# usage: nsight.sh nsys|ncu RESULT RUNGS ARGUMENT...     RESULT: the report's path without its extension
set -eu
tool=$1 result=$2
shift 2

path=$(command -v "$tool" || ls /usr/local/cuda/bin/"$tool" /opt/nvidia/nsight-compute/*/"$tool" \
    /opt/nvidia/nsight-systems/*/bin/"$tool" 2>/dev/null | tail -n 1)
if [ -z "$path" ]; then
    case $tool in nsys) name="Nsight Systems" ;; *) name="Nsight Compute" ;; esac
    echo "make: $tool is not installed ($name, with the CUDA Toolkit or from developer.nvidia.com); 'make profile-...' needs neither" >&2
    exit 2
fi
mkdir -p "$(dirname "$result")"
case $tool in
nsys) # --stats prints its tables at the end; ranges are named by NVTX
    set -- "$path" profile --trace=cuda,nvtx,osrt --stats=true --force-overwrite=true --output="$result" "$@" --bare
    ;;
ncu) # every section, source lines too; the card's clocks stay as they are
    set -- "$path" --set full --import-source yes --nvtx --target-processes all --clock-control none --launch-count 200 \
        --force-overwrite --export "$result" "$@" --bare --calls 1
    ;;
esac
echo "$*"
"$@" || {
    echo "make: $tool did not finish (exit status $?); see its message above" >&2
    exit 2
}
if [ "$tool" = ncu ]; then
    "$path" --import "$result.ncu-rep" --page details
fi
