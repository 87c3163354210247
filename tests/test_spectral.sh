#!/bin/sh
# Spectral pictures and tensors: a video's frames are cubes of three bands for pca, the ENVI header that lies and the tensor that
# is none are refused with one line and nothing written, and components are numpy's. usage: sh tests/test_spectral.sh BUILD-FOLDER
set -u
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

# refuses TITLE REASON-PATTERN ARGUMENTS OF rungs run...: exit 2, one line on stderr that matches, nothing in the folder out
refuses() {
    title=$1 pattern=$2
    shift 2
    rm -rf out && mkdir out
    "$rungs" run "$@" >stdout 2>stderr
    code=$?
    if [ $code = 2 ] && [ "$(wc -l <stderr)" = 1 ] && grep -Eq -- "$pattern" stderr && [ -z "$(ls -A out)" ]; then
        ok
    else
        bad "$title: exit $code instead of 2, or '$(cat stderr)' does not match '$pattern', or left '$(ls -A out)'"
    fi
}

same() { if cmp -s "$2" "$3"; then ok; else bad "$1: $2 and $3 differ"; fi; }

# --- frames of a video
mkdir shots drawn
for frame in 1 2 3; do
    LC_ALL=C awk -v f=$frame 'BEGIN {
        printf "P6\n20 14\n255\n"
        for (y = 0; y < 14; y++) for (x = 0; x < 20; x++) printf "%c%c%c", 40 + 3 * x + f, 50 + 4 * y, 60 + (x * y + f) % 50
    }' >shots/$frame.ppm
done
succeeds "pca of a video" "$rungs" run pca:cpu/simd shots/%d.ppm -o drawn/%d.png
for frame in 1 3; do
    succeeds "pca of frame $frame" "$rungs" run pca:cpu/simd shots/$frame.ppm -o $frame.png
    same "frame $frame is what it is as a picture" $frame.png "$(ls drawn/*.png | sed -n ${frame}p)"
done
if command -v ffmpeg >/dev/null; then
    succeeds "pca into an mp4" "$rungs" run pca shots/%d.ppm -o out.mp4
    succeeds "pca of an mp4 into an mp4" "$rungs" run pca:cpu/simd out.mp4 -o again.mp4 -p stretch=sigma
    [ -s again.mp4 ] || bad "pca of an mp4: no video"
else
    skip "pca into an mp4: there is no ffmpeg"
fi
refuses "values of a video" "values of a video goes to .csv" pca shots/%d.ppm -o values=out/v.npy
refuses "more components than a frame has bands" "components" pca shots/%d.ppm -o out/%d.png -p components=4

# --- cubes whose header lies
head -c 96 /dev/zero | tr '\0' 'k' >cube.dat # 4 x 3 pixels of 8 bands, u8
header() { # SAMPLES LINES BANDS TYPE INTERLEAVE
    printf 'ENVI\nsamples = %s\nlines = %s\nbands = %s\ndata type = %s\ninterleave = %s\nbyte order = 0\n' "$@" >cube.hdr
}
header 4 3 8 1 bip
succeeds "a cube" "$rungs" run correlation cube.hdr -o true.npy
header 4 3 9 1 bip
refuses "more bands than data" "cube.dat|cube.hdr" correlation cube.hdr -o out/r.npy
header 4 2 8 1 bip
refuses "fewer lines than data" "cube.dat|cube.hdr" correlation cube.hdr -o out/r.npy
header 4 3 8 12 bil
refuses "another type than the data" "cube.dat|cube.hdr" correlation cube.hdr -o out/r.npy
header 4 3 8 6 bsq
refuses "complex samples" "data type" correlation cube.hdr -o out/r.npy
header 4 3 8 1 bop
refuses "an interleave that there is not" "interleave" correlation cube.hdr -o out/r.npy
header 0 3 8 1 bip
refuses "no samples" "samples" correlation cube.hdr -o out/r.npy
header 2 1 8 5 bip
head -c 128 /dev/zero >cube.dat
refuses "f64 samples" "correlation takes" correlation cube.hdr -o out/r.npy

# --- pixels with the data ignore value and bands with a 0 in bbl: the results of a cube without them; i16 is taken as f32
python3 - <<'EOF'
import random, struct
random.seed(4)
pixels = [[random.randrange(-300, 300) for _ in range(5)] for _ in range(7 * 4)]
fill = {0, 5, 13, 26}
def cube(name, spectra, width, kind, letter, more=""):
    with open(name + ".hdr", "w") as file:
        file.write(f"ENVI\nsamples = {width}\nlines = {len(spectra) // width}\nbands = {len(spectra[0])}\ndata type = {kind}\ninterleave = bip\nbyte order = 1\n{more}")
    with open(name + ".img", "wb") as file:
        file.write(b"".join(struct.pack(">%d%s" % (len(s), letter), *s) for s in spectra))
filled = [[-9999] * 5 if i in fill else s for i, s in enumerate(pixels)]
cube("filled", filled, 7, 2, "h", "data ignore value = -9999\nbbl = {1, 0, 1, 1, 1}\n")
cube("without", [[s[b] for b in (0, 2, 3, 4)] for i, s in enumerate(pixels) if i not in fill], 24, 4, "f")
cube("bands", [[s[0]] for s in filled], 7, 2, "h", "data ignore value = -9999\n")
EOF
for name in filled without; do
    succeeds "correlation of $name" "$rungs" run correlation $name.hdr -o $name.csv -p center=1
    succeeds "pca of $name" "$rungs" run pca:cpu/simd $name.img -o values=$name.values.csv -o components=$name.npy -o $name.ppm
    succeeds "kmeans of $name" "$rungs" run kmeans $name.img -o labels=$name.labels.csv -o centroids=$name.centroids.csv -p k=3 -p iterations=4
    for result in .csv .values.csv .centroids.csv; do
        [ $name = filled ] || same "without pixels and bands: $result" filled$result without$result
    done
done
succeeds "what is said of pixels that are left out" "$rungs" run pca filled.hdr -o filled.ppm
grep -q '^4 of them have the data ignore value and are left out$' stdout || bad "what is said of pixels that are left out: $(cat stdout)"
grep -q '^pca:.* 7x4 -> filled.ppm$' stdout || bad "the size of a cube with pixels that are left out: $(cat stdout)"
succeeds "results lie where the pixels lay" python3 -c '
import struct
fill = {0, 5, 13, 26}
rows = [line.split(",") for line in open("filled.labels.csv").read().split()]
labels = [int(word) for row in rows for word in row]
assert len(rows) == 4 and len(labels) == 28 and all((label == -1) == (i in fill) for i, label in enumerate(labels)), labels
assert [label for label in labels if label >= 0] == [int(word) for word in open("without.labels.csv").read().replace(",", " ").split()]
whole, part = (struct.unpack("<%df" % (3 * n), open(name, "rb").read()[-12 * n:]) for name, n in (("filled.npy", 28), ("without.npy", 24)))
assert all((value != value) == (i // 3 in fill) for i, value in enumerate(whole)), whole
assert [value for value in whole if value == value] == list(part)
whole, part = (open(name, "rb").read().split(b"255\n", 1)[1] for name in ("filled.ppm", "without.ppm"))
assert all(whole[3 * i : 3 * i + 3] == b"\0\0\0" for i in fill) and b"".join(whole[3 * i : 3 * i + 3] for i in range(28) if i not in fill) == part'
refuses "one band" "one band, of which no pixel can be left out" kmeans bands.hdr -o out/x.csv -p k=2
refuses "an algorithm whose pixels are no set" "4 of 28 pixels have its data ignore value, and here all are needed" ntf filled.hdr -o out/x.npy
refuses "a matrix" "pixels have its data ignore value" eigen bands.hdr -o out/x.csv

# --- f32 samples whose products overflow, an infinity among small ones, products too small for f32
header 2 1 1 4 bip
for bad in '\0\0\0\0\0\0\200\130' '\0\0\200\77\0\0\200\177' '\0\0\200\77\0\0\300\177'; do # 0 2^50, 1 infinity, 1 NaN
    printf "$bad" >cube.dat
    case $bad in
    *130) succeeds "2^50" "$rungs" run correlation:cpu/simd cube.hdr -o true.npy ;;
    *) refuses "no finite sample" "pixel .1,0., band 0 is (inf|nan): correlation" correlation cube.hdr -o out/r.npy ;;
    esac
done
printf '\0\0\0\0\1\0\200\130' >cube.dat
refuses "a sample above 2^50" "is 1.1259e.15: correlation takes up to 2.50" correlation cube.hdr -o out/r.npy
refuses "a component of it" "pixel .1,0., band 0 is 1.1259e.15: pca takes up to 2.50" pca cube.hdr -o out/r.png -p components=1

# --- tensors, one band, one pixel
npy() { # FILE DESCR SHAPE, with the samples on stdin
    { printf '\223NUMPY\001\000v\000%-117s\n' "{'descr': '$2', 'fortran_order': False, 'shape': ($3), }"; cat; } >"$1"
}
head -c 24 /dev/zero | tr '\0' '\7' | npy small.npy '|u1' '2, 3, 4'
printf '\0\0\0\77\0\0\0\277\0\0\0\77\0\0\0\77' | npy negative.npy '<f4' '2, 2, 1'
printf '\0\0\0\77\0\0\300\177\0\0\0\77\0\0\0\77' | npy nan.npy '<f4' '2, 2, 1'
head -c 12 /dev/zero | npy band.npy '|u1' '3, 4, 1'
printf 'abcde' | npy pixel.npy '|u1' '1, 1, 5'
succeeds "a tensor of one value" "$rungs" run ntf small.npy -o a.npy -p rank=2
refuses "a negative sample" "is -0.5" ntf negative.npy -o out/a.npy -p rank=1
refuses "NaN" "nan" ntf nan.npy -o out/a.npy -p rank=1
refuses "rank 0" "rank" ntf small.npy -o out/a.npy -p rank=0
refuses "a rank above the sizes" "has rank 6 at most, not 7" ntf small.npy -o out/a.npy -p rank=7
refuses "an error above 1 as the target" "target" ntf small.npy -o out/a.npy -p target=1.5
refuses "three components of one band" "component" pca band.npy -o out/a.png
succeeds "one component of one band" "$rungs" run pca band.npy -o a.png -p components=1
succeeds "one pixel" "$rungs" run pca pixel.npy -o a.png
printf '\0\0\0\0\0\0\360\177' | npy infinite.npy '<f8' '1, 1'
"$rungs" run eigen:cpu/simd infinite.npy -o values=values.npy >stdout 2>stderr
code=$?
if [ $code = 2 ] && [ ! -e values.npy ] && grep -q "not all of it is finite" stderr; then ok; else bad "an infinite matrix: exit $code: $(cat stderr)"; fi

# --- a matrix whose squares are too small for a double has the values of the same one times 2^500, times 2^-500
for power in 0 -500; do
    python3 -c "
import math, struct, sys
numbers = [math.ldexp(math.sin(1 + min(y, x) * 81 + max(y, x)), $power) for y in range(81) for x in range(81)]
sys.stdout.buffer.write(struct.pack('<6561d', *numbers))" | npy times$power.npy '<f8' '81, 81'
done
for version in tridiagonal cache_blocking; do
    for power in 0 -500; do
        succeeds "eigen:cpu/$version of a matrix times 2^$power" "$rungs" run eigen:cpu/$version times$power.npy -o values=values$power.npy
    done
    succeeds "cpu/$version: values of a tiny matrix" python3 -c "
import math, struct
plain, tiny = (struct.unpack('<81d', open(f'values{power}.npy', 'rb').read()[-81 * 8:]) for power in (0, -500))
worst = max(abs(math.ldexp(b, 500) - a) for a, b in zip(plain, tiny))
assert 1 < max(plain) and worst < 1e-12 * max(plain), worst"
done

# --- the same components as numpy's, up to their signs
if python3 -c 'import numpy' 2>/dev/null; then
    python3 -c '
import numpy
random = numpy.random.default_rng(5)
cube = random.random((23, 17, 3)) @ random.random((3, 9)) + 0.02 * random.random((23, 17, 9))
numpy.save("cube.npy", cube.astype(numpy.float32))'
    for version in cpu/serial cpu/simd; do
        succeeds "pca:$version of a cube" "$rungs" run pca:$version cube.npy -o a.png -o vectors=vectors.npy -o values=values.npy
        succeeds "$version: components are numpy's" python3 -c '
import numpy
spectra = numpy.load("cube.npy").astype(float).reshape(-1, 9)
values, vectors = numpy.linalg.eigh(numpy.cov(spectra.T, bias=True))
found = numpy.load("vectors.npy")
for k in range(3):
    assert abs(numpy.load("values.npy").ravel()[k] - values[-1 - k]) < 1e-5 * values[-1], k
    assert 1 - abs(found[:, k] @ vectors[:, -1 - k]) < 1e-6, k'
    done
else
    skip "numpy's components: there is no numpy"
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
