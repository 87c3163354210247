#!/bin/sh
# rungs run, train and list on the small algorithms of tests/small: outputs of every kind in every form, arrays as inputs,
# folders, models and training; and all of it with bad input. usage: sh tests/test_run.sh BUILD-FOLDER
set -u
rungs=$(cd "$1" && pwd)/rungs-small
tree=$PWD
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
passed=0 failed=0 skipped=0

ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); echo "FAIL $*"; }

# succeeds TITLE COMMAND...: exit 0, nothing on stderr
succeeds() {
    title=$1
    shift
    "$@" >stdout 2>stderr
    code=$?
    if [ $code = 0 ] && [ ! -s stderr ]; then ok; else bad "$title: exit $code: $(head -n 3 stderr)"; fi
}

# refuses TITLE REASON-PATTERN COMMAND...: exit 2, one line on stderr that matches, nothing in out
refuses() {
    title=$1 pattern=$2
    shift 2
    rm -rf out && mkdir out
    "$@" >stdout 2>stderr
    code=$?
    if [ $code != 2 ]; then
        bad "$title: exit $code instead of 2: $(head -n 3 stderr)"
    elif [ "$(wc -l <stderr)" != 1 ]; then
        bad "$title: not one line on stderr: $(cat stderr)"
    elif ! grep -Eq -- "$pattern" stderr; then
        bad "$title: '$(cat stderr)' does not match '$pattern'"
    elif [ -n "$(ls -A out)" ]; then
        bad "$title: left $(ls -A out) behind"
    else
        ok
    fi
}

is() { if [ "$2" = "$3" ]; then ok; else bad "$1: '$2' instead of '$3'"; fi; }
has() { if grep -Eq -- "$2" "$3"; then ok; else bad "$1: no '$2' in: $(head -n 5 "$3")"; fi; }
bytes() { od -An -v -t"$1" "$2" | tr -s ' \n' ' ' | sed 's/^ //; s/ $//'; }
data_of() { tail -c +129 "$1" >data && bytes "$2" data; } # of a .npy file

npy() { # DTYPE SHAPE: version 1.0, padded to 128 bytes; the data follow
    printf '\223NUMPY\001\000v\000%-117s\n' "{'descr': '$1', 'fortran_order': False, 'shape': ($2), }"
}

# --- files: a 4x2 picture with two bright pixels; f64 matrices
{ printf 'P5\n4 2\n255\n'; printf '\001\002\310\004\005\170\007\010'; } >p.pgm
cp p.pgm q.pgm
{ npy '<f8' '2, 2'; printf '\000\000\000\000\000\000\360\077\000\000\000\000\000\000\000\100'
  printf '\000\000\000\000\000\000\010\100\000\000\000\000\000\000\340\277'; } >m.npy # 1 2 3 -0.5
{ npy '<f8' '1, 1'; printf '\232\231\231\231\231\231\271\077'; } >tenth.npy        # 0.1
{ npy '>f8' '3,'; printf '\077\360\000\000\000\000\000\000\100\000\000\000\000\000\000\000\100\010\000\000\000\000\000\000'; } >column.npy

# --- outputs in every form
succeeds "table as csv" "$rungs" run spots p.pgm -o spots.csv
is "table as csv" "$(cat spots.csv)" "x,y,value
2,0,20
1,1,12"
has "summary" '^spots:cpu/serial  p.pgm 4x2 -> spots.csv$' stdout
succeeds "table as json" "$rungs" run spots p.pgm -o spots.json
if python3 -c 'import json; t = json.load(open("spots.json")); assert t == {"slot": "spots", "columns": ["x", "y", "value"], "rows": [[2, 0, 20], [1, 1, 12]]}'; then
    ok
else
    bad "table as json: $(cat spots.json)"
fi
succeeds "table as npy" "$rungs" run spots p.pgm -o spots.npy
has "table as npy: rows in use alone" "'<f4', 'fortran_order': False, 'shape': \(2, 3\)" spots.npy
is "table as npy" "$(data_of spots.npy f4 | tr -s ' ')" "2 0 20 1 1 12"
succeeds "table drawn" "$rungs" run spots p.pgm -o spots.ppm -p level=200
# A cross at (2,0) with arms of 1: pixels 1 2 3 of the first row and 2 of the second.
is "table drawn" "$(tail -c 24 spots.ppm >data && bytes u1 data)" \
    "1 1 1 255 32 32 255 32 32 255 32 32 5 5 5 120 120 120 255 32 32 8 8 8"
succeeds "empty table" "$rungs" run spots p.pgm -o none.csv -o none.json -o none.npy -p level=255
is "empty table" "$(cat none.csv)" "x,y,value"
has "empty table" "'shape': \(0, 3\)" none.npy
{ printf 'P5\n4 4\n255\n'; printf '\310\310\310\310\310\310\310\310\310\310\310\310\310\310\310\310'; } >bright.pgm
succeeds "more rows than the table has" "$rungs" run spots bright.pgm -o full.csv
is "more rows than the table has" "$(wc -l <full.csv | tr -d ' ')" 9
succeeds "several outputs" "$rungs" run spots p.pgm -o a.csv -o a.png -o labels=l.npy -o labels=l.ppm -o map=m.npy.npy -p map=yes
is "labels" "$(data_of l.npy d4)" "0 0 3 0 0 6 0 0"
is "labels are coloured" "$(tail -c 24 l.ppm | head -c 6 >data && bytes u1 data)" "0 0 0 0 0 0"
is "map" "$(data_of m.npy.npy f4)" "0.25 0.5 50 1 1.25 30 1.75 2"
succeeds "matrix as csv" "$rungs" run gram m.npy -o g.csv
is "matrix as csv" "$(cat g.csv)" "10,0.5
0.5,4.25"
succeeds "digits for a round trip" "$rungs" run gram tenth.npy -o g.csv
is "digits for a round trip" "$(cat g.csv)" "0.010000000000000002"
succeeds "matrix as json" "$rungs" run gram m.npy -o g.json
if python3 -c 'import json; assert json.load(open("g.json")) == {"slot": "products", "rows": [[10, 0.5], [0.5, 4.25]]}'; then ok; else bad "matrix as json: $(cat g.json)"; fi
succeeds "matrix as npy" "$rungs" run gram m.npy -o g.npy
has "matrix as npy" "'<f8', 'fortran_order': False, 'shape': \(2, 2\)" g.npy
is "matrix as npy" "$(data_of g.npy f8)" "10 0.5 0.5 4.25"
succeeds "a vector is a column" "$rungs" run gram column.npy -o g.csv
is "a vector is a column" "$(cat g.csv)" 14
{ npy '<f8' '1, 2'; printf '\000\000\000\000\000\000\370\177\000\000\000\000\000\000\360\177'; } >odd.npy # nan inf
succeeds "no finite numbers" "$rungs" run gram odd.npy -o g.csv -o g.json
is "no finite numbers, csv" "$(cat g.csv)" "$(printf 'nan,nan\nnan,inf')"
is "no finite numbers, json" "$(grep -c null g.json)" 2
succeeds "back in: a table" "$rungs" run count spots.npy -o c.csv
is "back in: a table" "$(cat c.csv)" 2
succeeds "back in: an empty table" "$rungs" run count none.npy -o c.csv
is "back in: an empty table" "$(cat c.csv)" 0
succeeds "a file called like an option" "$rungs" run spots p.pgm -o ./map=x.csv
is "a file called like an option" "$(ls map=x.csv)" "map=x.csv"

# --- refused before anything is computed
refuses "csv of a picture" 'out/a.csv: picture is a picture, its extension must be .png, .jpg, .bmp, .pgm, .ppm or .npy' "$rungs" run lut p.pgm -o out/a.csv
refuses "picture of a matrix" 'out/a.png: products is a matrix, its extension must be .csv, .json or .npy' "$rungs" run gram m.npy -o out/a.png
refuses "picture of labels as a table" 'labels is a label image, its extension' "$rungs" run spots p.pgm -o labels=out/a.csv
refuses "empty output" "-o '': the name of the output file is empty" "$rungs" run lut p.pgm -o ''
refuses "empty output of a slot" "-o 'picture=': the name of the output file is empty" "$rungs" run lut p.pgm -o picture=
refuses "empty input" 'the name of the input file is empty' "$rungs" run lut '' -o out/a.png
refuses "csv of a tensor" 'copy is a tensor, its extension must be .npy' "$rungs" run cube p.pgm m.npy -o copy=out/a.csv
refuses "no such slot" "spots has no output 'spot'; it has spots, map, labels" "$rungs" run spots p.pgm -o spot=out/a.csv
refuses "absent slot" 'out/m.npy: with these parameters there is no map' "$rungs" run spots p.pgm -o out/a.csv -o map=out/m.npy
refuses "f32 in a PNG" 'out/m.png: pictures cannot hold f32; use .npy' "$rungs" run spots p.pgm -o out/a.csv -o map=out/m.png -p map=yes
refuses "one file twice" 'named twice' "$rungs" run spots p.pgm -o out/a.npy -o labels=out/a.npy
refuses "one file twice, in other words" 'named twice' "$rungs" run spots p.pgm -o out/a.npy -o labels=./out/../out/a.npy
refuses "empty name" 'name of the output file is empty|extension must be' "$rungs" run spots p.pgm -o labels=
refuses "second cannot be written" 'cannot write in folder' "$rungs" run spots p.pgm -o out/a.csv -o labels=out/nowhere/l.npy
refuses "output is the input" 'p.pgm: the same file as the input p.pgm' "$rungs" run lut p.pgm -o p.pgm
ln -s p.pgm soft.pgm
ln p.pgm hard.pgm
refuses "output links to the input" 'soft.pgm: the same file as the input' "$rungs" run lut p.pgm -o soft.pgm
refuses "output is the input by another name" 'hard.pgm: the same file as the input' "$rungs" run lut p.pgm -o hard.pgm
refuses "input links to the output" 'p.pgm: the same file as the input' "$rungs" run lut soft.pgm -o ./p.pgm
cmp -s p.pgm q.pgm || bad "an input was overwritten"
rm soft.pgm hard.pgm
# The size limit lets the first of two files through: neither may appear.
{ printf 'P5\n40 40\n255\n'; head -c 1600 /dev/zero; } >large.pgm
refuses "all files or none" 'out/l.npy: .*large' sh -c "ulimit -f 1; exec '$rungs' run spots large.pgm -o out/a.csv -o labels=out/l.npy"
refuses "wrong type of matrix" 'gram takes an f64 matrix, not i32' "$rungs" run gram l.npy -o out/a.csv
refuses "wrong shape of the second input" 'cube takes an f32 weight for each of 1 bands' "$rungs" run cube p.pgm m.npy -o out/a.npy
refuses "one input of two" 'cube takes 2 input files, got 1' "$rungs" run cube p.pgm -o out/a.npy
refuses "a table of text" 'a table is read from .npy' "$rungs" run count spots.csv -o out/a.csv
refuses "a folder for a matrix" "out: Is a directory" "$rungs" run gram out -o out/a.csv
refuses "format of a file" 'format is for a folder' "$rungs" run lut p.pgm -o out/a.png --format png
refuses "no version" 'this program has no ladder of blur' "$rungs" run blur p.pgm -o out/a.png
long=$(printf '%01500d' 0 | sed 's/0\{200\}/&\//g')
refuses "the reason behind a long path" 'No such file|not a regular|too long' "$rungs" run lut "$long/x.png" -o out/a.png

# --- ENVI, IDX: a cube of 2 lines, 3 samples, 2 bands with value 100 line + 10 sample + band
header() { # INTERLEAVE TYPE ORDER OFFSET
    printf 'ENVI\ndescription = {of a\n test = 1}\nSamples = 3\nlines=2\nbands = 2\nheader offset = %s\nfile type = ENVI Standard\ndata type = %s\ninterleave = %s\nbyte order = %s\n' "$4" "$2" "$1" "$3"
}
{ npy '<f4' '2, 1'; printf '\000\000\200\077\000\000\000\100'; } >w.npy # 1 2
all="0 1 10 11 20 21 100 101 110 111 120 121"
put8() { for v in "$@"; do printf "\\$(printf %03o "$v")"; done; }
put16() { for v in "$@"; do printf "\\000\\$(printf %03o "$v")"; done; } # big endian
put16l() { for v in "$@"; do printf "\\$(printf %03o "$v")\\000"; done; }
check_cube() { # TITLE INPUT
    succeeds "$1" "$rungs" run cube "$2" w.npy -o copy.npy -o sums=sums.csv
    has "$1" "'<f8', 'fortran_order': False, 'shape': \(2, 3, 2\)" copy.npy
    is "$1" "$(data_of copy.npy f8)" "$all"
    is "$1: sums" "$(cat sums.csv)" "$(printf '2,32,62\n302,332,362')"
}
header bip 1 0 0 >a.hdr; put8 $all >a.dat
check_cube "BIP, u8" a.hdr
check_cube "named by its data file" a.dat
header BIL 12 1 5 >b.hdr; { printf 'extra'; put16 0 10 20 1 11 21 100 110 120 101 111 121; } >b.raw
check_cube "BIL, u16, big endian, offset" b.hdr
header bsq 2 0 0 >c.img.hdr; put16l 0 10 20 100 110 120 1 11 21 101 111 121 >c.img
check_cube "BSQ, i16" c.img.hdr
check_cube "BSQ, i16, by its data file" c.img
{ header bip 1 0 0; echo 'data file = a.dat'; } >e.hdr
check_cube "data file named" e.hdr
{ header bip 1 0 0 | sed 's/samples/SAMPLES/; s/$/\r/'; } >f.hdr; cp a.dat f.bip
check_cube "line ends of another system" f.hdr
{ header bip 2 0 0 | sed 's/lines=2/lines=1/; s/Samples = 3/samples = 1/; s/bands = 2/bands=2/'; } >g.hdr; printf '\377\377\000\200' >g.bil
succeeds "negative i16" "$rungs" run cube g.hdr w.npy -o copy.npy
is "negative i16" "$(data_of copy.npy f8)" "-1 -32768"
cp c.img x.dat
broken() { # TITLE REASON SED-SCRIPT: a header changed so
    header bip 12 0 0 | sed "$3" >x.hdr
    refuses "ENVI: $1" "$2" "$rungs" run cube x.hdr w.npy -o out/a.npy
}
broken "no ENVI" 'x.hdr: not an ENVI header' 1d
broken "more lines than data" 'x.dat: 24 bytes where its header x.hdr says 36' 's/lines=2/lines=3/'
broken "fewer lines than data" 'says 12' 's/lines=2/lines=1/'
broken "no samples" "does not say 'samples'" /Samples/d
broken "samples twice" "says 'samples' twice" 's/^lines=2/samples = 3/'
broken "0 bands" 'bands = 0, must be 1 to' 's/bands = 2/bands = 0/'
broken "negative bands" 'bands = -2 is no whole number' 's/bands = 2/bands = -2/'
broken "huge lines" 'lines = 99999999999999999999, must be' 's/lines=2/lines=99999999999999999999/'
broken "huge rows" 'bands = 1000000000, must be' 's/bands = 2/bands = 1000000000/'
broken "huge" 'x.dat: 24 bytes where' 's/lines=2/lines=1073741824/;s/Samples = 3/samples = 1073741824/;s/bands = 2/bands = 1/'
broken "complex numbers" 'ENVI data type 6: only 1' 's/data type = 12/data type = 6/'
broken "no type" 'data type = x is no whole' 's/data type = 12/data type = x/'
broken "unknown interleave" 'interleave = bup, must be' 's/bip/bup/'
broken "no interleave" 'interleave is missing' /interleave/d
broken "byte order" 'byte order = 2, must be' 's/byte order = 0/byte order = 2/'
broken "open brace" 'a . without its' 's/ test = 1}//'
broken "data file elsewhere" 'names no file beside it' '$a data file = ../x.dat'
broken "data file missing" 'y.dat: No such file' '$a data file = y.dat'
broken "compressed" 'compressed' '$a file compression = 1'
head -c 20 c.img >x.dat
broken "cut data" '20 bytes where' ''
cp c.img x.dat
cp c.img x.img
broken "two data files" 'two data files beside it' ''
rm x.img x.dat
broken "no data file" 'no data file beside it' ''
printf 'ENVI\n\000\000' >x.hdr
refuses "ENVI: zeros" 'it is no text' "$rungs" run cube x.hdr w.npy -o out/a.npy
cp a.dat alone.raw
refuses "ENVI: no header" 'need an ENVI header' "$rungs" run cube alone.raw w.npy -o out/a.npy

{ printf '\000\000\010\003\000\000\000\002\000\000\000\003\000\000\000\002'; put8 $all; } >cube-idx3-ubyte
check_cube "IDX, u8" cube-idx3-ubyte
{ printf '\000\000\013\003\000\000\000\002\000\000\000\003\000\000\000\002'; put16 $all; } >cube.idx
check_cube "IDX, i16" cube.idx
{ printf '\000\000\016\001\000\000\000\002'; printf '\077\360\000\000\000\000\000\000\100\000\000\000\000\000\000\000'; } >v.idx
succeeds "IDX of 1 dimension" "$rungs" run gram v.idx -o g.csv
is "IDX of 1 dimension" "$(cat g.csv)" 5
{ printf '\000\000\016\003\000\000\000\001\000\000\000\002\000\000\000\001'; printf '\077\360\000\000\000\000\000\000\100\000\000\000\000\000\000\000'; } >rows.idx
succeeds "pictures are rows of a matrix" "$rungs" run gram rows.idx -o g.csv
is "pictures are rows of a matrix" "$(cat g.csv)" "$(printf '1,2\n2,4')"
broken_idx() { # TITLE REASON BYTES
    printf "$3" >x.idx
    refuses "IDX: $1" "$2" "$rungs" run gram x.idx -o out/a.csv
}
broken_idx "cut header" 'cut short in its IDX header' '\000\000\010\002\000\000\000\002'
broken_idx "cut data" 'cut short: 13 bytes where its header says 14' '\000\000\010\002\000\000\000\002\000\000\000\001x'
broken_idx "long data" 'too long: 15 bytes where' '\000\000\010\002\000\000\000\002\000\000\000\001xyz'
broken_idx "i8" 'IDX type 0x09' '\000\000\011\001\000\000\000\001x'
broken_idx "4 dimensions" '4 dimensions' '\000\000\010\004\000\000\000\001\000\000\000\001\000\000\000\001\000\000\000\001x'
broken_idx "no rows" 'IDX shape 0 x 1 x 1' '\000\000\010\001\000\000\000\000'
broken_idx "huge" 'IDX shape' '\000\000\010\003\377\377\377\377\377\377\377\377\377\377\377\377'
broken_idx "huge, but legal" 'cut short' '\000\000\016\003\077\377\377\377\077\377\377\377\000\000\000\001'
broken_npy() { # TITLE REASON DTYPE SHAPE
    { npy "$3" "$4"; printf 'abcdefgh'; } >x.npy
    refuses "npy: $1" "$2" "$rungs" run gram x.npy -o out/a.csv
}
broken_npy "i2" "dtype '<i2': only uint8" '<i2' '2, 2'
broken_npy "i8" "dtype '<i8': only uint8" '<i8' '1, 1'
broken_npy "4 dimensions" '4 dimensions' '<f8' '1, 1, 1, 1'
broken_npy "no dimension" '0 dimensions' '<f8' ''
broken_npy "no rows" 'shape \(0, 1, 1\)' '<f8' '0, 1'
broken_npy "huge" 'shape \(4294967296' '<f8' '4294967296, 4294967296, 4294967296'
broken_npy "huge, but legal" 'cut short' '<f8' '1073741823, 1073741823'
broken_npy "cut" 'cut short: 8 bytes' '<f8' '2, 1'
head -c 200000 /dev/zero >zeros; { npy '|u1' '200000, 1'; cat zeros; } >tall.npy
refuses "taller than a picture" '1x200000 pixels' "$rungs" run lut tall.npy -o out/a.png
{ npy '<f8' '100000, 1'; head -c 800000 /dev/zero; } >tall.npy
succeeds "rows beyond 65535" "$rungs" run gram tall.npy -o g.csv

# --- folders
mkdir photos sub.png && mv sub.png photos
for i in 1 2 3 4 5 6 7 8 9; do cp p.pgm photos/p$i.pgm; done
cp large.pgm photos/p3.pgm
echo text >photos/readme.txt
succeeds "folder" "$rungs" run lut photos -o soft --jobs 3
is "folder" "$(ls soft | tr '\n' ' ')" "p1.png p2.png p3.png p4.png p5.png p6.png p7.png p8.png p9.png "
has "folder" '^lut:cpu/serial  photos -> soft: 9 pictures$' stdout
succeeds "one by itself" "$rungs" run lut p.pgm -o one.png
for i in 1 2 4 9; do cmp -s one.png soft/p$i.png || bad "folder: p$i differs"; done
succeeds "folder of tables" "$rungs" run spots photos/ -o tables/
is "folder of tables" "$(cat tables/p1.csv)" "$(cat spots.csv)"
succeeds "folder, other form" "$rungs" run spots photos/ -o soft --format npy
cmp -s spots.npy soft/p7.npy || bad "folder, other form: differs"
printf 'P5\n4 2\n255\n' >photos/p5.pgm
printf 'broken' >photos/p0.png
rm -rf soft
"$rungs" run lut photos -o soft >stdout 2>stderr
is "bad files: status" $? 1
is "bad files: a line each" "$(wc -l <stderr | tr -d ' ')" 2
has "bad files" 'photos/p5.pgm: ' stderr
has "bad files" 'photos/p0.png: ' stderr
has "bad files" '8 pictures, 2 left out' stdout
is "bad files: the rest" "$(ls -A soft | tr '\n' ' ')" "p1.png p2.png p3.png p4.png p6.png p7.png p8.png p9.png "
refuses "results among the pictures" 'photos/: the results would go among the pictures' "$rungs" run lut photos -o photos/
refuses "a file for a folder" 'photos: a folder, so what comes of it goes to a folder' "$rungs" run lut photos -o out/a.png
refuses "unknown form" '--format tif: picture is a picture' "$rungs" run lut photos -o out/soft --format tif
refuses "a folder that cannot be made" 'cannot make folder out/x/y' "$rungs" run lut photos -o out/x/y
refuses "two -o" 'of a folder there is one -o' "$rungs" run spots photos -o out/x -o labels=out/y
refuses "no jobs" '--jobs' "$rungs" run lut photos -o out/x --jobs 0
refuses "empty folder" 'out: no pictures in this folder' "$rungs" run lut out -o new
cp one.png photos/p1.png
refuses "two with one name" 'photos/p1.* and photos/p1.* would both be written to out/soft/p1.png' "$rungs" run lut photos -o out/soft
rm photos/p1.png
mkdir linked && ln -s ../photos/p2.pgm linked/p1.pgm
refuses "a result through a link on a picture" 'linked/p1.pgm: the same file as the input photos/p2.pgm' "$rungs" run lut photos -o linked --format pgm
mkdir broken && printf x >broken/a.png
"$rungs" run lut broken -o never >stdout 2>stderr
is "all bad: status" $? 1
if [ -e never ]; then bad "all bad: left a folder behind"; else ok; fi

# --- models, training
cmp -s p.pgm q.pgm || bad "an input was overwritten"
succeeds "default model" "$rungs" run lut p.pgm -o inverted.pgm
is "default model" "$(tail -c 8 inverted.pgm >data && bytes u1 data)" "254 253 55 251 250 135 248 247"
succeeds "training" "$rungs" train lut p.pgm q.pgm -o model.lut -p gain=2 --threads 1
has "training" '^lut: trained with 2 inputs -> model.lut \(260 bytes\)$' stdout
succeeds "a trained model" "$rungs" run lut p.pgm -o trained.pgm -p table=model.lut
is "a trained model" "$(tail -c 8 trained.pgm >data && bytes u1 data)" "40 42 182 46 48 22 52 54"
succeeds "resumed" "$rungs" train lut p.pgm -o resumed.lut --resume --boxes p.pgm
succeeds "resumed" "$rungs" run lut p.pgm -o trained.pgm -p table=resumed.lut
is "resumed" "$(tail -c 8 trained.pgm | head -c 1 >data && bytes u1 data)" 120
refuses "missing model" 'none.lut: No such file' "$rungs" run lut p.pgm -o out/a.png -p table=none.lut
head -c 100 model.lut >cut.lut
refuses "damaged model" 'cut.lut: damaged' "$rungs" run lut p.pgm -o out/a.png -p table=cut.lut
refuses "no model" 'parameter table: ' "$rungs" run lut p.pgm -o out/a.png -p table=
refuses "a model too long a path" 'more than 255 characters' "$rungs" run lut p.pgm -o out/a.png -p "table=$long"
cp model.lut model.png
refuses "output on the model" 'model.png: the same file as the input model.png' "$rungs" run lut p.pgm -o model.png -p table=model.png
refuses "no training" 'gram has no training; those that have one: barcode, detect, lut, texture' "$rungs" train gram p.pgm -o out/m
refuses "training: no data" 'train needs data: FILE...' "$rungs" train lut -o out/m
refuses "training: no output" 'train needs -o MODEL' "$rungs" train lut p.pgm
refuses "training: missing data" 'nothing: No such file' "$rungs" train lut p.pgm nothing -o out/m
refuses "training: data as output" 'p.pgm: the same file as the input' "$rungs" train lut p.pgm -o p.pgm
refuses "training: no such parameter" "lut has no parameter 'table'; it has gain" "$rungs" train lut p.pgm -o out/m -p table=x
refuses "training: parameter out of range" 'gain: 10 is outside 1 to 9' "$rungs" train lut p.pgm -o out/m -p gain=10
refuses "training: a version" 'takes an algorithm, not one of its versions' "$rungs" train lut:cpu/serial p.pgm -o out/m
refuses "training: nowhere" 'cannot write in folder' "$rungs" train lut p.pgm -o out/x/m
cp p.pgm bad.txt
refuses "training: it fails" 'bad.txt: no boxes' "$rungs" train lut p.pgm -o out/m --boxes bad.txt
refuses "training: missing boxes" 'nothing: No such file' "$rungs" train lut p.pgm -o out/m --boxes nothing
refuses "training: no algorithm" 'train needs an algorithm' "$rungs" train
succeeds "training: help" "$rungs" train --help
has "training: help" 'usage: rungs train' stdout
succeeds "training: none here" "$(dirname "$rungs")/rungs" list
refuses "training: none here" 'blur has no training; those that have one: barcode, detect, texture' "$(dirname "$rungs")/rungs" train blur p.pgm -o out/m

# --- list
succeeds "list" "$rungs" list lut
has "list: slots" '^  input  picture  picture of u8$' stdout
has "list: model" '-p table=  what each value becomes \(a file, default tests/small/invert.lut\)' stdout
has "list: training" '^  training: rungs train lut FILE... -o MODEL$' stdout
succeeds "list" "$rungs" list spots
has "list: main" 'output spots    table: x, y, value; in pixels \(the main one\)' stdout
succeeds "short list" "$rungs" list --all
if grep -q "^  output" stdout; then bad "short list: slots in it"; else ok; fi
succeeds "list --json" "$rungs" list spots --json
has "list --json" '"kind": "table"' stdout

# --- inputs of bench
refuses "bench: empty input" "--input ''" "$rungs" bench gram --input ''
refuses "bench: size of a matrix" '--size is for pictures; gram takes a matrix' "$rungs" bench gram --input m.npy --size 8x8
refuses "bench: inputs" 'cube takes 2 inputs, got 1' "$rungs" bench cube --input a.hdr
refuses "bench: wrong type" 'gram takes an f64 matrix' "$rungs" bench gram --input l.npy
refuses "bench: the reason behind a long path" 'No such file|too long' "$rungs" bench lut --input "$long/x.png"

cd "$tree" || exit 1
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
