#!/bin/sh
# Every step of the moving-object detector as a picture, and all of them on one sheet: frame, gray, blurred | difference
# (8 times as bright), mask, closed | opened, labels, boxes.
# usage: contact_sheet.sh RUNGS VIDEO NUMBER SHEET.png      NUMBER: which frame of VIDEO, from 2; the first is background
set -eu
[ $# = 4 ] || { echo "usage: contact_sheet.sh RUNGS VIDEO NUMBER SHEET.png" >&2; exit 2; }
rungs=$1 video=$2 number=$3 sheet=$4
if ! command -v ffmpeg >/dev/null; then
    echo "contact_sheet.sh: needs ffmpeg: apt-get install ffmpeg" >&2
    exit 2
fi
case $number in
*[!0-9]* | '' | 0 | 1) echo "contact_sheet.sh: frame '$number': a number from 2, the first is the background" >&2; exit 2 ;;
esac
[ -r "$video" ] || { echo "contact_sheet.sh: $video: cannot be read" >&2; exit 2; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

run() { "$rungs" run "$@" >/dev/null; }

# The video as pictures, the detector's boxes drawn by the pipeline itself; then the steps one by one, cpu/serial.
if [ -d "$video" ]; then
    pattern="$video/frame_%04d.png" start=0
else
    ffmpeg -v error -i "$video" -frames:v "$number" "$work/in_%04d.png"
    pattern="$work/in_%04d.png" start=1
fi
first=$(printf "$pattern" $start) frame=$(printf "$pattern" $((start + number - 1)))
[ -f "$frame" ] || { echo "contact_sheet.sh: $video: no frame $number" >&2; exit 2; }
mkdir "$work/two"
cp "$first" "$work/two/0.png"
cp "$frame" "$work/two/1.png"
for name in first frame; do
    eval "from=\$$name"
    run grayscale:cpu/serial "$from" -o "$work/${name}_gray.png"
    run blur:cpu/serial "$work/${name}_gray.png" -o "$work/${name}_blurred.png"
done
run absdiff:cpu/serial "$work/frame_blurred.png" "$work/first_blurred.png" -o "$work/difference.png"
run threshold:cpu/serial "$work/difference.png" -o "$work/mask.png" -p value=25
run morphology:cpu/serial "$work/mask.png" -o "$work/closed.png" -p op=close
run morphology:cpu/serial "$work/closed.png" -o "$work/opened.png" -p op=open
run labelling:cpu/serial "$work/opened.png" -o "$work/labels.png"
run motion:cpu/serial "$work/two" -o "$work/boxes"
boxes=$(ls "$work/boxes"/* | tail -n 1)

cell="scale=288:-2:flags=area,format=rgb24,pad=iw+4:ih+4:2:2:color=gray"
ffmpeg -v error -y -i "$frame" -i "$work/frame_gray.png" -i "$work/frame_blurred.png" -i "$work/difference.png" \
    -i "$work/mask.png" -i "$work/closed.png" -i "$work/opened.png" -i "$work/labels.png" -i "$boxes" -filter_complex "
    [0]$cell[a];[1]$cell[b];[2]$cell[c];[3]lutrgb=r=val*8:g=val*8:b=val*8,$cell[d];[4]$cell[e];[5]$cell[f];[6]$cell[g];
    [7]$cell[h];[8]$cell[i];
    [a][b][c][d][e][f][g][h][i]xstack=inputs=9:layout=0_0|w0_0|w0+w1_0|0_h0|w0_h0|w0+w1_h0|0_h0+h1|w0_h0+h1|w0+w1_h0+h1" \
    -frames:v 1 -f image2 -c:v png "$work/sheet.png"
mv "$work/sheet.png" "$sheet"
echo "$sheet: frame, gray, blurred | difference x 8, mask, closed | opened, labels, boxes"
