#!/bin/sh
# Gets real photographs and videos out of the Debian/Ubuntu packages opencv-doc and python3-skimage, without installing
# them, into a folder (default: images/fetched). Installed packages are used as they are, others are downloaded (116 MB
# for 20 MB of files). What is there already is not fetched again, and then no network is needed.
# usage: sh images/fetch.sh [FOLDER]       exit status: 0 all there, 1 something could not be fetched, 2 bad use
set -u

# name|pixels|what it is good for
wanted() {
    case $1 in
    opencv-doc) cat <<'LIST' ;;
aloeL.jpg|1282x1110 RGB|the largest natural photograph here: blur, edges, timing (left view of a stereo pair)
aloeR.jpg|1282x1110 RGB|its right view: stereo, matching
aloeGT.png|1282x1110 gray|the true disparity of that pair
building.jpg|868x600 RGB|straight lines and corners: Canny, Hough, Harris
baboon.jpg|512x512 RGB|fine texture: denoising, compression
fruits.jpg|512x480 RGB|coloured objects: segmentation, colour spaces
home.jpg|512x384 RGB|a house: edges, corners, colour histograms
starry_night.jpg|752x600 RGB|a painting: texture, orientation fields
sudoku.png|558x563 RGB|uneven light: adaptive threshold, lines, perspective
board.jpg|640x480 RGB|a circuit board: corners, contours
chessboard.png|3595x3723 RGB|large and sharp: corners, calibration
digits.png|2000x1000 gray|5000 handwritten digits: labelling, classification
smarties.png|413x356 RGB|round sweets: circles, counting
stuff.jpg|640x480 RGB|round and other things on a table: circles, contours
detect_blob.png|541x760 RGB|blobs of many kinds: detection, labelling
ellipses.jpg|400x533 gray|ellipses: contours, fitting
cards.png|640x480 RGB|playing cards: contours, distance transform, watershed
box.png|324x223 gray|a box to be found in box_in_scene.png: template and feature matching
box_in_scene.png|512x384 gray|that box among others
graf1.png|800x640 RGB|a painted wall: features, homography
graf3.png|800x640 RGB|the same wall from the side
leuvenA.jpg|751x563 RGB|cars in bright light: features, histogram matching
leuvenB.jpg|751x563 RGB|the same view in less light
rubberwhale1.png|584x388 RGB|two frames with known kinds of motion: optical flow (first)
rubberwhale2.png|584x388 RGB|the second frame
text_defocus.jpg|697x472 RGB|text out of focus: deconvolution
text_motion.jpg|588x365 RGB|text with motion blur: deconvolution
vtest.avi|768x576, 795 frames|pedestrians before a fixed camera: background subtraction, detection, tracking
tree.avi|320x240, 444 frames|a tree in the wind: background models that must live with motion
Megamind.avi|720x528, 270 frames|a film clip: video input and output, optical flow
LIST
    python3-skimage) cat <<'LIST' ;;
astronaut.png|512x512 RGB|a portrait: skin, smooth and sharp regions, colour
camera.png|512x512 gray|the classic for gray-level filters and edges
coffee.png|600x400 RGB|a cup: ellipses, segmentation
chelsea.png|451x300 RGB|a cat: fine hair, denoising
rocket.jpg|640x427 RGB|a rocket at night: high contrast
hubble_deep_field.jpg|1000x872 RGB|galaxies: blobs, counting, noise
retina.jpg|1411x1411 RGB|an eye's blood vessels: ridges, local contrast
moon.png|512x512 gray|low contrast: histogram equalisation
coins.png|384x303 gray|coins on an uneven background: threshold, labelling, watershed
page.png|384x191 gray|a page in uneven light: local threshold
text.png|448x172 gray|text in uneven light: local threshold
cell.png|550x660 gray|a cell under a microscope: phase contrast, segmentation
clock_motion.png|400x300 gray|a clock with motion blur: deconvolution
horse.png|400x328 RGB|a black shape: morphology, skeletons, convex hull
phantom.png|400x400 RGB|the Shepp-Logan phantom: Radon transform
brick.png|512x512 gray|texture: local binary patterns, co-occurrence
grass.png|512x512 gray|texture
gravel.png|512x512 gray|texture
ihc.png|512x512 RGB|stained tissue: colour deconvolution
motorcycle_left.png|741x500 RGB|stereo pair (left)
motorcycle_right.png|741x500 RGB|stereo pair (right)
LIST
    esac
}

packages='opencv-doc python3-skimage'
licenses() {
    case $1 in
    opencv-doc) echo 'Apache-2.0 and BSD-3-Clause as a whole, see COPYRIGHT.opencv-doc' ;;
    python3-skimage) echo 'BSD-3-Clause as a whole, see COPYRIGHT.python3-skimage' ;;
    esac
}

if [ $# -gt 1 ]; then
    echo "usage: sh images/fetch.sh [FOLDER]" >&2
    exit 2
fi
folder=${1:-$(dirname "$0")/fetched}
case $folder in
'' | -*)
    echo "usage: sh images/fetch.sh [FOLDER]" >&2
    exit 2
    ;;
esac

# A package is done when its copyright file is there, which is put in place after all its pictures.
is_done() {
    [ -s "$folder/COPYRIGHT.$1" ] && [ -s "$folder/README.txt" ]
}

missing=
for package in $packages; do
    is_done "$package" || missing="$missing $package"
done
[ -z "$missing" ] && exit 0

complain() {
    echo "images/fetch.sh: $*" >&2
}

mkdir -p "$(dirname "$folder")" || exit 1
work=$(mktemp -d "$folder.XXXXXX") && work=$(cd "$work" && pwd) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
mkdir "$work/new" || exit 1

# Prints the files that a package offers for one wanted name, the best first: those of a data folder, not the web pages'.
candidates() { # LIST-OF-PATHS NAME
    awk -v name="$2" '
        { n = split($0, part, "/"); base = part[n] }
        base == name || base == name ".gz" { print (part[n - 1] == "data" ? 0 : 1) "\t" $0 }' "$1" | sort | cut -f 2-
}

# Copies the wanted files of a package whose paths are in a list; fails when there is none.
collect() { # PACKAGE LIST-OF-PATHS
    mkdir -p "$work/got" && rm -rf "$work/got/$1" && mkdir "$work/got/$1" || return 1
    wanted "$1" | while IFS='|' read -r name _; do
        candidates "$2" "$name" | while IFS= read -r path; do
            case $path in
            *.gz) gzip -dc "$path" >"$work/got/$1/$name" 2>/dev/null ;;
            *) cp "$path" "$work/got/$1/$name" 2>/dev/null ;;
            esac && [ -s "$work/got/$1/$name" ] && break
            rm -f "$work/got/$1/$name"
        done
    done
    [ -n "$(ls "$work/got/$1")" ] || return 1
    copyright=$(grep "/share/doc/$1/copyright\$" "$2" | head -n 1)
    if [ -n "$copyright" ] && [ -s "$copyright" ]; then
        cp "$copyright" "$work/got/$1/COPYRIGHT.$1"
    else
        echo "See the package $1 of Debian or Ubuntu." >"$work/got/$1/COPYRIGHT.$1"
    fi
}

from_installed() {
    dpkg-query -W -f '${db:Status-Status}\n' "$1" 2>/dev/null | grep -qx installed || return 1
    dpkg -L "$1" >"$work/list" 2>/dev/null || return 1
    collect "$1" "$work/list"
}

# Root's downloads would only warn that the user _apt cannot write to our folder.
download() { # PACKAGE
    (cd "$work" && apt-get -q -o APT::Sandbox::User=root -o Acquire::Retries=1 -o Acquire::http::Timeout=30 \
        download "$1" >"$work/log" 2>&1 </dev/null)
}

updated=
update() {
    [ -n "$updated" ] && return 1
    updated=yes
    if [ "$(id -u)" = 0 ]; then
        apt-get -q update >"$work/log" 2>&1 </dev/null
    elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
        # shellcheck disable=SC2024 # the log is ours
        sudo -n apt-get -q update >"$work/log" 2>&1 </dev/null
    else
        return 1
    fi
}

from_download() {
    package=$1
    for tool in apt-get dpkg-deb tar; do
        if ! command -v "$tool" >/dev/null; then
            complain "$package: not installed here, and without $tool it cannot be fetched (Debian and Ubuntu have it)"
            return 1
        fi
    done
    echo "images: downloading $package (not installing it)" >&2
    # Lists that are missing or out of date are the usual reason for a failure.
    if ! download "$package" && ! { update && download "$package"; }; then
        reason=$(sed -n 's/^E: *//p' "$work/log" | tail -n 1)
        if [ -n "$updated" ] && { [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null; }; then
            complain "$package: cannot be downloaded: ${reason:-apt-get failed}"
        else
            complain "$package: cannot be downloaded: ${reason:-apt-get failed}; try: sudo apt-get update && make images"
        fi
        return 1
    fi
    rm -rf "$work/tree" && mkdir "$work/tree" || return 1
    set -- "*/share/doc/$package/copyright"
    for name in $(wanted "$package" | cut -d '|' -f 1); do
        set -- "$@" "*/$name" "*/$name.gz"
    done
    # tar fails when a pattern fits nothing, which one of each pair does: what counts is what came out.
    dpkg-deb --fsys-tarfile "$work/$package"_*.deb 2>"$work/log" | tar -x -C "$work/tree" --wildcards "$@" 2>/dev/null
    rm -f "$work/$package"_*.deb
    find "$work/tree" -type f >"$work/list"
    if ! collect "$package" "$work/list"; then
        complain "$package: none of the expected pictures is in the package"
        return 1
    fi
}

failed=
for package in $missing; do
    from_installed "$package" || from_download "$package" || failed="$failed $package"
done
if [ ! -d "$work/got" ] || [ -z "$(find "$work/got" -name 'COPYRIGHT.*')" ]; then
    complain "no picture fetched; the synthetic ones in images/ need no network"
    exit 1
fi

describe() {
    echo "Real photographs and videos out of Debian/Ubuntu packages; fetched by images/fetch.sh, described in"
    echo "images/README.md. Not part of Rungs: each is its authors', see the copyright file of its package."
    for package in $packages; do
        found=$work/got/$package
        [ -d "$found" ] || found=$folder
        [ -s "$found/COPYRIGHT.$package" ] || continue
        printf '\nFrom the package %s (%s)\n\n' "$package" "$(licenses "$package")"
        printf '%-22s %9s  %-22s %s\n' file bytes pixels 'good for'
        wanted "$package" | while IFS='|' read -r name pixels use; do
            if [ -s "$found/$name" ]; then
                printf '%-22s %9d  %-22s %s\n' "$name" "$(wc -c <"$found/$name")" "$pixels" "$use"
            else
                printf '%-22s %9s  %-22s %s\n' "$name" - "$pixels" 'not in this version of the package'
            fi
        done
    done
}
describe >"$work/new/README.txt" || exit 1

chmod 755 "$work/new"
if [ -d "$folder" ]; then
    # Each file appears whole, and the copyright files, which say that a package is done, last.
    for package in $missing; do
        [ -d "$work/got/$package" ] || continue
        find "$work/got/$package" -type f ! -name 'COPYRIGHT.*' -exec mv -f {} "$folder/" \; || exit 1
    done
    mv -f "$work/new/README.txt" "$folder/" || exit 1
    for package in $missing; do
        [ -d "$work/got/$package" ] || continue
        mv -f "$work/got/$package/COPYRIGHT.$package" "$folder/" || exit 1
    done
else
    for package in $missing; do
        [ -d "$work/got/$package" ] || continue
        find "$work/got/$package" -type f -exec mv {} "$work/new/" \; || exit 1
    done
    mv -T "$work/new" "$folder" || exit 1
fi
echo "images: $(find "$folder" -type f ! -name 'COPYRIGHT.*' ! -name README.txt | wc -l) files in $folder, described in README.txt there" >&2
[ -z "$failed" ]
