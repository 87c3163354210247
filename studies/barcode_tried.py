#!/usr/bin/env python3
"""The committed model of `barcode` on photographs that it was not trained on and that are of another scale:

    python3 studies/barcode_tried.py DIR [--rungs build/rungs] [--widths 4032 2016 1344 1008 672] [--out tried.txt]

DIR has pictures, NAME.jpg, and masks of some of them, NAME-GT.png, white where a barcode is: a run of white lines with the same
white columns is a box. Each picture is made smaller by ffmpeg to each width, and a box counts as found when one of ours covers it
with an intersection over union of at least 0.5, as in studies/barcode_score.py. Of pictures without a mask only the number of boxes
is said. Nothing is chosen by these pictures.
"""
import argparse
import csv
import pathlib
import subprocess
import sys
import tempfile

from barcode_score import overlap


def gray(path, width):
    """Rows of bytes, the picture being so wide."""
    command = ["ffmpeg", "-v", "error", "-i", str(path), "-vf", f"scale={width}:-1:flags=area", "-f", "image2pipe", "-c:v", "pgm",
               "-pix_fmt", "gray", "-"]
    header, size, _, pixels = subprocess.run(command, capture_output=True, check=True).stdout.split(b"\n", 3)
    width, height = map(int, size.split())
    return [pixels[y * width:(y + 1) * width] for y in range(height)]


def boxes_of(mask):
    """Upright boxes of a mask: what stands in the line below a box with an overlap in columns belongs to it."""
    found = []  # [left, top, right, bottom], open ones end at the line before
    for y, row in enumerate(mask):
        white = bytes(255 if v > 127 else 0 for v in row) if any(v > 127 for v in row) else b""
        x = white.find(255)
        while x >= 0:
            end = white.find(0, x)
            end = len(white) if end < 0 else end
            above = next((b for b in found if b[3] == y and b[0] < end and x < b[2]), None)
            if above:
                above[:] = [min(above[0], x), above[1], max(above[2], end), y + 1]
            else:
                found.append([x, y, end, y + 1])
            x = white.find(255, end)
    return [tuple(b) for b in found]


def ours(rungs, path, width, folder):
    rows, picture, table = gray(path, width), folder / "picture.pgm", folder / "boxes.csv"
    picture.write_bytes(b"P5\n%d %d\n255\n" % (len(rows[0]), len(rows)) + b"".join(rows))
    subprocess.run([rungs, "run", "barcode", picture, "-o", table], check=True, capture_output=True)
    with open(table, newline="") as stream:
        boxes = [tuple(int(row[k]) for k in ("x", "y", "width", "height")) for row in csv.DictReader(stream)]
    return [(x, y, x + w, y + h) for x, y, w, h in boxes]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--rungs", default="build/rungs")
    parser.add_argument("--widths", type=int, nargs="+", default=[4032, 2016, 1344, 1008, 672])
    parser.add_argument("--out", type=pathlib.Path)
    arguments = parser.parse_args()
    pictures = sorted(arguments.folder.glob("*.jpg"))
    if not pictures:
        sys.exit(f"{arguments.folder}: there is no .jpg")
    lines = [f"{len(pictures)} pictures, models/barcode.npy, found at IoU >= 0.5", "width  found  false  boxes in pictures without a mask"]
    with tempfile.TemporaryDirectory() as folder:
        for width in arguments.widths:
            known = found = false = 0
            others = []
            for picture in pictures:
                mask = picture.with_name(picture.stem + "-GT.png")
                left = ours(arguments.rungs, picture, width, pathlib.Path(folder))
                if not mask.exists():
                    others.append(len(left))
                    continue
                for box in boxes_of(gray(mask, width)):
                    known += 1
                    match = next((b for b in left if overlap(b, box) >= 0.5), None)
                    if match:
                        found += 1
                        left.remove(match)
                false += len(left)
            lines.append(f"{width:5}  {found} of {known}  {false:5}  {' '.join(map(str, others))}")
    text = "\n".join(lines) + "\n"
    print(text, end="")
    if arguments.out:
        arguments.out.write_text(text)


if __name__ == "__main__":
    main()
