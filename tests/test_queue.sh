#!/bin/sh
# That a version with many pictures under way gives each picture of a folder and each frame of a video its own result, whatever
# the sizes, and that a device that is lost or has no memory loses no picture silently: the others do its pictures, or each that
# is missing is named. On three emulated devices (RUNGS_DEVICES), with each queue: streams_queue and devices_queue behind
# cuda/v2.3 of harris (tests/mutants/mutants.toml, which the sanitizers' build has not), recorded_queue, which cuda/v2.4 has.
# usage: sh tests/test_queue.sh BUILD-FOLDER
set -u
rungs=$(cd "$1" && pwd)/rungs
streams=mutant/streams devices=mutant/devices
if "$rungs-mutants" list harris 2>/dev/null | grep -q "$devices "; then rungs=$rungs-mutants
else streams=cuda/v2.4 devices=cuda/v2.4; fi
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
passed=0 failed=0 skipped=0

ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); echo "FAIL $*"; }

if ! "$rungs" list harris | grep 'cuda/v2.4 ' | grep -qv unavailable; then
    echo "SKIP many pictures: no cuda/v2.4 of harris here"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi

# More pictures than are under way (12), of several sizes, a single pixel among them.
mkdir in
for i in 01 02 03 04 05 06 07 08 09 10 11 12 13 14; do
    awk -v i="$i" 'BEGIN {
        w = i == 5 ? 1 : 40 + i % 3 * 9; h = i == 5 ? 1 : 30 + i % 2 * 11
        printf "P2\n%d %d\n255\n", w, h
        for (y = 0; y < h; y++)
            for (x = 0; x < w; x++)
                print (x + i) % 11 < 5 && (y * 3 + i) % 13 < 6 ? 200 : (x * 7 + y * i) % 50
    }' >in/p$i.pgm
done
pictures=14
"$rungs" run harris:cpu/serial in -o corners=right --format csv -p outputs=corners >stdout 2>stderr || bad "cpu/serial: $(head -n 2 stderr)"

# runs TITLE STATUS VERSION [NAME=VALUE...]: results to the folder out
runs() {
    title=$1 wanted=$2 version=$3
    shift 3
    rm -rf out
    env RUNGS_DEVICES=3 "$@" "$rungs" run "harris:$version" in -o corners=out --format csv -p outputs=corners >stdout 2>stderr
    code=$?
    if [ $code = "$wanted" ]; then ok; else bad "$title: exit $code instead of $wanted: $(head -n 2 stderr)"; fi
}
# Every file that is there is right; so many are, and for each that is not one line names the picture.
complete() { # COUNT
    count=0
    for file in out/*.csv; do
        [ -e "$file" ] || continue
        count=$((count + 1))
        cmp -s "$file" "right/${file#out/}" || bad "$title: $file is not cpu/serial's"
    done
    named=$(grep -c '^rungs: in/p.*\.pgm: ' stderr)
    if [ $((count + named)) = $pictures ] && { [ "$1" = any ] || [ "$count" = "$1" ]; }; then ok
    else bad "$title: $count results and $named pictures named, of $pictures: $(head -n 2 stderr)"; fi
}
silent() { if [ -s stderr ]; then bad "$title: says $(head -n 2 stderr)"; else ok; fi; }

for version in $streams $devices cuda/v2.4; do
    runs "$version" 0 $version; complete $pictures; silent
    runs "$version, streams late" 0 $version RUNGS_EMULATOR_LATE=1; complete $pictures; silent
    runs "$version, one device" 0 $version RUNGS_DEVICES=1; complete $pictures; silent
done

# Two devices of three are lost with their first launch; which of them gets a picture at all, nobody knows.
noted=0
for try in 1 2 3 4 5 6 7 8; do
    runs "two lost" 0 $devices "RUNGS_EMULATOR_LOSE=0:1 1:1"
    complete $pictures
    if grep -q 'rungs: device [01]: .*is lost; its pictures went to other devices$' stderr; then noted=1; break; fi
    silent
done
if [ $noted = 1 ]; then ok; else bad "two lost: in $try runs no device that is lost had a picture"; fi
runs "all lost at once" 1 $devices "RUNGS_EMULATOR_LOSE=0:1 1:1 2:1"; complete 0
if grep -q 'device [012] is lost$' stderr; then ok; else bad "all lost: says $(head -n 2 stderr)"; fi
runs "all lost midway" 1 $devices "RUNGS_EMULATOR_LOSE=0:9 1:9 2:9"; complete any
runs "the only one lost" 1 $streams RUNGS_DEVICES=1 RUNGS_EMULATOR_LOSE=0:9; complete any

# Memory: one device has enough; then no device has any; then no device has enough for the largest picture.
runs "memory on one device" 0 $devices RUNGS_EMULATOR_MEMORY=900,900,9000000; complete $pictures; silent
runs "memory on none" 1 $devices RUNGS_EMULATOR_MEMORY=900; complete 0
if [ "$(grep -c 'memory' stderr)" = $pictures ]; then ok; else bad "memory on none: says $(head -n 2 stderr)"; fi

# A video: 1 + 9 frames of 40x30, rows with their frame's number.
awk 'BEGIN {
    printf "YUV4MPEG2 W40 H30 F25:1 Ip A1:1 C420jpeg\n"
    for (f = 0; f < 10; f++) {
        printf "FRAME\n"
        for (i = 0; i < 1200; i++) printf "%s", (i % 40 + f) % 9 < 4 && int(i / 40) % 9 < 4 ? "z" : "2"
        for (i = 0; i < 600; i++) printf "b"
    }
}' >video.y4m
"$rungs" run harris:cpu/serial video.y4m -o corners=right.csv -p outputs=corners >stdout 2>stderr || bad "video, cpu/serial: $(head -n 2 stderr)"
for version in $streams $devices cuda/v2.4; do
    RUNGS_DEVICES=3 RUNGS_EMULATOR_LATE=1 "$rungs" run harris:$version video.y4m -o corners=out.csv -p outputs=corners >stdout 2>stderr
    if cmp -s out.csv right.csv && [ ! -s stderr ]; then ok; else bad "video, $version: $(head -n 2 stderr)"; fi
done
# Any version with --in-flight; how many is refused when it is too many.
for many in 1 3 16; do
    RUNGS_EMULATOR_LATE=1 "$rungs" run harris:cuda/v1.1 video.y4m -o corners=out.csv -p outputs=corners --in-flight $many >stdout 2>stderr
    if cmp -s out.csv right.csv && [ ! -s stderr ]; then ok; else bad "video, cuda/v1.1 with $many in flight: $(head -n 2 stderr)"; fi
done
# As many as that are under way: device memory for two pictures is not enough for sixteen.
for many in 1:0 2:0 16:2; do
    RUNGS_EMULATOR_MEMORY=200000 "$rungs" run harris:cuda/v1.1 video.y4m -o corners=room.csv -p outputs=corners --in-flight ${many%:*} >stdout 2>stderr
    code=$?
    if [ $code = ${many#*:} ] && { [ $code = 0 ] || grep -q 'out of memory' stderr; }; then ok; else bad "memory for ${many%:*} in flight: exit $code, $(head -n 2 stderr)"; fi
done
"$rungs" run harris:cuda/v1.1 video.y4m -o corners=many.csv -p outputs=corners --in-flight 17 >stdout 2>stderr
if [ $? = 2 ] && grep -q -- '--in-flight' stderr && [ "$(wc -l <stderr)" = 1 ] && [ ! -e many.csv ]; then ok; else bad "17 in flight: $(head -n 2 stderr)"; fi
RUNGS_DEVICES=3 RUNGS_EMULATOR_LOSE="0:6 1:6 2:6" "$rungs" run harris:$devices video.y4m -o corners=lost.csv -p outputs=corners >stdout 2>stderr
code=$?
lines=0
[ ! -e lost.csv ] || lines=$(wc -l <lost.csv)
if [ $code = 2 ] && [ "$(wc -l <stderr)" = 1 ] && grep -q 'is lost' stderr && { [ "$lines" = 0 ] || head -n "$lines" right.csv | cmp -s - lost.csv; }; then ok
else bad "video, all lost: exit $code, $lines lines, $(head -n 2 stderr)"; fi
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
