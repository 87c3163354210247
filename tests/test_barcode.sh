#!/bin/sh
# Barcodes: bad pictures, histograms, centroids, models and boxes are one clear line and exit status 2, with no file written, in
# runs and in trainings; texture and barcode give answers worked out by hand for a model of two centroids, and the same on every
# side for models of 40 and 256; a training gives the same model twice, which finds stripes in a picture that it has not seen;
# k-means ends at scikit-learn's centroids, and its mini-batches at what a few lines of Python say. Seconds.
# usage: test_barcode.sh BUILD-FOLDER
set -u
build=$1
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0 skipped=0
cd "$(dirname "$0")/.." || exit 2
ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); echo "FAIL $1"; sed 's/^/     /' "$folder/said"; }
export OMP_WAIT_POLICY=passive

if ! command -v python3 >/dev/null; then
    echo "SKIP barcodes: python3, which makes their files, is not here"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
python3 - "$folder" <<'END'
import os, random, struct, sys
folder = sys.argv[1]
random.seed(5)

def npy(name, kind, shape, values):
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    code = {"<f4": "f", "<u2": "H", "|u1": "B", "<f8": "d"}[kind]
    with open(os.path.join(folder, name), "wb") as file:
        file.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack(f"<{len(values)}{code}", *values))

def pgm(path, box, phase):
    """Noise of few levels with stripes of 3 pixels in the box."""
    rows = []
    for y in range(320):
        rows.append(bytes((20 if (x + phase) // 3 % 2 else 230) if box and box[0] <= x < box[2] and box[1] <= y < box[3]
                          else random.choice((90, 100, 110)) for x in range(400)))
    with open(os.path.join(folder, path), "wb") as file:
        file.write(b"P5\n400 320\n255\n" + b"".join(rows))

for name in ("train", "seen", "corner"):
    os.mkdir(os.path.join(folder, name))
boxes = {"a.pgm": (64, 64, 304, 256), "b.pgm": (32, 48, 272, 240), "c.pgm": None}
for i, (name, box) in enumerate(boxes.items()):
    pgm(f"train/{name}", box, i)
pgm("seen/new.pgm", (112, 80, 352, 272), 1)
pgm("corner/corner.pgm", (16, 16, 192, 128), 1)
with open(os.path.join(folder, "seen/new.pgm"), "rb") as file:
    samples = file.read()[-400 * 320:]
with open(os.path.join(folder, "lying.pgm"), "wb") as file:  # the same, transposed: 320x400, its box 192x240 at 80, 112
    file.write(b"P5\n320 400\n255\n" + b"".join(samples[x::400] for x in range(400)))
with open(os.path.join(folder, "mask.pgm"), "wb") as file:
    file.write(b"P5\n400 320\n255\n" + b"".join(bytes(255 if 112 <= x < 352 and 80 <= y < 272 else 0 for x in range(400)) for y in range(320)))
with open(os.path.join(folder, "boxes.csv"), "w") as file:
    file.write("file,xmin,ymin,xmax,ymax\n" + "".join(f"{n},{','.join(map(str, b))}\n" for n, b in boxes.items() if b))
for name, text in (("nocolumn.csv", "file,xmin,ymin,xmax\na.pgm,1,2,3\n"), ("turned.csv", "file,xmin,ymin,xmax,ymax\na.pgm,9,9,3,3\n"),
                   ("words.csv", "file,xmin,ymin,xmax,ymax\na.pgm,1,2,three,4\n"), ("none.csv", "file,xmin,ymin,xmax,ymax\n"),
                   ("far.csv", "file,xmin,ymin,xmax,ymax\na.pgm,1,2,4294967304,4\n"), ("long.csv", "file,xmin,ymin,xmax,ymax" + 1000 * ",a" + "\n"),
                   ("others.csv", "file,xmin,ymin,xmax,ymax\nz.pgm,1,2,30,40\n")):
    with open(os.path.join(folder, name), "w") as file:
        file.write(text)
with open(os.path.join(folder, "small.pgm"), "wb") as file:
    file.write(b"P5\n40 15\n255\n" + bytes(600))
with open(os.path.join(folder, "text.jpg"), "w") as file:
    file.write("no picture\n")
npy("rows.npy", "<u2", (5, 3), range(15))
npy("batches.npy", "<u2", (40, 3), [random.randrange(20) + 40 * (i // 3 % 3) for i in range(120)])
npy("nan.npy", "<f4", (4, 2), [1, 2, 3, float("nan"), 5, 6, 7, 8])
npy("infinite.npy", "<f4", (4, 2), [1, 2, 3, float("inf"), 5, 6, 7, 8])
npy("double.npy", "<f8", (4, 2), range(8))
npy("wide.npy", "|u1", (3, 1025), [0] * 3075)
npy("histograms.npy", "<u2", (1, 2, 256), [256] + [0] * 511)
npy("tall.npy", "<u2", (65536, 1, 256), [])
with open(os.path.join(folder, "tall.npy"), "r+b") as file:
    file.truncate(os.path.getsize(file.name) + 2 * 65536 * 256)
npy("heavy.npy", "<u2", (1, 1, 256), [257] + [0] * 255)
npy("c256.npy", "<f4", (2, 256), [1] * 512)
npy("c255.npy", "<f4", (2, 255), [1] * 510)
npy("negative.npy", "<f4", (1, 256), [-1] + [0] * 255)
npy("many.npy", "<f4", (257, 256), [0] * 257 * 256)
npy("unlikely.npy", "<f4", (1, 257), [1] * 256 + [1.5])
# A black patch, and one of stripes of a pixel, 9 and 0: 0 has code 255; 9 has N and S, 64 + 4, at the upper and lower side one
# of them. Centroids that are exactly these histograms; the second one is barcode. 30 pixels are a patch and one cut off.
stripes = {255: 128, 68: 112, 4: 8, 64: 8}
npy("two.npy", "<f4", (2, 257), [0] * 255 + [256, 0] + [stripes.get(i, 0) for i in range(256)] + [1])
with open(os.path.join(folder, "stripes.pgm"), "wb") as file:
    file.write(b"P5\n32 16\n255\n" + bytes([0] * 16 + [9, 0] * 8) * 16)
with open(os.path.join(folder, "cut.pgm"), "wb") as file:
    file.write(b"P5\n30 16\n255\n" + bytes([0] * 16 + [9, 0] * 7) * 16)
for k in (40, 256):
    values = []
    for j in range(k):
        bins = [0] * 256
        for _ in range(256):
            bins[random.randrange(1 + 255 * j // k + 1) if j % 3 else 255] += 1
        values += bins + [random.random()]
    npy(f"k{k}.npy", "<f4", (k, 257), values)
npy("samples.npy", "<f4", (600, 8), [random.gauss(10 * (i // 8 % 4), 1) for i in range(4800)])
END

refused() { # MESSAGE COMMAND ARGUMENT...: -o is added
    message=$1
    shift
    "$build/rungs" "$@" >"$folder/said" 2>&1
    code=$?
    if [ $code = 2 ] && [ "$(wc -l <"$folder/said")" = 1 ] && grep -q -- "$message" "$folder/said" && [ ! -e "$folder/out.npy" ]; then ok
    else bad "$*: exit status $code, not 2 with '$message'"; rm -f "$folder/out.npy"; fi
}
out="-o $folder/out.npy"
for algorithm in texture barcode; do
    refused "at least .*16x16.*, not 40x15" run $algorithm:serial "$folder/small.pgm" $out
    refused "no f32 matrix" run $algorithm:serial "$folder/seen/new.pgm" $out -p "$([ $algorithm = texture ] && echo centroids || echo model)=$folder/c255.npy"
    refused "no mean of counts" run $algorithm:serial "$folder/seen/new.pgm" $out -p "$([ $algorithm = texture ] && echo centroids || echo model)=$folder/negative.npy"
done
refused "at least one patch" run lbp:serial "$folder/small.pgm" $out
refused "no column 256" run barcode:serial "$folder/seen/new.pgm" $out -p "model=$folder/c256.npy"
refused "is 1.5: no share" run barcode:serial "$folder/seen/new.pgm" $out -p "model=$folder/unlikely.npy"
refused "ksize must be odd" run barcode:serial "$folder/seen/new.pgm" $out -p ksize=4
refused "k=6 clusters need as many rows; there are 5" run kmeans:serial "$folder/rows.npy" $out -p k=6
refused "row 1, feature 1 is NaN" run kmeans:serial "$folder/nan.npy" $out -p k=2
refused "row 1, feature 1 is infinite" run kmeans:serial "$folder/infinite.npy" $out -p k=2
refused "not f64" run kmeans:serial "$folder/double.npy" $out -p k=2
refused "at most 1024 features, not 1025" run kmeans:serial "$folder/wide.npy" $out -p k=2
refused "adds up to 257" run nearest:serial "$folder/heavy.npy" "$folder/c256.npy" $out
refused "at most 65535 a side" run nearest:serial "$folder/tall.npy" "$folder/c256.npy" $out
refused "255 components; histograms have 256 bins" run nearest:serial "$folder/histograms.npy" "$folder/c255.npy" $out
refused "257 centroids, at most 256" run nearest:serial "$folder/histograms.npy" "$folder/many.npy" $out
refused "no mean of counts" run nearest:serial "$folder/histograms.npy" "$folder/negative.npy" $out
refused "needs --boxes" train barcode "$folder/train" $out
refused "no column 'ymax'" train barcode "$folder/train" --boxes "$folder/nocolumn.csv" $out
refused "turned.csv:2: no box" train barcode "$folder/train" --boxes "$folder/turned.csv" $out
refused "'three' is no whole number" train barcode "$folder/train" --boxes "$folder/words.csv" $out
refused "'4294967304' is no whole number of pixels" train barcode "$folder/train" --boxes "$folder/far.csv" $out
refused "long.csv:1: a line of more than 1022 characters" train barcode "$folder/train" --boxes "$folder/long.csv" $out
refused "there is no box in it" train barcode "$folder/train" --boxes "$folder/none.csv" $out
refused "none of its files is among the pictures" train barcode "$folder/train" --boxes "$folder/others.csv" $out
refused "need as many patches" train barcode "$folder/train/c.pgm" "$folder/train/a.pgm" --boxes "$folder/boxes.csv" $out -p rows=10
refused "text.jpg" train texture "$folder/text.jpg" $out
refused "small.pgm" train texture "$folder/small.pgm" $out

# --- by hand
is() { # WHAT FILE EXPECTED
    if [ "$(tr -d '\r' <"$2" | tr '\n' ' ')" = "$3" ]; then ok; else cp "$2" "$folder/said"; bad "$1: not '$3'"; fi
}
versions=cpu
"$build/rungs" list texture 2>/dev/null | grep -q cuda/v2.0 && versions="cpu cuda"
for side in $versions; do
    for version in $([ $side = cpu ] && echo serial omp simd || echo v1.0 v1.3 v2.0); do
        "$build/rungs" run texture:$side/$version "$folder/stripes.pgm" -o "$folder/labels.csv" -p "centroids=$folder/two.npy" >"$folder/said" 2>&1
        is "texture $side/$version of stripes" "$folder/labels.csv" "0,1 "
    done
    version=$([ $side = cpu ] && echo serial || echo v1.3)
    for picture in stripes cut; do
        "$build/rungs" run barcode:$side/$version "$folder/$picture.pgm" -o "$folder/answer.csv" -p "model=$folder/two.npy" \
            -p ksize=3 -p sigma=0.1 -p value=100 -p min_area=1 >"$folder/said" 2>&1
    done
    is "barcode $side/$version of stripes that are cut" "$folder/answer.csv" "x,y,width,height 16,0,14,16 "
done
if [ "$versions" = cpu ]; then
    skipped=$((skipped + 2))
    echo "SKIP CUDA against the CPU: this build has no cuda/ versions"
else
    for k in 40 256; do
        for version in cpu/serial cuda/v1.3 cuda/v2.0; do
            "$build/rungs" run texture:$version "$folder/train/a.pgm" -o "$folder/${version#*/}.npy" -p "centroids=$folder/k$k.npy" >"$folder/said" 2>&1
        done
        if cmp "$folder/serial.npy" "$folder/v1.3.npy" >"$folder/said" 2>&1 && cmp "$folder/serial.npy" "$folder/v2.0.npy" >"$folder/said" 2>&1
        then ok; else bad "texture with k=$k: not the same on both sides"; fi
        rm -f "$folder/serial.npy" "$folder/v1.3.npy" "$folder/v2.0.npy"
    done
fi

# --- a training, twice, and what its model finds
: >"$folder/said"
for run in 1 2; do
    "$build/rungs" train barcode "$folder/train" --boxes "$folder/boxes.csv" -o "$folder/model$run.npy" -p k=8 >"$folder/said" 2>&1 ||
        bad "training $run"
done
if cmp "$folder/model1.npy" "$folder/model2.npy" >"$folder/said" 2>&1; then ok; else bad "two trainings, two models"; fi
"$build/rungs" run barcode "$folder/seen/new.pgm" -o "$folder/found.csv" -p "model=$folder/model1.npy" -p ksize=5 -p sigma=1 -p min_area=20 \
    -p value=100 >"$folder/said" 2>&1 || bad "run of the model"
if python3 - "$folder/found.csv" >"$folder/said" 2>&1 <<'END'
import csv, sys
boxes = [tuple(int(row[k]) for k in ("x", "y", "width", "height")) for row in csv.DictReader(open(sys.argv[1]))]
x, y, width, height = boxes[0]
both = max(0, min(x + width, 352) - max(x, 112)) * max(0, min(y + height, 272) - max(y, 80))
sys.exit(f"found {boxes}") if len(boxes) != 1 or both < 0.7 * (width * height + 240 * 192 - both) else None
END
then ok; else bad "the stripes at 112, 80, 240x192"; fi

# --- of a picture that is seen in four directions the box is turned with it: its patches are bars and nothing else, in each direction,
# --- and bars that lie are found
printf 'file,xmin,ymin,xmax,ymax\ncorner.pgm,16,16,192,128\n' >"$folder/corner.csv"
"$build/rungs" train barcode "$folder/corner" --boxes "$folder/corner.csv" -o "$folder/turned.npy" -p k=8 -p turns=4 >"$folder/said" 2>&1 || bad "training with turns"
"$build/rungs" run barcode "$folder/lying.pgm" -o "$folder/lying.csv" -p "model=$folder/turned.npy" -p ksize=5 -p sigma=1 -p min_area=20 \
    -p value=100 >"$folder/said" 2>&1 || bad "run of the turned model"
if python3 - "$folder" >"$folder/said" 2>&1 <<'END'
import csv, struct, sys
model = struct.unpack("<2056f", open(f"{sys.argv[1]}/turned.npy", "rb").read()[-4 * 2056:])
shares = model[256::257]
assert max(shares) > 0.9, shares
(x, y, width, height), = [tuple(int(row[k]) for k in ("x", "y", "width", "height")) for row in csv.DictReader(open(f"{sys.argv[1]}/lying.csv"))]
both = max(0, min(x + width, 272) - max(x, 80)) * max(0, min(y + height, 352) - max(y, 112))
assert both >= 0.7 * (width * height + 192 * 240 - both), (x, y, width, height)
END
then ok; else bad "bars in four directions"; fi
refused "turns: 0 is outside 1 to 360" train barcode "$folder/train" --boxes "$folder/boxes.csv" $out -p turns=0

# --- the table's columns, the boxes drawn, and texture trained on a folder, drawn over a video and over what a pipe sends
if [ "$(head -n 1 "$folder/found.csv" | tr -d '\r')" = x,y,width,height ]; then ok; else cp "$folder/found.csv" "$folder/said"; bad "columns of boxes"; fi
if "$build/rungs" run barcode "$folder/seen/new.pgm" -o "$folder/found.png" -p "model=$folder/model1.npy" >"$folder/said" 2>&1 &&
    [ "$(head -c 8 "$folder/found.png" | od -An -tx1 | tr -d ' ')" = 89504e470d0a1a0a ]; then ok; else bad "boxes drawn"; fi
if ! command -v ffmpeg >/dev/null || ! command -v ffprobe >/dev/null; then
    skipped=$((skipped + 2))
    echo "SKIP texture of a video and of a pipe: no ffmpeg on this machine"
else
    "$build/rungs" train texture "$folder/train/" -o "$folder/centroids.npy" -p k=4 >"$folder/said" 2>&1 || bad "train texture"
    ffmpeg -nostdin -v error -framerate 5 -pattern_type glob -i "$folder/train/*.pgm" -c:v mpeg4 -q:v 2 "$folder/video.mp4" 2>"$folder/said" ||
        bad "a video to try"
    frames() { ffprobe -v error -count_frames -show_entries stream=nb_read_frames,width,height -of csv=p=0 "$1"; }
    "$build/rungs" run texture "$folder/video.mp4" -o "$folder/out.mp4" -p "centroids=$folder/centroids.npy" >"$folder/said" 2>&1
    if [ "$(frames "$folder/out.mp4")" = 400,320,3 ]; then ok; else bad "texture of a video"; fi
    ffmpeg -nostdin -v error -i "$folder/video.mp4" -pix_fmt yuv420p -f yuv4mpegpipe - |
        "$build/rungs" run texture - -o "$folder/piped.mp4" -p "centroids=$folder/centroids.npy" >"$folder/said" 2>&1
    if [ "$(frames "$folder/piped.mp4")" = 400,320,3 ]; then ok; else bad "texture of a pipe"; fi
fi

# --- boxes of masks are known ones, for a picture as it is and at its half and quarter
if [ ! -e studies/barcode_try.py ]; then
    skipped=$((skipped + 1))
    echo "SKIP boxes of masks: a handout has no studies"
else
    mkdir "$folder/masked" && cp "$folder/seen/new.pgm" "$folder/masked/new.pgm"
    "$build/rungs" run threshold "$folder/mask.pgm" -o "$folder/masked/new-GT.png" >"$folder/said" 2>&1 || bad "a mask"
    python3 -B studies/barcode_try.py "$folder/masked" --rungs "$build/rungs" --out "$folder/try" >"$folder/said" 2>&1 || bad "barcode_try.py"
    if grep -q '^new.pgm,known,112,80,352,272' "$folder/try.csv" &&
        [ "$(grep -c '^new.pgm at 1/[124]: [01] of 1 known boxes found, ' "$folder/try.txt")" = 3 ]
    then ok; else bad "barcode_try.py: the box of the mask, at three sizes"; fi
    python3 -B studies/barcode_try.py "$folder/masked" --rungs "$build/rungs" --out "$folder/none" -p value=254 >"$folder/said" 2>&1 || bad "barcode_try.py -p"
    if [ "$(grep -c '^new.pgm at 1/[124]: 0 of 1 known boxes found, 0 false' "$folder/none.txt")" = 3 ]
    then ok; else bad "barcode_try.py: a parameter is not handed on"; fi
fi

# --- mini-batches, by the contract's text in Python: rows drawn by number, a mean of all rows drawn for a cluster so far; of
# --- three attempts the best, which is not the first: all versions share the means, so that nothing else would see an old one
"$build/rungs" run kmeans:serial "$folder/batches.npy" -o "centroids=$folder/c.npy" -o "labels=$folder/l.npy" -o "inertia=$folder/i.npy" \
    -p k=3 -p start=rows -p seed=9 -p batch=6 -p iterations=4 -p attempts=3 >"$folder/said" 2>&1 || bad "kmeans of batches"
if python3 - "$folder" >"$folder/said" 2>&1 <<'END'
import struct, sys
folder = sys.argv[1]
ROWS, FEATURES, K, BATCH, UPDATES, SEED = 40, 3, 3, 6, 4, 9
last = lambda name, code, count: list(struct.unpack(f"<{count}{code}", open(f"{folder}/{name}", "rb").read()[-struct.calcsize(f"<{count}{code}"):]))
x = last("batches.npy", "H", ROWS * FEATURES)
rows = [[64 * v for v in x[i * FEATURES : (i + 1) * FEATURES]] for i in range(ROWS)]
WORD = 2**64 - 1

def mixed(u):
    u = (u + 0x9E3779B97F4A7C15) & WORD
    u = (u ^ u >> 30) * 0xBF58476D1CE4E5B9 & WORD
    u = (u ^ u >> 27) * 0x94D049BB133111EB & WORD
    return u ^ u >> 31

distance = lambda a, b: sum((p - q) ** 2 for p, q in zip(a, b))
nearest = lambda row, centroids: min(range(K), key=lambda j: (distance(row, centroids[j]), j))

def attempt(number):
    stream = mixed(mixed((SEED << 32) + 256 * number) ^ WORD)
    centroids = [rows[j * ROWS // K] for j in range(K)]
    members, inertia = [[] for _ in range(K)], []
    for update in range(UPDATES):
        drawn = [rows[(mixed(stream + (update * BATCH + place) * 0xD1342543DE82EF95 & WORD) >> 32) * ROWS >> 32] for place in range(BATCH)]
        labels = [nearest(row, centroids) for row in drawn]
        inertia.append(sum(distance(row, centroids[j]) for row, j in zip(drawn, labels)) / 4096)
        for row, j in zip(drawn, labels):
            members[j].append(row)
        centroids = [[(sum(column) + len(mine) // 2) // len(mine) for column in zip(*mine)] if mine else old for mine, old in zip(members, centroids)]
    labels = [nearest(row, centroids) for row in rows]
    return inertia + [sum(distance(row, centroids[j]) for row, j in zip(rows, labels)) / 4096], centroids, labels

attempts = [attempt(number) for number in range(3)]
inertia, centroids, labels = min(attempts, key=lambda one: one[0][-1])
assert inertia is not attempts[0][0], [one[0][-1] for one in attempts]
assert last("c.npy", "f", K * FEATURES) == [c / 64 for centroid in centroids for c in centroid], centroids
assert last("l.npy", "i", ROWS) == labels and last("i.npy", "d", UPDATES + 1) == inertia, (labels, inertia)
END
then ok; else bad "mini-batches by the contract's text"; fi

# --- inertia never rises, in whole numbers and in floats; then scikit-learn's k-means from the same rows
for rows in samples rows; do
    "$build/rungs" run kmeans "$folder/$rows.npy" -o "centroids=$folder/centroids.npy" -o "labels=$folder/labels.npy" \
        -o "inertia=$folder/inertia.npy" -p k=5 -p start=rows -p iterations=8 >"$folder/said" 2>&1 || bad "kmeans of $rows"
    [ $rows = rows ] || for part in centroids labels inertia; do cp "$folder/$part.npy" "$folder/float_$part.npy"; done
    if python3 - "$folder/inertia.npy" >"$folder/said" 2>&1 <<'END'
import struct, sys
inertia = struct.unpack("<9d", open(sys.argv[1], "rb").read()[-72:])
assert all(after <= before for before, after in zip(inertia, inertia[1:])), inertia
END
    then ok; else bad "the inertia of $rows rises"; fi
done
python=${RUNGS_PYTHON:-python3}
if ! "$python" -c 'import sklearn' 2>/dev/null; then
    skipped=$((skipped + 1))
    echo "SKIP the inertia of scikit-learn: the Python package scikit-learn is not installed"
else
    if "$python" - "$folder" >"$folder/said" 2>&1 <<'END'
import sys, warnings
import numpy
from sklearn.cluster import KMeans
warnings.simplefilter("ignore")  # it says that it stopped before it converged, as it was told to
load = lambda name: numpy.load(f"{sys.argv[1]}/{name}.npy")
rows = load("samples").astype(numpy.float64)
theirs = KMeans(5, init=rows[numpy.arange(5) * len(rows) // 5], n_init=1, max_iter=8, tol=0, algorithm="lloyd").fit(rows)
ours, inertia = load("float_centroids"), load("float_inertia").ravel()
assert abs(inertia[-1] - theirs.inertia_) <= 1e-6 * theirs.inertia_, (inertia[-1], theirs.inertia_)
assert (load("float_labels").ravel() == theirs.labels_).all()
assert abs(ours - theirs.cluster_centers_).max() <= 1e-6 * abs(theirs.cluster_centers_).max(), abs(ours - theirs.cluster_centers_).max()
END
    then ok; else bad "inertia, labels and centroids of scikit-learn"; fi
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
