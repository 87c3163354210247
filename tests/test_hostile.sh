#!/bin/sh
# What hostile files and environments must not do: make ffmpeg open other files than the one named, keep rungs waiting for a
# child that hangs, leave children or temporary files behind, crash it, lose results, or send control characters to a
# terminal. usage: sh tests/test_hostile.sh BUILD-FOLDER
# Waits: for children that hang.
set -u
case $1 in /*) build=$1 ;; *) build=$PWD/$1 ;; esac
rungs=$build/rungs
root=$PWD
folder=$(mktemp -d) || exit 1
mounted=
cleanup() {
    [ -z "$mounted" ] || umount "$mounted"
    rm -rf "$folder"
}
trap cleanup EXIT
cd "$folder" || exit 1
passed=0 failed=0 skipped=0

ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); echo "FAIL $*"; }
skip() { skipped=$((skipped + 1)); echo "SKIP $*"; }

# fails TITLE STATUS REASON-PATTERN COMMAND...: that exit status, one line on stderr that matches
fails() {
    title=$1 wanted=$2 pattern=$3
    shift 3
    "$@" >stdout 2>stderr
    code=$?
    if [ $code != "$wanted" ]; then
        bad "$title: exit $code instead of $wanted: $(head -c 300 stderr)"
    elif [ "$(wc -l <stderr)" != 1 ]; then
        bad "$title: $(wc -l <stderr) lines on stderr instead of 1: $(head -n 4 stderr)"
    elif ! grep -Eq -- "$pattern" stderr; then
        bad "$title: '$(head -c 300 stderr)' does not match '$pattern'"
    else
        ok
    fi
}
succeeds() { # TITLE COMMAND...
    title=$1
    shift
    "$@" >stdout 2>stderr
    code=$?
    if [ $code = 0 ]; then ok; else bad "$title: exit $code: $(head -c 300 stderr)"; fi
}
is() { if [ "$2" = "$3" ]; then ok; else bad "$1: '$2' instead of '$3'"; fi; }
has() { if grep -Eq -- "$2" "$3"; then ok; else bad "$1: no '$2' in: $(head -n 5 "$3")"; fi; }
gone() { # TITLE PID: soon there is no such process, but for a zombie
    tries=0
    while [ -r "/proc/$2/stat" ] && ! grep -q ') Z ' "/proc/$2/stat" && [ $tries -lt 6000 ]; do
        sleep 0.05
        tries=$((tries + 1))
    done
    if [ $tries -lt 6000 ]; then ok; else bad "$1: process $2 still runs"; kill -KILL "$2"; fi
}

{ printf 'P6\n16 12\n255\n'; head -c 576 /dev/zero | tr '\0' 'x'; } >good.ppm

# --- videos that name other files
if command -v ffmpeg >/dev/null && command -v ffprobe >/dev/null; then
    ffmpeg -nostdin -v error -y -f lavfi -i testsrc=size=160x120:rate=25:duration=1 -c:v mpeg4 -bf 0 secret.mp4 &&
        ffmpeg -nostdin -v error -y -i secret.mp4 -c copy secret.ts && ffmpeg -nostdin -v error -y -i secret.mp4 secret_%03d.jpg ||
        bad "ffmpeg cannot make its files"
    mkfifo marker.ts
    # playlist NAME TEXT: the text as a file that looks like a video, once with the valid neighbour secret.ts, once with the
    # pipe marker.ts, whose writer goes on as soon as anyone opens the other end.
    playlist() {
        # By its name ffmpeg would take .m3u8 and .sdp for what they are; the others it would have to look into.
        for ending in mp4 $3; do
            printf "$2" "secret.ts" >"$1.$ending"
            fails "$1.$ending" 2 "$1.$ending: " "$rungs" run motion "$1.$ending" -o stolen.csv
            printf "$2" "$folder/secret.ts" >"$1.$ending"
            fails "$1.$ending, absolute" 2 "$1.$ending: " "$rungs" run motion "$1.$ending" -o stolen.csv
            fails "$1.$ending, past ffprobe" 2 "$1.$ending: " env PATH="$folder/blind:$PATH" "$rungs" run motion "$1.$ending" -o stolen.csv
        done
        printf "$2" "marker.ts" >"$1.mp4"
        { : >marker.ts; : >opened; } &
        writer=$!
        fails "$1 and a pipe" 2 "$1.mp4: " "$rungs" run motion "$1.mp4" -o stolen.csv
        fails "$1 and a pipe, past ffprobe" 2 "$1.mp4: " env PATH="$folder/blind:$PATH" "$rungs" run motion "$1.mp4" -o stolen.csv
        if [ -e opened ]; then bad "$1: ffmpeg opened the neighbour marker.ts"; else ok; fi
        kill $writer 2>/dev/null
        wait $writer 2>/dev/null
        rm -f opened
    }
    # An ffprobe that takes everything for a good video: then ffmpeg alone must refuse.
    mkdir blind
    printf '#!/bin/sh\nprintf "width=160\\nheight=120\\nr_frame_rate=25/1\\nformat_name=mpegts\\n"\n' >blind/ffprobe
    chmod +x blind/ffprobe
    playlist hls '#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:1\n#EXTINF:1.0,\n%s\n#EXT-X-ENDLIST\n' m3u8
    playlist concat "ffconcat version 1.0\nfile '%s'\n" ffconcat
    playlist dash '<?xml version="1.0"?>\n<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT1S"><Period><AdaptationSet mimeType="video/mp2t"><Representation id="1" bandwidth="1"><BaseURL>%s</BaseURL></Representation></AdaptationSet></Period></MPD>\n' ''
    playlist sdp 'v=0\no=- 0 0 IN IP4 127.0.0.1\ns=%s\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 5004 RTP/AVP 96\na=rtpmap:96 H264/90000\n' sdp
    playlist metadata ';FFMETADATA1\ntitle=%s\n' ''
    playlist rtsp 'rtsp://127.0.0.1:1/%s\n' ''
    printf 'secret_%%03d.jpg' >numbered.mp4
    fails "numbered pictures" 2 'numbered.mp4: ' "$rungs" run motion numbered.mp4 -o stolen.csv
    cp secret.mp4 'secret_%03d.mp4'
    succeeds "a name that looks like a pattern" "$rungs" run motion 'secret_%03d.mp4' -o pattern.csv
    succeeds "the video itself" "$rungs" run motion secret.mp4 -o plain.csv
    if cmp -s pattern.csv plain.csv; then ok; else bad "a name that looks like a pattern: other boxes"; fi
    [ ! -e stolen.csv ] || bad "a playlist was read"
else
    skip "videos that name other files: no ffmpeg on this machine"
fi

# --- children that hang: what is stopped or silent is ended, what rungs leaves behind dies with it
mkdir hung
printf '#!/bin/sh\nexec sleep 1000\n' >hung/ffprobe
chmod +x hung/ffprobe
head -c 5000 /dev/urandom >unknown.mp4
fails "a hung ffprobe" 2 'unknown.mp4: ffprobe gave no sign of life for 1 s and was ended' \
    env PATH="$folder/hung:$PATH" RUNGS_PATIENCE=1 "$rungs" run motion unknown.mp4 -o hung.csv
if command -v ffmpeg >/dev/null && command -v ffprobe >/dev/null; then
    # An ffmpeg that stops itself: while it decodes (it has an input with a name of ours), while it encodes, or at once.
    real=$(command -v ffmpeg)
    for when in decodes encodes; do
        mkdir $when
        [ $when = decodes ] && word=/proc/self/fd/0 || word=rawvideo
        printf '#!/bin/sh\ncase " $* " in *%s*) echo $$ >"%s/child"; kill -STOP $$ ;; esac\nexec %s "$@"\n' $word "$folder" "$real" >$when/ffmpeg
        chmod +x $when/ffmpeg
        fails "an ffmpeg that is stopped while it $when" 2 'ffmpeg gave no sign of life for 1 s and was ended' \
            env PATH="$folder/$when:$PATH" RUNGS_PATIENCE=1 "$rungs" run motion secret.mp4 -o stopped.mp4
        gone "an ffmpeg that is stopped while it $when" "$(cat child)"
        # The same without patience: rungs is killed and takes it along.
        rm -f child
        env PATH="$folder/$when:$PATH" "$rungs" run motion secret.mp4 -o killed.mp4 >stdout 2>stderr &
        parent=$!
        tries=0
        until [ -s child ] || [ $tries = 6000 ]; do
            sleep 0.05
            tries=$((tries + 1))
        done
        kill -KILL $parent
        wait $parent 2>/dev/null
        gone "rungs is killed while a stopped ffmpeg $when" "$(cat child)"
    done
    # What the killed run left is known by its dead owner, and goes with the next run into the folder.
    is "a killed run leaves its unfinished file" "$(ls -A | grep -c '^[.]rungs-.*tmp$')" 1
    : >.rungs-$$-7.tmp
    : >.rungs-notes.tmp
    succeeds "the next run" "$rungs" run blur:cpu/serial good.ppm -o good.png
    is "the next run takes it away" "$(ls -A | grep '^[.]rungs-' | sort | tr '\n' ' ')" ".rungs-$$-7.tmp .rungs-notes.tmp "
    rm -f .rungs-*
else
    skip "children that hang: no ffmpeg on this machine"
fi

# --- environments that end in a crash unless they are refused
small='at least 1024 KiB are needed'
fails "a small stack" 2 "^rungs: the stack is limited to 256 KiB, and $small: ulimit -s 8192$" \
    sh -c "ulimit -s 256; '$rungs' run blur good.ppm -o o.png"
fails "a small stack for check" 2 "^rungs: the stack is limited to 256 KiB" sh -c "ulimit -s 256; '$rungs' check threshold"
{ printf 'P5\n16 12\n255\n'; head -c 192 /dev/zero; } >mask.pgm
succeeds "the stack that is asked for" sh -c "ulimit -s 1024; '$rungs' run labelling:cpu/simd mask.pgm -o o.png && '$rungs' run blur:cpu/simd good.ppm -o o.png -p ksize=31"
for size in 64 64k 65536B; do
    fails "OMP_STACKSIZE=$size" 2 "OMP_STACKSIZE gives each thread a stack of [0-9]+ KiB, and $small" env OMP_STACKSIZE="$size" "$rungs" run blur good.ppm -o o.png
done
for threads in 9999999 100000 1025; do
    fails "OMP_NUM_THREADS=$threads" 2 "OMP_NUM_THREADS asks for $threads threads; at most 1024 are supported" env OMP_NUM_THREADS=$threads "$rungs" check threshold
done
succeeds "OMP_NUM_THREADS=1024" env OMP_NUM_THREADS=1024 "$rungs" run blur:cpu/omp good.ppm -o o.png

# --- control characters of results and tuned files never reach a terminal
escape='\u001b]0;title\u0007\u009b31m' # as JSON has it
for_sed=$(printf '%s' "$escape" | sed 's/[\\]/&&/g')
tidy() { # TITLE: nothing but plain text in stdout and stderr
    if LC_ALL=C grep -q "$(printf '[\001-\010\013-\037\177]\|\302[\200-\237]')" stdout stderr; then bad "$1: control characters"; else ok; fi
}
succeeds "results to spoil" "$rungs" bench blur --versions cpu/serial --input good.ppm --time 0.01 --json r.json
sed "s/\"input\": \"/&$for_sed/; s/\"cpu\": \"/&$for_sed/; s/\"settings\": \"/&$for_sed/; s/\"ksize\"/\"k$for_sed\"/; s/\"commit\": \"/&$for_sed/" r.json >spoilt.json
"$rungs" compare spoilt.json r.json >stdout 2>stderr
has "compare shows what was there" 'x1b' stdout
tidy "compare"
sed "s/\"schema\": \"/&$for_sed/" r.json >schema.json
fails "compare's message" 2 'schema.json: not a results file' "$rungs" compare schema.json r.json
tidy "compare's message"
cpu=$(sed -n 's/.*"cpu": "\(.*\)",/\1/p' r.json)
cores=$(sed -n 's/.*"cores": \([0-9]*\),/\1/p' r.json)
printf '{"schema": "rungs-tuned", "version": 1, "entries": [{"algorithm": "blur", "version": "cpu/simd", "processor": "%s", "threads": %s, "values": {"band_height": 64, "schedule": "static"}, "date": "%s"}]}' "$cpu" "$cores" "$escape" >tuned.json
succeeds "a tuned file" env RUNGS_TUNED=tuned.json "$rungs" run blur:cpu/simd good.ppm -o o.png
has "a tuned file is used" 'as tuned on .x1b' stdout
tidy "a tuned file"
sed -i "s/64/\"$for_sed\"/" tuned.json
succeeds "a value that is none" env RUNGS_TUNED=tuned.json "$rungs" run blur:cpu/simd good.ppm -o o.png
has "a value that is none" 'does not fit it any more: .*x1b' stdout
tidy "a value that is none"

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
