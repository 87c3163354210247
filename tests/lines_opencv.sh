#!/bin/sh
# Lines of hough and of OpenCV's HoughLines on every photograph of a folder, edges by Sobel: the tables must be equal byte for
# byte, so also in their order and in the votes of each. A setting is RHO:THETA_STEPS:THRESHOLD; all twelve of rho 1 and 2, steps of
# 1 and 0.5 degrees, thresholds 60, 90 and 150 where none is given.
# usage: lines_opencv.sh BUILD-FOLDER PICTURES [SETTING...]
# Exit status 1 where one differs. The last line is "N passed, N failed, 0 skipped".
build=$1 pictures=$2
shift 2
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0
mkdir "$folder/rgb"
for picture in "$pictures"/*.jpg "$pictures"/*.png; do
    [ -e "$picture" ] && ln -s "$(realpath "$picture")" "$folder/rgb/"
done
[ $# -gt 0 ] || for rho in 1 2; do for steps in 180 360; do for threshold in 60 90 150; do
    set -- "$@" $rho:$steps:$threshold
done; done; done
for setting; do
    rho=${setting%%:*} threshold=${setting##*:} steps=${setting#*:}
    steps=${steps%:*}
    for version in cpu peer/opencv; do
        rm -rf "${folder:?}/$(basename $version)"
        "$build/rungs" run "hough:$([ $version = cpu ] && echo cpu/bins || echo $version)" "$folder/rgb" \
            -o "$folder/$(basename $version)" --format csv -p edges=sobel -p rho="$rho" -p theta_steps="$steps" \
            -p threshold="$threshold" -p maximum=1048576 >"$folder/said" 2>&1 || cat "$folder/said"
    done
    count=$(find "$folder/cpu" -name '*.csv' | wc -l)
    lines=$(cat "$folder"/cpu/*.csv | grep -vc '^rho')
    if [ "$count" -gt 0 ] && diff -rq "$folder/cpu" "$folder/opencv" >"$folder/said"; then
        passed=$((passed + 1))
        echo "rho $rho, $steps rows, threshold $threshold: $lines lines in $count photographs, all equal"
    else
        failed=$((failed + 1))
        echo "FAIL rho $rho, $steps rows, threshold $threshold: $(wc -l <"$folder/said") of $count photographs differ"
    fi
done
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
