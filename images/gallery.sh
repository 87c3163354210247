#!/bin/sh
# Pictures of what the documents show: corners, lines, a pyramid, faces and what is left after ten stages, the texture of patches.
# With OURS=yes only those of pictures that we made, which are in images/gallery/ and on the pages of the documents.
# usage: gallery.sh RUNGS FOLDER
set -eu
[ $# = 2 ] || { echo "usage: gallery.sh RUNGS FOLDER" >&2; exit 2; }
rungs=$1 folder=$2 photographs=images/fetched
mkdir -p "$folder"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

run() { "$rungs" run "$@" >/dev/null; }

python3 -B cpu/hough/scene.py --width 480 --height 320 --lines 8 --noise 0.01 --seed 1 "$work/lines.pgm"
run harris:cpu/serial images/shapes.png -o corners="$folder/shapes_corners.png"
run hough:cpu/serial "$work/lines.pgm" -o lines="$folder/scene_lines.png"
run pyramid:cpu/serial images/zone_plate.png -o "$folder/zone_plate_pyramid.png" -p scale=1.5
[ "${OURS:-no}" = no ] || exit 0
if [ ! -d "$photographs" ]; then
    echo "gallery.sh: $photographs is not here: make images" >&2
    exit 2
fi
run harris "$photographs/building.jpg" -o corners="$folder/building_corners.png"
run hough "$photographs/building.jpg" -o lines="$folder/building_lines.png" -p edges=sobel -p edge=400 -p threshold=250
run pyramid "$photographs/camera.png" -o "$folder/camera_pyramid.png" -p scale=1.5
run detect "$photographs/astronaut.png" -o detections="$folder/astronaut_faces.png"
# All windows that pass ten stages, none of them joined.
run detect "$photographs/astronaut.png" -o detections="$folder/astronaut_ten_stages.png" -p stages=10 -p min_response=-1000000 \
    -p neighbours=1 -p overlap=1 -p maximum=4096
run texture "$photographs/box_in_scene.png" -o "$folder/box_in_scene_texture.png"
ls "$folder"
