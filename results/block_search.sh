#!/bin/sh
# Times one version of an algorithm at a list of block shapes through `rungs bench`, one CSV row each on stdout.
# usage: sh results/block_search.sh RUNGS ALGO VERSION SIZE WIDTHxHEIGHT...
# example: sh results/block_search.sh build/rungs blur cuda/v1.4 1920x1080 32x8 32x16 32x32 64x16
set -eu
rungs=$1 algorithm=$2 version=$3 size=$4
shift 4
row=$(mktemp)
trap 'rm -f "$row"' EXIT
echo "block_width,block_height,kernel_median_us,kernel_q1_us,kernel_q3_us,gpu,date,commit,size"
for shape in "$@"; do
    "$rungs" bench "$algorithm" --versions "$version" --size "$size" --time 0.2 -p "block_width=${shape%x*}" \
        -p "block_height=${shape#*x}" --csv "$row" >/dev/null || continue
    # The input's description holds a comma inside quotes; no other field does.
    sed 's/"[^"]*"//' "$row" | awk -F, -v shape="$shape" -v size="$size" -v version="$version" '
        NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
        $column["version"] == version {
            split(shape, side, "x")
            printf "%d,%d,%.3f,%.3f,%.3f,%s,%s,%s,%s\n", side[1], side[2], 1e6 * $column["kernel_median"],
                1e6 * $column["kernel_q1"], 1e6 * $column["kernel_q3"], $column["gpu"], $column["date"],
                $column["commit"], size
        }'
done
