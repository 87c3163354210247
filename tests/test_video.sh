#!/bin/sh
# rungs run on videos: what comes out, bad input in exactly one line with exit status 2, and Ctrl-C. y4m and images are made
# here; what needs ffmpeg makes its videos with it and is skipped without. usage: sh tests/test_video.sh BUILD-FOLDER
set -u
. tests/guard.sh
rungs=$(cd "$1" && pwd)/rungs
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
passed=0 failed=0 skipped=0

ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); echo "FAIL $*"; }
skip() { skipped=$((skipped + 1)); echo "SKIP $*"; }

# succeeds TITLE COMMAND...: exit 0, nothing on stderr
succeeds() {
    title=$1
    shift
    "$@" >stdout 2>stderr
    code=$?
    if [ $code = 0 ] && [ ! -s stderr ]; then ok; else bad "$title: exit $code: $(head -n 3 stderr)"; fi
}

# fails TITLE STATUS REASON-PATTERN COMMAND...: that exit status, one line on stderr that matches
fails() {
    title=$1 wanted=$2 pattern=$3
    shift 3
    "$@" >stdout 2>stderr
    code=$?
    if [ $code != "$wanted" ]; then
        bad "$title: exit $code instead of $wanted: $(head -n 3 stderr)"
    elif [ "$(wc -l <stderr)" != 1 ]; then
        bad "$title: not one line on stderr: $(cat stderr)"
    elif ! grep -Eq -- "$pattern" stderr; then
        bad "$title: '$(cat stderr)' does not match '$pattern'"
    else
        ok
    fi
}

# refuses TITLE REASON-PATTERN ARGUMENTS OF rungs run...: with nothing written to the folder out
refuses() {
    title=$1 pattern=$2
    shift 2
    rm -rf out && mkdir out
    fails "$title" 2 "$pattern" "$rungs" run "$@"
    [ -z "$(ls -A out)" ] || bad "$title: left $(ls -A out) behind"
}

same() { if cmp -s "$2" "$3"; then ok; else bad "$1: $2 and $3 differ"; fi; }
is() { if [ "$2" = "$3" ]; then ok; else bad "$1: '$2' instead of '$3'"; fi; }
has() { if grep -Eq -- "$2" "$3"; then ok; else bad "$1: no '$2' in: $(head -n 5 "$3")"; fi; }
no_leftovers() {
    left=$(find . -name '.rungs-*')
    is "$1: no temporary file" "$left" ""
}
frames_in() { ffprobe -v error -count_frames -show_entries stream=nb_read_frames -of csv=p=0 "$1" 2>&1; }

# A gray video in which a bright square moves: 65 ('A') and 122 ('z') are text, so awk can write it anywhere.
moving_square() { # WIDTH HEIGHT FRAMES
    awk -v w="$1" -v h="$2" -v n="$3" 'BEGIN {
        print "YUV4MPEG2 W" w " H" h " F10:1 Cmono"
        for (x = 0; x < w; x++) dark = dark "A"
        for (f = 0; f < n; f++) {
            row = dark
            if (f > 0)
                row = substr(substr(dark, 1, 3 * f) "zzzzzzzzzzzzzzzzzzzzzzzz" dark, 1, w)
            print "FRAME"
            for (y = 0; y < h; y++) printf "%s", (y > 19 && y < 44) ? row : dark
        }
    }'
}

moving_square 96 72 12 >square.y4m

# --- what comes out, without ffmpeg
succeeds "boxes of a y4m" "$rungs" run motion square.y4m -o boxes.csv
has "summary" '^motion:cpu/[a-z_]+  square.y4m 96x72 -> boxes.csv$' stdout
has "summary" '^12 frames, 11 boxes; [0-9.]+ s, [0-9.]+ frames per second with decoding' stdout
is "header line" "$(head -n 1 boxes.csv)" "frame,id,bb_left,bb_top,bb_width,bb_height,conf,x,y,z"
is "a box in each frame but the first" "$(tail -n +2 boxes.csv | cut -d , -f 1 | tr '\n' ' ')" "2 3 4 5 6 7 8 9 10 11 12 "
is "of detections" "$(tail -n +2 boxes.csv | cut -d , -f 2,7- | sort -u)" "-1,1,-1,-1,-1"
succeeds "the definition" "$rungs" run motion:cpu/serial square.y4m -o serial.csv
same "versions agree" boxes.csv serial.csv
succeeds "standard input" sh -c "cat square.y4m | '$rungs' run motion - -o stdin.csv"
same "file and standard input" boxes.csv stdin.csv
succeeds "a folder of images" "$rungs" run motion square.y4m -o frames --boxes with.csv
same "with images and without" boxes.csv with.csv
is "images" "$(ls frames | tr '\n' ' ' | cut -c 1-37)$(ls frames | wc -l)" "frame_000001.png frame_000002.png fra12"
succeeds "a pattern of images" "$rungs" run motion square.y4m -o f_%03d.ppm -p background=first
# The upper left pixel of frame 5's box is of the outline's colour: 13 bytes of header, 3 a pixel.
line=$(grep '^5,' boxes.csv)
x=$(echo "$line" | cut -d , -f 3) y=$(echo "$line" | cut -d , -f 4)
is "outline" "$(tail -c +$((14 + 3 * (96 * y + x))) f_005.ppm | head -c 3 | od -An -tu1 | tr -s ' ')" " 255 32 32"
succeeds "images in" "$rungs" run motion frames -o again.csv
succeeds "pattern in" "$rungs" run motion 'frames/frame_%06d.png' -o again2.csv
succeeds "glob in" "$rungs" run motion 'frames/*.png' -o again3.csv
same "folder and pattern" again.csv again2.csv
same "folder and glob" again.csv again3.csv
succeeds "two pictures" "$rungs" run motion f_001.ppm f_006.ppm -o boxes.npy
succeeds "a still background" "$rungs" run motion square.y4m -o still.csv -p background=f_001.ppm
same "the first frame as a file" boxes.csv still.csv
succeeds "another background" "$rungs" run motion square.y4m -o still.csv -p background=frames/frame_000008.png
is "another background" "$(grep -c '^1,' still.csv)" 1
succeeds "running mean" "$rungs" run motion square.y4m -o mean.csv -p background=mean
moving_square 1 1 3 >one.y4m
succeeds "1x1" "$rungs" run motion one.y4m -o one.csv
is "1x1" "$(cat one.csv)" "frame,id,bb_left,bb_top,bb_width,bb_height,conf,x,y,z"
# Each version sees the same first frame to the end, also one that keeps no copy of its own.
for version in omp simd bit_masks per_frame cuda/v1.0 cuda/v1.1 cuda/v1.2 cuda/v1.3 cuda/v2.0 cuda/v2.1 opencv; do
    rm -f version.csv
    if "$rungs" run "motion:$version" square.y4m -o version.csv >stdout 2>stderr; then
        same "boxes of $version" boxes.csv version.csv
    elif grep -q "OpenCV was not found" stderr || ! "$rungs" list motion | grep -Eq "^ *([a-z]+/)?$version "; then
        skip "boxes of $version: $(cat stderr)"
    else
        bad "boxes of $version: $(cat stderr)"
    fi
done
if "$rungs" list motion | grep -q 'cuda/v1.1'; then
    succeeds "emulated" "$rungs" run motion:cuda/v1.1 one.y4m -o one.csv
    if grep -q '(emulated)' stdout && grep -q 'frames per second' stdout; then bad "emulated: shown as a speed"; else ok; fi
else
    skip "emulated: not built"
fi
rm -f one.csv

# --- bad use and bad input
mkdir -p empty mixed
refuses "missing" 'nothing.avi: No such file' motion nothing.avi -o out/a.csv
refuses "empty folder" 'empty: no images in this folder' motion empty -o out/a.csv
refuses "no match" 'no file fits this pattern' motion 'q_%d.png' -o out/a.csv
refuses "still image" 'frame_000001.png: a still image, not a video; name a folder' motion frames/frame_000001.png -o out/a.csv
refuses "three inputs" 'motion takes a video, or two pictures' motion a b c -o out/a.csv
refuses "no input" 'motion takes a video, or two pictures' motion -o out/a.csv
refuses "no output" 'run needs -o OUT' motion square.y4m
refuses "odd output" 'out/a.npy: what comes of a video goes to .mp4' motion square.y4m -o out/a.npy
refuses "output nowhere" 'cannot write in folder' motion square.y4m -o out/x/a.csv
refuses "full folder" 'frames: the folder is not empty' motion square.y4m -o frames
refuses "boxes twice" 'leave --boxes out' motion square.y4m -o out/a.csv --boxes out/b.csv
refuses "boxes elsewhere" '--boxes must be .csv' motion square.y4m -o out/f_%d.png --boxes out/b.txt
refuses "boxes of a picture" '--boxes is for a video' blur f_001.ppm -o out/a.png --boxes out/b.csv
refuses "boxes of two pictures" '--boxes is for a video' motion f_001.ppm f_002.ppm -o out/a.npy --boxes out/b.csv
for fps in 0 -1 nan 1e9 x 5x ''; do
    refuses "fps '$fps'" "--fps: '$fps' is not a number" motion square.y4m -o out/f_%d.png --fps "$fps"
done
refuses "nothing on standard input" 'standard input: empty' motion - -o out/a.csv </dev/null
refuses "no y4m" 'standard input: not y4m' motion - -o out/a.csv <f_001.ppm
printf 'YUV4MPEG2 W4 H4 C420p10\n' >deep.y4m
refuses "10 bits" 'C420p10 is not read' motion deep.y4m -o out/a.csv
printf 'YUV4MPEG2 W4 H4\n' >none.y4m
refuses "no frames" 'none.y4m: a y4m header and no frames' motion none.y4m -o out/f_%d.png --boxes out/a.csv
refuses "no such background" 'no.png: No such file' motion square.y4m -o out/a.csv -p background=no.png
printf 'YUV4MPEG2 W65535 H5400 Cmono\nFRAME\nxx' >huge.y4m
refuses "huge" 'huge.y4m: (cut short|no memory)' motion huge.y4m -o out/a.csv
moving_square 20 20 2 >small.y4m
refuses "a background twice" 'background=f_001.ppm is for a video' motion f_001.ppm f_002.ppm -o out/a.npy -p background=f_001.ppm
refuses "a background of another size" 'f_001.ppm: 96x72 pixels of u8, but the frames of small.y4m have 20x20' motion small.y4m -o out/a.csv -p background=f_001.ppm

# What was there before the fault is kept.
head -c 40000 square.y4m >cut.y4m
fails "cut y4m" 2 'cut.y4m: cut short: frame 6 is incomplete; what came before is in cut.csv' "$rungs" run motion cut.y4m -o cut.csv
grep -E '^(frame|[1-5]),' boxes.csv >wanted.csv
same "cut y4m" cut.csv wanted.csv
cp frames/frame_00000[1-4].png mixed && cp f_001.ppm mixed/frame_000002.ppm
succeeds "mixed formats" "$rungs" run motion mixed -o mixed.csv
"$rungs" run motion small.y4m -o mixed/x_%d.png >stdout 2>stderr
fails "mixed sizes" 2 'x_1.png: 20x20 pixels, but mixed/frame_000001.png has 96x72' "$rungs" run motion mixed -o mixed2.csv
same "mixed sizes" mixed.csv mixed2.csv
no_leftovers "faults"

# --- Ctrl-C, with a video that does not end
moving_square 96 72 30 >long.y4m
interrupted() { # SIGNAL OUTPUT
    rm -f pipe live* && mkfifo pipe
    { cat long.y4m; exec sleep 900; } >pipe &
    feeder=$!
    # A signal that is ignored by who starts the tests, as nohup does with HUP, would be ignored by the program too.
    env --default-signal="$1" "$rungs" run motion - -o "$2" --boxes live.csv <pipe >stdout 2>stderr &
    child=$!
    # Until all frames that there are have been worked on; for a video file, until it has been begun.
    tries=0
    until [ -e live_30.ppm ] || { [ "$2" = live.mp4 ] && [ "$(ls -A | grep -c '^[.]rungs-')" = 2 ]; } ||
        [ $tries = 6000 ]; do
        sleep 0.05
        tries=$((tries + 1))
    done
    [ "$2" = live.mp4 ] || is "SIG$1: all frames that came are worked on" "$(ls live_*.ppm | tail -n 1)" live_30.ppm
    sleep 1 # a video file shows from outside that it was begun, not how far it is
    until_waiting $child
    kill -"$1" $child
    wait $child
    code=$?
    kill $feeder 2>/dev/null
    wait $feeder 2>/dev/null
    is "SIG$1: exit status" $code 130
}
for signal in INT TERM HUP; do
    interrupted $signal live_%02d.ppm
    is "SIG$signal: its line" "$(cat stderr)" "rungs: interrupted: 30 frames written to live_%02d.ppm"
    is "SIG$signal: boxes" "$(tail -n 1 live.csv | cut -d , -f 1)" 30
done
no_leftovers "interrupted"

# --- ffmpeg
if ! command -v ffmpeg >/dev/null || ! command -v ffprobe >/dev/null; then
    for title in "video in and out" "no ffmpeg" "damaged videos" "other files" "Ctrl-C of a video file" "disk full"; do
        skip "$title: no ffmpeg on this machine"
    done
    echo "$passed passed, $failed failed, $skipped skipped"
    [ $failed = 0 ]
    exit
fi
make_video() { # FILE SOURCE OPTIONS...
    file=$1 source=$2
    shift 2
    ffmpeg -nostdin -v error -y -f lavfi -i "$source" "$@" "$file" || bad "ffmpeg cannot make $file"
}
make_video a.mp4 testsrc=size=160x120:rate=25:duration=2 -c:v libx264 -pix_fmt yuv420p -movflags +faststart
make_video odd.mkv testsrc=size=75x53:rate=5:duration=1 -c:v ffv1
make_video one.mkv "color=c=red:size=8x8:rate=5:duration=1,scale=1:1" -c:v ffv1 -pix_fmt bgr0
make_video sound.wav sine=duration=0.2
make_video still.gif testsrc=size=64x48:duration=0.04 -frames:v 1
make_video still.tiff testsrc=size=64x48:duration=0.04 -frames:v 1
for size in 160x120 80x60; do make_video $size.mpg testsrc=size=$size:rate=25:duration=1 -c:v mpeg2video; done
# A song with its cover: a picture, but no video.
ffmpeg -nostdin -v error -y -i sound.wav -i frames/frame_000001.png -map 0 -map 1 -c:v png -disposition:v attached_pic song.flac ||
    bad "ffmpeg cannot make song.flac"

succeeds "video" "$rungs" run motion a.mp4 -o out.mp4 --boxes a.csv
is "video" "$(frames_in out.mp4)" 50
has "video" '160x120 -> out.mp4, a.csv' stdout
is "codec" "$(ffprobe -v error -show_entries stream=codec_name,pix_fmt,r_frame_rate -of csv=p=0 out.mp4)" "h264,yuv420p,25/1"
succeeds "boxes alone" "$rungs" run motion a.mp4 -o alone.csv
same "boxes alone" a.csv alone.csv
succeeds "ffmpeg into standard input" sh -c "ffmpeg -v error -i a.mp4 -pix_fmt yuv420p -f yuv4mpegpipe - | '$rungs' run motion - -o piped.mkv"
is "ffmpeg into standard input" "$(frames_in piped.mkv)" 50
succeeds "odd size" "$rungs" run motion odd.mkv -o odd.mp4
is "odd size" "$(ffprobe -v error -show_entries stream=width,height -of csv=p=0 odd.mp4)" 76,54
succeeds "1x1" "$rungs" run motion one.mkv -o one.mp4 --boxes one.csv
is "1x1" "$(frames_in one.mp4)" 5
succeeds "fps" "$rungs" run motion frames -o slow.avi --fps 12.5
is "fps" "$(ffprobe -v error -show_entries stream=r_frame_rate,nb_frames -of csv=p=0 slow.avi)" 25/2,12
cp a.mp4 ./-odd\ name\;.mp4
succeeds "odd name" "$rungs" run motion ./-odd\ name\;.mp4 -o 'o d"d.mp4'
succeeds "odd name" "$rungs" run -o o.csv motion -- -odd\ name\;.mp4
same "odd name" o.csv a.csv

# --- no ffmpeg
mkdir -p nothing
fails "no ffmpeg" 2 'ffprobe is not installed; .*apt-get install ffmpeg' env PATH=nothing "$rungs" run motion a.mp4 -o n.csv
fails "no ffmpeg" 2 'ffmpeg is not installed; .*apt-get install ffmpeg' env PATH=nothing "$rungs" run motion square.y4m -o n.mp4
succeeds "no ffmpeg needed" env PATH=nothing "$rungs" run motion square.y4m -o n.csv
same "no ffmpeg needed" n.csv boxes.csv

# --- damaged videos: what could be decoded is there and plays
broken() { # TITLE PATTERN LEAST-FRAMES FILE
    rm -f b.mp4 b.csv
    fails "$1" 2 "$4: $2" "$rungs" run motion "$4" -o b.mp4 --boxes b.csv
    frames=$(frames_in b.mp4)
    [ "$frames" -ge "$3" ] 2>/dev/null || bad "$1: $frames frames, expected at least $3"
    has "$1" "; what came before is in b.mp4" stderr
    has "$1" "^$frames frames" stdout
}
half() { head -c $(($(wc -c <"$1") / 2)) "$1" >"$2"; }
half a.mp4 cut.mp4
broken "cut mp4" 'damaged or cut short: [0-9]+ frames could be decoded' 8 cut.mp4
half 160x120.mpg cut.mpg
broken "cut mpg" 'damaged or cut short' 8 cut.mpg
cat 160x120.mpg 80x60.mpg >smaller.mpg
broken "smaller" 'the size of its frames changes after frame 2[0-9] \(160x120 before\)' 20 smaller.mpg
cat 80x60.mpg 160x120.mpg >larger.mpg
broken "larger" 'the size of its frames changes after frame 2[0-9] \(80x60 before\)' 20 larger.mpg
make_video raw.avi testsrc=size=64x48:rate=10:duration=2 -c:v rawvideo -pix_fmt bgr24
head -c 100000 raw.avi >cut.avi
broken "cut avi" '(damaged or )?cut short' 8 cut.avi

# --- right frames of which ffmpeg says something: a clip that was cut without encoding it anew hides its lead-in, a recording
# begins between two key frames, a webcam's JPEGs have a segment that is too short. And damage that it says as much of.
decoded() { # FILE: how many frames ffmpeg makes of it
    ffmpeg -nostdin -v quiet -i "$1" -map 0:V:0 -fps_mode passthrough -f framecrc - | grep -vc '^#'
}
whole() { # TITLE FILE
    succeeds "$1" "$rungs" run motion "$2" -o whole.csv
    is "$1: frames" "$(sed -n 's/^\([0-9]*\) frames.*/\1/p' stdout)" "$(decoded "$2")"
}
make_video long.mp4 testsrc=size=96x72:rate=25:duration=4 -c:v libx264 -g 25 -bf 2 -pix_fmt yuv420p
for codec in libx264 mpeg2video; do make_video $codec.ts testsrc=size=96x72:rate=25:duration=4 -c:v $codec -g 25 -bf 2 -pix_fmt yuv420p; done
make_video few.mp4 testsrc=size=96x72:rate=25:duration=0.2 -c:v libx264 -pix_fmt yuv420p
make_video cam.avi testsrc=size=96x72:rate=25:duration=2 -c:v mjpeg
for start in 0.3 2.04; do
    ffmpeg -nostdin -v error -y -ss $start -i long.mp4 -c copy trim.mp4
    whole "cut without encoding, from $start s" trim.mp4
    ffmpeg -nostdin -v error -y -ss $start -i long.mp4 -c copy -copyinkf trim.mkv
    whole "the same in Matroska" trim.mkv
done
ffmpeg -nostdin -v error -y -i libx264.ts -c copy -f h264 whole.h264
python3 - <<'EOF'
import random, re, struct
def write(name, data):
    with open(name, "wb") as file:
        file.write(data)
def read(name):
    with open(name, "rb") as file:
        return file.read()
for name in ("libx264.ts", "mpeg2video.ts"):
    data = read(name)
    for share in (30, 45):  # packets have 188 bytes
        write(f"from{share}_{name}", data[len(data) * share // 100 // 188 * 188 :])
data = read("whole.h264")
write("from40.h264", data[len(data) * 2 // 5 :])
# The comment of 16 bytes becomes an empty APP1 and a shorter comment.
data = read("cam.avi")
short = re.sub(rb"\xff\xfe\x00\x10.{14}", b"\xff\xe1\x00\x02\xff\xfe\x00\x0c" + b"comment..\0", data, flags=re.S)
assert short != data and len(short) == len(data)
write("short.avi", short)
random.seed(3)
for name, data in (("short.avi", short), ("long.mp4", read("long.mp4")), ("libx264.ts", read("libx264.ts")), ("from30_libx264.ts", read("from30_libx264.ts")), ("mpeg2video.ts", read("mpeg2video.ts"))):
    data = bytearray(data)
    for _ in range(60):
        data[random.randrange(len(data) // 2, len(data) * 2 // 3)] ^= random.randrange(1, 256)
    write("spoilt_" + name, data)
# The display matrix of a track, 40 bytes behind its name: turned by so many degrees.
import math
data = read("few.mp4")
at = data.index(b"tkhd") + 44
for degrees in (0, 45, 89.1, 89.7, 90, 90.6, 179.5, -90, -89.6, 270.4):
    s, c = math.sin(math.radians(degrees)), math.cos(math.radians(degrees))
    matrix = struct.pack(">9i", round(65536 * c), round(65536 * s), 0, round(-65536 * s), round(65536 * c), 0, 0, 0, 1 << 30)
    write(f"turned_{degrees}.mp4", data[:at] + matrix + data[at + 36 :])
EOF
for file in from[34]*_*.ts from40.h264; do whole "a recording that begins between key frames, $file" "$file"; done
whole "JPEGs with a short segment" short.avi
ffmpeg -nostdin -v quiet -y -i short.avi -c copy -f mjpeg short.mjpeg
whole "JPEGs with a short segment in no container" short.mjpeg
if ffmpeg -nostdin -v error -i short.avi -f null - 2>&1 | grep -q APP; then ok; else skip "JPEGs with a short segment: this ffmpeg says nothing of it"; fi
for file in spoilt_*; do fails "$file" 2 "$file: damaged or cut short: [0-9]+ frames could be decoded .*before is in spoilt.csv" "$rungs" run motion "$file" -o spoilt.csv; done
for file in turned_*.mp4; do
    whole "$file" "$file"
    succeeds "$file" "$rungs" run blur "$file" -o turned.mp4 -p ksize=3
    size=$(ffmpeg -nostdin -v error -i "$file" -frames:v 1 -c:v ppm -f image2pipe - | LC_ALL=C sed -n 2p | tr ' ' ,)
    is "$file: size" "$(ffprobe -v error -show_entries stream=width,height -of csv=p=0 turned.mp4)" "$size"
done

# --- pixels that are not square stay so; pictures that follow on each other are a video
aspect_of() { ffprobe -v error -show_entries stream=sample_aspect_ratio -of csv=p=0 "$1"; }
make_video wide.mp4 testsrc=size=96x72:rate=25:duration=0.2,setsar=4/3 -c:v libx264 -pix_fmt yuv420p
ffmpeg -nostdin -v error -y -i wide.mp4 -f yuv4mpegpipe wide.y4m
for form in mp4:mp4 mp4:mkv mp4:avi y4m:mov; do
    succeeds "pixels that are not square" "$rungs" run blur wide.${form%:*} -o shape.${form#*:} -p ksize=3
    is "pixels that are not square, $form" "$(aspect_of shape.${form#*:})" 4:3
done
python3 - <<'EOF'
import struct
with open("wide.mp4", "rb") as file:
    data = file.read()
at = data.index(b"tkhd") + 44
with open("tall.mp4", "wb") as file:
    file.write(data[:at] + struct.pack(">9i", 0, 65536, 0, -65536, 0, 0, 0, 0, 1 << 30) + data[at + 36 :])
EOF
succeeds "pixels that are not square, turned" "$rungs" run blur tall.mp4 -o shape.mp4 -p ksize=3
is "pixels that are not square, turned" "$(aspect_of shape.mp4) $(ffprobe -v error -show_entries stream=width,height -of csv=p=0 shape.mp4)" "3:4 72,96"
make_video moving.png testsrc=size=96x72:rate=10:duration=1 -f apng -plays 0
make_video raw.mjpeg testsrc=size=96x72:rate=10:duration=1 -c:v mjpeg -f mjpeg
cp raw.mjpeg webcam
for file in moving.png raw.mjpeg webcam; do
    succeeds "$file" "$rungs" run motion $file -o shape.csv
    has "$file: frames" '^10 frames' stdout
done
succeeds "raw JPEGs are a video for others too" "$rungs" run blur raw.mjpeg -o shape.mp4 -p ksize=3
is "raw JPEGs are a video for others too" "$(frames_in shape.mp4)" 10
"$rungs" run blur f_001.ppm -o one.jpg >stdout
refuses "one JPEG is a picture" 'one.jpg: a still image, not a video' motion one.jpg -o out/a.csv

# --- other files
head -c 100 a.mp4 >start.mp4
refuses "only a start" 'start.mp4: (not a video, or damaged|no video stream)' motion start.mp4 -o out/a.mp4
head -c 5000 /dev/zero >zeros.mp4
refuses "zeros" 'zeros.mp4: not a video, or damaged' motion zeros.mp4 -o out/a.mp4
echo 'this is no video' >text.txt
refuses "text" 'text.txt: (a text, not a video|not a video)' motion text.txt -o out/a.mp4
refuses "sound" 'sound.wav: no video stream in this file' motion sound.wav -o out/a.mp4
refuses "song with a cover" 'song.flac: no video stream in this file' motion song.flac -o out/a.mp4
refuses "tiff" 'still.tiff: a still image, not a video' motion still.tiff -o out/a.mp4
succeeds "a gif of one frame is a video" "$rungs" run motion still.gif -o gif.csv
refuses "video output nowhere" 'cannot write in folder' motion a.mp4 -o out/x/a.mp4
refuses "video and picture" 'a.mp4: ' motion a.mp4 f_001.ppm -o out/a.npy

# --- Ctrl-C of a video file; a full disk
interrupted INT live.mp4
has "Ctrl-C" '^rungs: interrupted: [0-9]+ frames? written to live.mp4$' stderr
is "Ctrl-C: frames" "$(frames_in live.mp4)" "$(sed 's/.*interrupted: \([0-9]*\) .*/\1/' stderr)"
mkdir -p full
fails "file size limit" 2 'full/a.mp4: cannot be written' sh -c "ulimit -f 2; '$rungs' run motion a.mp4 -o full/a.mp4"
is "file size limit: nothing left" "$(ls -A full)" ""
no_leftovers "all"
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
