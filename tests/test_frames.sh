#!/bin/sh
# rungs run of an algorithm for one picture on a video: each frame gets what it gets as a picture, rows bear their frame's
# number, colour becomes gray where it must, and what goes wrong midway leaves what came before. usage: sh tests/test_frames.sh
# BUILD-FOLDER
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
    if [ $code = "$wanted" ] && [ "$(wc -l <stderr)" = 1 ] && grep -Eq -- "$pattern" stderr; then
        ok
    else
        bad "$title: exit $code instead of $wanted, or '$(cat stderr)' does not match '$pattern'"
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

# Frames with a square that moves, in colour: text, so that awk can write it anywhere.
mkdir shots
for frame in 1 2 3 4 5 6; do
    awk -v f=$frame -v w=53 -v h=41 'BEGIN {
        printf "P6\n%d %d\n255\n", w, h
        for (y = 0; y < h; y++)
            for (x = 0; x < w; x++)
                printf "%s", (x > 4 * f && x < 4 * f + 14 && y > 9 && y < 25) ? "zQ!" : "2Dk"
    }' >shots/shot_$frame.ppm
done
y4m() { # WIDTH HEIGHT FRAMES
    awk -v w="$1" -v h="$2" -v n="$3" 'BEGIN {
        print "YUV4MPEG2 W" w " H" h " F10:1 Cmono"
        for (f = 0; f < n; f++) {
            print "FRAME"
            for (i = 0; i < w * h; i++) printf "%s", (i % w > 3 * f && i % w < 3 * f + 9 && i > 5 * w && i < 20 * w) ? "z" : "A"
        }
    }'
}

# --- each frame as the picture
succeeds "pictures of a folder" "$rungs" run blur:cpu/serial shots -o blurred --format ppm
succeeds "the same as a video" "$rungs" run blur:cpu/serial 'shots/shot_%d.ppm' -o 'frame_%d.ppm'
is "summary" "$(sed -n 's/^\(6 frames\);.*/\1/p' stdout)" "6 frames"
for frame in 1 2 3 4 5 6; do same "frame $frame" blurred/shot_$frame.ppm frame_$frame.ppm; done

# --- rows, of frames that become gray, and a picture of another size than the frame's
for version in cpu/serial cuda/v1.1; do
    echo frame,x,y,response >expected.csv
    for frame in 1 2 3 4 5 6; do
        succeeds "a picture in colour" "$rungs" run harris:cpu/serial shots/shot_$frame.ppm -o corners=rows.csv
        sed "1d; s/^/$frame,/" rows.csv >>expected.csv
    done
    grep -q 'in gray' stdout || bad "a picture in colour: not said that it became gray"
    succeeds "rows of $version" "$rungs" run harris:$version 'shots/shot_%d.ppm' -o corners=corners.csv -o 'map_%d.png' -p outputs=both
    same "rows of $version" corners.csv expected.csv
    is "rows are counted" "$(sed -n 's/^6 frames, \([0-9]*\) rows in corners.csv.*/\1/p' stdout)" $(($(wc -l <expected.csv) - 1))
    is "frames beside them" "$(ls map_*.png | wc -l)" 6
done
succeeds "a matrix" "$rungs" run otsu 'shots/shot_*.ppm' -o levels.csv
is "a matrix has no header" "$(wc -l <levels.csv)" 6
y4m 40 30 4 >v.y4m
succeeds "standard input" sh -c "cat v.y4m | '$rungs' run labelling - -o labels/"
is "a new folder" "$(ls labels | tail -n 1)" frame_000004.png
y4m 1 1 3 >one.y4m
succeeds "1x1" "$rungs" run harris one.y4m -o corners=one.csv
is "1x1: no corners" "$(cat one.csv)" frame,x,y,response

# --- what cannot be done
refuses "a matrix as a video" 'levels_%d.png: threshold of a video goes to .csv' otsu v.y4m -o 'levels_%d.png'
refuses "another form" 'response of a video goes to .mp4' harris v.y4m -o out/x.npy
refuses "histograms" 'neither pictures nor rows' lbp v.y4m -o out/x.npy
refuses "the boxes" '--boxes is for a video and motion or lines; rows of others go to -o FILE.csv' harris v.y4m -o corners=out/x.csv --boxes out/b.csv
refuses "jobs" '--jobs is for a folder' harris v.y4m -o corners=out/x.csv --jobs 2
refuses "a rate of pictures" '--fps is for a video' harris shots/shot_1.ppm -o out/x.csv --fps 5
refuses "a rate" "--fps: '0' is not a number" harris v.y4m -o corners=out/x.csv --fps 0
refuses "a slot" "has no output 'corner'" harris v.y4m -o corner=out/x.csv
refuses "an output that is not made" 'with these parameters there is no' harris v.y4m -o response=out/r_%d.png -p outputs=corners
refuses "over itself" 'is the input|the same file|both' harris v.y4m -o v.y4m.csv -o ./v.y4m.csv
refuses "no such video" 'none.mp4: No such file' harris none.mp4 -o corners=out/x.csv
: >empty.y4m
refuses "no video" 'empty.y4m: ' harris empty.y4m -o corners=out/x.csv
refuses "a version that cannot" 'cannot run here|has no version' harris:peer/none v.y4m -o out/x.csv
head -c 3000 v.y4m >cut.y4m
fails "cut short" 2 'cut.y4m: cut short: frame 3 is incomplete; what came before is in cut.csv' "$rungs" run harris cut.y4m -o corners=cut.csv
is "cut short: rows" "$(tail -n 1 cut.csv | cut -d , -f 1)" 2
is "no temporary file" "$(find . -name '.rungs-*')" ""

# --- a camera, whose frames are drawn before others come, and Ctrl-C; a folder called - is not standard input
mkfifo pipe
mkdir ./-
for version in harris texture texture:cuda/v1.3; do
    rm -f live_*.ppm file_*.ppm
    succeeds "$version of a file" "$rungs" run $version v.y4m -o 'file_%d.ppm'
    { cat v.y4m; exec sleep 900; } >pipe &
    feeder=$!
    env --default-signal=INT "$rungs" run $version - -o 'live_%d.ppm' <pipe >stdout 2>stderr &
    child=$!
    tries=0
    until [ -e live_4.ppm ] || [ $tries = 6000 ]; do
        sleep 0.05
        tries=$((tries + 1))
    done
    until_waiting $child
    kill -INT $child
    wait $child
    is "$version, Ctrl-C: exit status" $? 130
    kill $feeder 2>/dev/null
    wait $feeder 2>/dev/null
    is "$version, Ctrl-C: its line" "$(cat stderr)" "rungs: interrupted: 4 frames written to live_%d.ppm"
    for frame in 1 2 3 4; do same "$version of a camera, frame $frame" live_$frame.ppm file_$frame.ppm; done
done

# --- several videos at once: what each gets by itself, in files of its own name
mkdir -p yard/shots several
y4m 40 30 7 >yard/door.y4m
y4m 61 33 5 >yard/gate.2.y4m
cp shots/* yard/shots
for version in harris:cpu/serial harris:cuda/v2.4 texture:cuda/v2.0; do
    rm -rf alone several/*
    mkdir alone
    for video in yard/door.y4m yard/gate.2.y4m v.y4m; do
        name=$(basename $video .y4m)
        case $version in
        harris*) succeeds "$version alone" "$rungs" run $version $video -o corners=alone/$name.csv -o alone/$name/ ;;
        *) succeeds "$version alone" "$rungs" run $version $video -o alone/$name/ ;;
        esac
    done
    case $version in
    harris*) succeeds "$version of three" "$rungs" run $version yard/door.y4m yard/gate.2.y4m v.y4m -o 'corners=several/{}.csv' -o 'several/{}/' ;;
    *) succeeds "$version of three" "$rungs" run $version yard/door.y4m yard/gate.2.y4m v.y4m -o 'several/{}/' ;;
    esac
    is "$version of three: last line" "$(sed -n '$s/, .*//p' stdout)" "3 of 3 videos at once"
    is "$version of three: frames" "$(sed -n '$s/.*at once, \([0-9]* frames\).*/\1/p' stdout)" "16 frames"
    if diff -r alone several >differences; then ok; else bad "$version of three: $(head -n 3 differences)"; fi
    is "$version of three: names" "$(ls several | grep -v csv | tr '\n' ' ')" "door gate.2 v "
done
printf '%s\n' door gate.2 shots v >names
succeeds "motion alone" "$rungs" run motion yard/door.y4m -o door.csv
succeeds "motion of four" "$rungs" run motion yard/door.y4m yard/gate.2.y4m yard/shots/ v.y4m -o 'at_{}_once_{}/' --boxes 'several/boxes {}.csv' --fps 5
same "motion of four: boxes" door.csv "several/boxes door.csv"
is "motion of four: pictures" "$(cat at_door_once_door/*.png | cksum)" "$("$rungs" run motion yard/door.y4m -o alone/motion/ >stdout && cat alone/motion/*.png | cksum)"
while read -r name; do is "motion of four: folder of $name" "$(ls -d at_${name}_once_$name)" at_${name}_once_$name; done <names
succeeds "one of several" "$rungs" run harris yard/door.y4m -o 'several/one {}.csv'
succeeds "standard input and another" sh -c "cat v.y4m | '$rungs' run harris - yard/door.y4m -o 'several/in {}.csv'"
is "standard input has a name" "$(ls several/in* | tr '\n' ' ')" "several/in door.csv several/in stdin.csv "
fails "one is not there" 1 'none.y4m: No such file' "$rungs" run harris yard/door.y4m none.y4m -o 'several/left {}.csv'
same "one is not there: the other" "several/left door.csv" "several/in door.csv"
is "one is not there: all of them" "$(ls several/left*)" "several/left door.csv"
fails "one is cut short" 1 'cut.y4m: cut short: frame 3 is incomplete; what came before is in several/cut cut.csv' "$rungs" run harris cut.y4m v.y4m -o 'corners=several/cut {}.csv'
rm -rf several/*
RUNGS_EMULATOR_MEMORY=4000 "$rungs" run harris:cuda/v2.4 yard/door.y4m v.y4m -o 'several/short {}.csv' >stdout 2>stderr
is "no device memory: exit status" $? 2
is "no device memory: whose" "$(sed -n 's/^rungs: \([^:]*\): .*/\1/p' stderr | sort | tr '\n' ' ')" "v.y4m yard/door.y4m "
is "no device memory: files" "$(ls several)" ""
cp v.y4m e # as a letter its name is in every message
cp v.y4m o
RUNGS_EMULATOR_MEMORY=4000 "$rungs" run motion:cuda/v1.0 e o -o 'several/{}.csv' >stdout 2>stderr
is "a name of one letter: whose" "$(sed -n 's/^rungs: \([^:]*\): .*/\1/p' stderr | sort | tr '\n' ' ')" "e o "
fails "a name of one sign: whose" 2 '^rungs: standard input: cut short' sh -c "head -c 900 v.y4m | '$rungs' run motion - -o 'several/{}.csv'"
fails "none is there" 2 'none.y4m: No such file' "$rungs" run harris none.y4m -o 'several/none {}.csv'
refuses "results of several in one" 'out/all/: of several videos, each' harris yard/door.y4m v.y4m -o 'out/{}.csv' -o response=out/all/
refuses "without a place" 'each has results of its own: -o .{2}.mp4' harris yard/door.y4m v.y4m -o out/x.csv
refuses "without a place, motion" 'each has results of its own: -o .{2}.mp4' motion yard/door.y4m v.y4m yard/gate.2.y4m -o out/x.csv
refuses "two of one name" 'named twice for output' harris v.y4m ./v.y4m -o 'out/{}.csv'
refuses "two of one name, folders" 'out/v/* and out/v/* are .* named twice for output' motion v.y4m ./v.y4m -o 'out/{}/'
refuses "two of one name, patterns" 'out/v_%d.ppm and out/v_%d.ppm could name one file' harris v.y4m ./v.y4m -o 'response=out/{}_%d.ppm'
cp yard/door.y4m v1.y4m
refuses "the eleventh of one and the first of another" 'out/v%d.ppm and out/v1%d.ppm could name one file' motion v.y4m v1.y4m -o 'out/{}%d.ppm'
refuses "the tenth of one and the first of another" 'out/%d0.ppm and ./out/%d.ppm could name one file' harris v.y4m -o response=out/%d0.ppm -o corners=./out/%d.ppm
succeeds "patterns that do not meet" "$rungs" run motion v.y4m v1.y4m -o 'several/{}_%d.ppm'
is "patterns that do not meet: files" "$(ls several | wc -l)" 11
refuses "two folders of one video" 'out/x and out/x are .* named twice for output' harris v.y4m -o response=out/x -o corners=out/x/
refuses "no name" 'the name of a video is empty' motion '' v.y4m -o 'out/{}.csv'
refuses "a rate that is none, once" "--fps: 'x' is not a number" motion v.y4m v1.y4m -o 'out/{}.csv' --fps x
mkdir -p several/marks
cp v.y4m 'several/marks/50%.y4m'
cp v1.y4m 'several/marks/s[1].y4m'
succeeds "marks of patterns in the names of files" "$rungs" run motion 'several/marks/50%.y4m' 'several/marks/s[1].y4m' -o 'several/marks/{}.csv'
is "marks of patterns: files" "$(ls several/marks/*.csv | tr '\n' ' ')" 'several/marks/50%.csv several/marks/s[1].csv '
ln -s ../shots yard/v
refuses "over another's input" 'yard/v/shot_.*the same file as the input shots/shot_' motion shots v.y4m -o 'yard/{}/shot_%d.ppm'
refuses "a pattern" 'a pattern has no name' harris v.y4m 'shots/shot_%d.ppm' -o 'out/{}.csv'
refuses "pictures" 'is for videos, and shots is none for harris' harris v.y4m shots -o 'out/{}.csv'
refuses "an algorithm of two pictures" 'is for videos, and .* is none for absdiff' absdiff v.y4m yard/door.y4m -o 'out/{}.png'
refuses "sixty-five" '65 videos; at most 64' harris $(yes v.y4m | head -n 65) -o 'out/{}.csv'
y4m 40 30 2000 >yard/long.y4m
{ cat v.y4m; exec sleep 900; } >pipe &
feeder=$!
env --default-signal=INT "$rungs" run harris:cuda/v1.1 yard/door.y4m - yard/long.y4m -o 'response=live_{}_%d.ppm' <pipe >stdout 2>stderr &
child=$!
tries=0
# The short video is through when its file is closed.
until { [ -e live_stdin_4.ppm ] && [ -e live_long_9.ppm ] && [ -e live_door_7.ppm ] &&
    ! ls -l /proc/$child/fd | grep -q yard/door.y4m; } || [ $tries = 6000 ]; do
    sleep 0.05
    tries=$((tries + 1))
done
kill -INT $child
wait $child
is "a camera and a video, Ctrl-C: exit status" $? 130
kill $feeder 2>/dev/null
is "a camera and a video, Ctrl-C: a line each" "$(sed 's/[0-9][0-9]* frames/N frames/' stderr | sort | tr '\n' ' ')" "rungs: interrupted: N frames written to live_long_%d.ppm rungs: interrupted: N frames written to live_stdin_%d.ppm "
is "a camera and a video, Ctrl-C: last line" "$(sed -n '$s/, .*//p' stdout)" "3 of 3 videos at once"
rm -f pipe live_*
mkfifo pipe
sleep 900 >pipe & # a camera that has not sent a header
feeder=$!
env --default-signal=TERM "$rungs" run harris:cuda/v1.1 - yard/long.y4m -o 'response=live_{}_%d.ppm' <pipe >stdout 2>stderr &
child=$!
tries=0
until [ -e live_long_3.ppm ] || [ $tries = 6000 ]; do
    sleep 0.05
    tries=$((tries + 1))
done
kill -TERM $child
tries=0
while kill -0 $child 2>/dev/null && [ $tries -lt 6000 ]; do
    sleep 0.05
    tries=$((tries + 1))
done
kill -KILL $child 2>/dev/null
wait $child
is "a camera that is not there yet, ended: exit status" $? 130
kill $feeder 2>/dev/null
is "a camera that is not there yet, ended: a line each" "$(sed 's/[0-9][0-9]* frames/N frames/' stderr | tr '\n' ' ')" "rungs: interrupted: N frames written to live_long_%d.ppm rungs: interrupted: 1 video had not begun "
is "a camera that is not there yet, ended: last line" "$(sed -n '$s/, .*//p' stdout)" "1 of 2 videos at once"

# --- ffmpeg
if command -v ffmpeg >/dev/null && command -v ffprobe >/dev/null; then
    succeeds "a folder to a video" "$rungs" run detect shots -o faces.mp4 -o faces.csv --fps 12.5
    succeeds "a video to a video" "$rungs" run texture faces.mp4 -o texture.avi
    is "its frames" "$(ffprobe -v error -count_frames -show_entries stream=nb_read_frames,r_frame_rate -of csv=p=0 texture.avi)" 25/2,6
    succeeds "texture of what ffmpeg sends" sh -c "ffmpeg -nostdin -v error -i faces.mp4 -pix_fmt yuv420p -f yuv4mpegpipe - | '$rungs' run texture - -o piped.mkv"
    is "its frames, sent" "$(ffprobe -v error -count_frames -show_entries stream=nb_read_frames,r_frame_rate -of csv=p=0 piped.mkv)" 25/2,6
    refuses "a picture to a video" 'a still image, not a video' blur shots/shot_1.ppm -o out/x.mp4
    fails "no ffmpeg" 2 'ffmpeg is not installed; .*apt-get install ffmpeg' env PATH=nothing "$rungs" run blur v.y4m -o n.mp4
else
    skip "video files: no ffmpeg on this machine"
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
