#!/usr/bin/env bash
# Plays video through every side for minutes, with one fault after the other: the decoder killed, the encoder killed, a full
# disk, Ctrl-C, device memory that does not suffice (of the emulator). After each run the exit status is right, what was
# written is complete and plays, no unfinished file and no process is left; and memory does not grow from the first half of
# a long run to its second.
# usage: bash tests/soak.sh BUILD-FOLDER SECONDS
set -u
case $1 in /*) rungs=$1/rungs ;; *) rungs=$PWD/$1/rungs ;; esac
seconds=$2
case $seconds in '' | *[!0-9]* | 0) echo "soak: must last whole seconds, not '$seconds'" >&2; exit 2 ;; esac
work=$(mktemp -d) || exit 1
mounted=
cleanup() {
    [ -z "$mounted" ] || umount "$mounted"
    rm -rf "$work"
}
trap cleanup EXIT
cd "$work" || exit 1
passed=0 failed=0 skipped=0 rounds=0
ok() { passed=$((passed + 1)); }
bad() {
    failed=$((failed + 1))
    echo "FAIL round $rounds, $*"
}

# A square that moves before noise that does not, of any length: what a camera would send.
video() { # WIDTH HEIGHT FRAMES
    awk -v w="$1" -v h="$2" -v n="$3" 'BEGIN {
        srand(1)
        print "YUV4MPEG2 W" w " H" h " F25:1 Cmono"
        for (y = 0; y < h; y++) for (x = 0; x < w; x++) row[y] = row[y] sprintf("%c", 65 + int(9 * rand()))
        square = "zzzzzzzzzzzzzzzzzzzzzzzz"
        for (f = 0; f < n; f++) {
            at = 1 + 3 * f % (w - 24)
            print "FRAME"
            for (y = 0; y < h; y++)
                printf "%s", (y > 19 && y < 44) ? substr(row[y], 1, at - 1) square substr(row[y], at + 24) : row[y]
        }
    }'
}
frames_in() { ffprobe -v error -count_frames -show_entries stream=nb_read_frames -of csv=p=0 "$1" 2>&1; }
status_is() { # TITLE WANTED...: of the last run, in $code
    local title=$1 wanted
    shift
    for wanted in "$@"; do
        if [ "$code" = "$wanted" ]; then
            ok
            return
        fi
    done
    bad "$title: exit $code instead of $*: $(head -c 300 stderr)"
}
# One line a run at most: what it says is for a person.
quiet() { if [ "$(wc -l <stderr)" -le "$2" ]; then ok; else bad "$1: says $(head -n 5 stderr)"; fi; }
# Every process that this script has started, and those that these have: known by a word in their environment.
export RUNGS_SOAK=$work
still_running() {
    local file name
    for file in $(grep -lsz "^RUNGS_SOAK=$work\$" /proc/[0-9]*/environ); do
        name=$(cat "${file%environ}comm" 2>/dev/null)
        case $name in rungs | ffmpeg | ffprobe) grep -q ') Z ' "${file%environ}stat" || printf '%s ' "$name" ;; esac
    done
}
nothing_left() { # TITLE
    local left
    left=$(find . -name '.rungs-*')
    [ -z "$left" ] && ok || bad "$1: left $left"
    left=$(still_running)
    [ -z "$left" ] && ok || bad "$1: $left still run"
}
# The frames of a video that a fault has ended are those that rungs says it has written.
plays() { # TITLE FILE
    local said there
    said=$(sed -n 's/^\([0-9]*\) frames.*/\1/p' stdout)
    if [ ! -e "$2" ]; then
        [ -z "$said" ] && ok || bad "$1: $2 is not there"
        return
    fi
    there=$(frames_in "$2")
    [ "$there" = "$said" ] && ok || bad "$1: $there frames play of '$said'"
}
# Runs rungs in the background; the fault is the caller's.
begin() {
    env --default-signal=INT "$rungs" "$@" >stdout 2>stderr &
    child=$!
}
end() {
    wait $child
    code=$?
}
# Waits for a child of the running rungs whose command line fits.
find_child() { # PATTERN
    local file try
    for try in $(seq 6000); do
        for file in $(grep -ls "^PPid:[[:space:]]*$child\$" /proc/[0-9]*/status); do
            found=${file%/status} found=${found#/proc/}
            tr '\0' ' ' 2>/dev/null <"/proc/$found/cmdline" | grep -q -- "$1" && return 0
        done
        kill -0 $child 2>/dev/null || return 1
        sleep 0.05
    done
    return 1
}

# All versions, as far as they run here; the emulated ones on a smaller video.
"$rungs" list motion --json | tr -d '\n' | grep -o '"id": "[^"]*"[^{}]*"runs_here": true, *"emulated": [a-z]*' |
    sed 's/"id": "\([^"]*\)".*"emulated": \([a-z]*\)/\1 \2/' >versions
of_side() { sed -n "s/^\($1\/[^ ]*\) .*/\1/p" versions; }
emulated() { grep -qx "$1 true" versions; }
# The sides by turns, so that a short soak meets each of them.
all=$(paste -d '\n' <(of_side cpu) <(of_side cuda) <(of_side peer))
video 96 72 40 >small.y4m
video 160 120 100 >large.y4m
mkdir disk
if mount -t tmpfs -o size=64k tmpfs disk 2>/dev/null; then mounted=$work/disk; fi
has_ffmpeg=
if command -v ffmpeg >/dev/null && command -v ffprobe >/dev/null; then has_ffmpeg=yes; fi
[ -z "$has_ffmpeg" ] || ffmpeg -nostdin -v error -y -i large.y4m -c:v mpeg4 large.mp4 </dev/null || bad "ffmpeg cannot make its video"
"$rungs" run motion:cpu/serial small.y4m -o small.csv >/dev/null || bad "no boxes to compare with"
"$rungs" run motion:cpu/serial large.y4m -o large.csv >/dev/null || bad "no boxes to compare with"

# --- flat memory: one process, an endless video, its memory at a quarter and at the end
memory_of() { awk '/^VmRSS/ {print $2}' "/proc/$1/status" 2>/dev/null; }
flat() { # VERSION SECONDS
    rm -f pipe
    mkfifo pipe
    local input=large
    emulated $1 && input=small
    { head -n 1 $input.y4m; while tail -n +2 $input.y4m 2>/dev/null; do :; done; } >pipe 2>/dev/null &
    local feeder=$! early late
    env --default-signal=INT "$rungs" run "motion:$1" - -o endless.csv <pipe >stdout 2>stderr &
    child=$!
    sleep "$(awk "BEGIN {print $2 / 4}")"
    early=$(memory_of $child)
    sleep "$(awk "BEGIN {print 3 * $2 / 4}")"
    late=$(memory_of $child)
    kill -INT $child
    end
    kill $feeder 2>/dev/null
    wait $feeder 2>/dev/null
    status_is "$1, endless" 130
    # Ctrl-C: every frame that rungs says it has written is in the boxes' file, whole lines only.
    [ -n "$early" ] && [ -n "$late" ] && [ "$late" -le $((early + 4096)) ] && ok || bad "$1: memory from '$early' KiB to '$late' KiB"
    [ "$(tail -c 1 endless.csv | od -An -tx1 | tr -d ' ')" = 0a ] && ok || bad "$1, endless: half a line"
    nothing_left "$1, endless"
}

# --- the faults, each for one version
right() { # VERSION
    local input=large
    emulated $1 && input=small # it would take minutes
    begin run "motion:$1" $input.y4m -o boxes.csv
    end
    status_is "$1" 0
    cmp -s boxes.csv $input.csv && ok || bad "$1: other boxes than cpu/serial"
    nothing_left "$1"
}
decoder_killed() { # VERSION
    rm -f out.mp4
    begin run "motion:$1" large.mp4 -o out.mp4
    if find_child 'proc/self/fd/0.*image2pipe'; then kill -KILL "$found" 2>/dev/null; fi
    end
    status_is "$1, decoder killed" 2 0 # 0: it had decoded all of it by then
    quiet "$1, decoder killed" 1
    plays "$1, decoder killed" out.mp4
    nothing_left "$1, decoder killed"
}
encoder_killed() { # VERSION
    rm -f out.mp4
    begin run "motion:$1" large.mp4 -o out.mp4
    if find_child 'rawvideo'; then kill -KILL "$found" 2>/dev/null; fi
    end
    status_is "$1, encoder killed" 2 0
    quiet "$1, encoder killed" 1
    [ $code = 0 ] || [ ! -e out.mp4 ] && ok || bad "$1, encoder killed: a file that is not complete"
    nothing_left "$1, encoder killed"
}
disk_full() { # VERSION
    [ -n "$mounted" ] || return
    rm -f disk/*
    begin run "motion:$1" small.y4m -o 'disk/f_%03d.ppm' --boxes boxes.csv
    end
    status_is "$1, disk full" 2
    quiet "$1, disk full" 1
    grep -q 'No space left' stderr && ok || bad "$1, disk full: says $(cat stderr)"
    # Pictures that are there are whole.
    [ -z "$(find disk -name '*.ppm' ! -size 20749c)" ] && ok || bad "$1, disk full: $(ls -l disk)"
    nothing_left "$1, disk full"
    rm -f disk/*
}
interrupted() { # VERSION
    rm -f out.mp4
    begin run "motion:$1" large.mp4 -o out.mp4 --boxes boxes.csv
    find_child rawvideo
    sleep 0.1
    kill -INT $child 2>/dev/null
    end
    status_is "$1, Ctrl-C" 130 0
    quiet "$1, Ctrl-C" 1
    plays "$1, Ctrl-C" out.mp4
    nothing_left "$1, Ctrl-C"
}
memory_short() { # VERSION: of the emulated device, less than two frames of the small video take, each time another size
    local bytes=$((3000 * (1 + rounds % 13)))
    RUNGS_EMULATOR_MEMORY=$bytes "$rungs" run "motion:$1" small.y4m -o short.csv >stdout 2>stderr
    code=$?
    status_is "$1, $bytes bytes on the device" 2
    grep -qi 'memory' stderr && ok || bad "$1, device memory short: says $(cat stderr)"
    quiet "$1, device memory short" 1
    nothing_left "$1, device memory short"
}

started=$SECONDS
# Three tenths of the time for memory, of one version of each side; then each version in turn: right, then one fault, another one in the next pass.
for side in cpu cuda peer; do
    version=$(of_side $side | tail -n 1)
    [ $side != cpu ] || version=cpu/simd
    [ -z "$version" ] || flat "$version" "$(awk "BEGIN {print $seconds / 10}")"
done
faults=(disk_full decoder_killed encoder_killed interrupted)
[ -n "$has_ffmpeg" ] || faults=(disk_full)
tried=" "
while [ $((SECONDS - started)) -lt "$seconds" ]; do
    for version in $all; do
        [ $((SECONDS - started)) -lt "$seconds" ] || break
        right $version
        if emulated $version; then
            # With ffmpeg it would take minutes; the faults of ffmpeg are the same for all.
            if [ $((rounds % 2)) = 0 ]; then fault=memory_short; else fault=disk_full; fi
        else
            fault=${faults[$((rounds % ${#faults[@]}))]}
        fi
        $fault $version
        tried="$tried$version:$fault "
        rounds=$((rounds + 1))
    done
done
echo "soak tried:$tried"
echo "soak: $rounds rounds in $((SECONDS - started)) s"
[ -n "$has_ffmpeg" ] || { echo "skip killed programs: no ffmpeg on this machine"; skipped=$((skipped + 1)); }
[ -n "$mounted" ] || { echo "skip full disk: no tmpfs may be mounted here"; skipped=$((skipped + 1)); }
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
