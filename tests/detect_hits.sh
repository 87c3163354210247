#!/bin/sh
# All versions of detect find the same hits, to the bit, in all pictures of the folders: what a check with pictures of its own
# cannot show. Emulated versions get copies of at most SMALL pixels a side, which ffmpeg makes: whole photographs would take them
# hours. Every window that no stage rejects is compared, whatever its response, so that pictures without faces have some, too.
# Not part of make test: 200 photographs take minutes, and those with faces are the user's.
# usage: detect_hits.sh BUILD-FOLDER FOLDER...        PICTURES=200: the first so many, all must be there (default: all)
#                                                     VERSIONS="cpu/simd cuda/v2.4" chooses (default: all); SMALL=96
# exit status: 0 all the same, 1 not, 2 bad use
set -u
[ $# -ge 2 ] || {
    echo "usage: detect_hits.sh BUILD-FOLDER FOLDER..." >&2
    exit 2
}
build=$1
shift
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
small=${SMALL:-96} failed=0 pictures=0
mkdir "$work/whole" "$work/small"
for folder; do
    for path in "$folder"/*.jpg "$folder"/*.jpeg "$folder"/*.png "$folder"/*.bmp "$folder"/*.pgm "$folder"/*.ppm; do
        [ -e "$path" ] && [ $pictures -lt "${PICTURES:-1000000}" ] || continue
        pictures=$((pictures + 1))
        ln -s "$(realpath "$path")" "$work/whole/${pictures}_$(basename "$path")"
    done
done
[ $pictures -gt 0 ] && [ $pictures -ge "${PICTURES:-0}" ] || {
    echo "$pictures pictures in $*${PICTURES:+, $PICTURES are asked for}" >&2
    exit 2
}
"$build/rungs" list detect --json | tr -d '\n' | grep -o '"id": "c[^"]*"[^{}]*"runs_here": [a-z]*, *"emulated": [a-z]*' |
    sed 's/"id": "\([^"]*\)".*"runs_here": \([a-z]*\).*"emulated": \([a-z]*\)/\1 \2 \3/' >"$work/versions"

find_hits() { # VERSION FOLDER OUT: a .npy for each picture
    "$build/rungs" run "detect:$1" "$2" -o "hits=$3" --format npy -p maximum=4096 -p min_response=-1000000 >"$work/log" 2>&1 || {
        cat "$work/log" >&2
        return 1
    }
}

# The sum of the rows of all arrays in a folder.
rows() {
    for file in "$1"/*.npy; do
        head -c 128 "$file" | tr -d '\0' | grep -a -o "'shape': ([0-9]*" | tr -cd '0-9\n'
    done | awk '{ sum += $1 } END { print sum + 0 }'
}

# The hits of cpu/serial in a folder of the pictures, and how many they are.
expected() {
    [ -d "$work/serial_$1" ] || find_hits cpu/serial "$work/$1" "$work/serial_$1" || exit 2
    found=$(rows "$work/serial_$1")
}

while read -r version runs emulated; do
    case " ${VERSIONS:-$version} " in *" $version "*) ;; *) continue ;; esac
    size=whole
    [ "$version" != cpu/serial ] || continue
    if [ "$runs" = false ]; then
        echo "skip $version: it does not run here"
        continue
    fi
    if [ "$emulated" = true ]; then
        size=small
        [ -n "$(ls "$work/small")" ] || for path in "$work/whole"/*; do
            ffmpeg -v error -nostdin -i "$path" -vf "scale=$small:$small:force_original_aspect_ratio=decrease" \
                "$work/small/$(basename "${path%.*}").png" || exit 2
        done
    fi
    expected $size
    if find_hits "$version" "$work/$size" "$work/actual" && diff -rq "$work/serial_$size" "$work/actual"; then
        echo "$version: $pictures pictures$([ $size = whole ] || echo " of at most $small pixels a side, emulated"), $found hits, all equal"
    else
        failed=$((failed + 1))
        echo "FAIL $version"
    fi
    rm -rf "$work/actual"
    versions="${versions:-} $version"
done <"$work/versions"
echo "$pictures pictures, $(echo "${versions:-}" | wc -w) versions beside cpu/serial, $failed failed"
[ $failed = 0 ] && [ -n "${versions:-}" ]
