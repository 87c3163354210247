#!/usr/bin/env python3
"""What the committed model (models/barcode.npy, the parameters' presets) finds in pictures that took no part in its training:

    python3 studies/barcode_try.py DIR [--rungs build/rungs] [--out build/barcode_try] [-p ratio=4 ...]

Each picture, NAME.jpg or .pgm, is tried as it is and reduced to a half and a quarter (the mean of 2x2 pixels, `rungs run pyramid -p scale=2`),
for the texture of a patch of 16x16 pixels depends on how many bars it holds. Where there is a mask NAME-GT.png, white where barcodes
are, the boxes of its components are known: a box counts as found as in barcode_score.py, by an intersection over union of at least 0.5.
Without a mask the boxes are counted and nothing is scored. -p gives barcode another parameter than its preset. It writes OUT.csv,
every box in pixels of the whole picture, and OUT.txt, what it also prints. Standard library only.
"""
import argparse
import csv
import os
import sys
import tempfile

from barcode_score import read_pgm, rungs, score

FACTORS = (1, 2, 4)


def write_pgm(path, rows):
    with open(path, "wb") as stream:
        stream.write(b"P5\n%d %d\n255\n" % (len(rows[0]), len(rows)) + b"".join(rows))


def sizes(program, path, room):
    """A file for each of FACTORS. The pyramid holds the picture, below it its half, and to the right of that its quarter."""
    files = [os.path.join(room, f"{factor}.pgm") for factor in FACTORS]
    rungs(program, "run", "grayscale", path, "-o", files[0])
    rungs(program, "run", "pyramid", files[0], "-o", os.path.join(room, "levels.pgm"), "-p", "scale=2")
    whole, levels = read_pgm(files[0]), read_pgm(os.path.join(room, "levels.pgm"))
    height, width = len(whole), len(whole[0])
    write_pgm(files[1], [row[: width // 2] for row in levels[height : height + height // 2]])
    write_pgm(files[2], [row[width // 2 : width // 2 + width // 4] for row in levels[height : height + height // 4]])
    return zip(FACTORS, files)


def table(path, names, factor=1):
    """Rows of a table as (left, top, right, bottom) in pixels of the whole picture."""
    with open(path, newline="") as stream:
        rows = [[factor * int(row[name]) for name in names] for row in csv.DictReader(stream)]
    return [(x, y, x + width, y + height) for x, y, width, height in rows]


def main():
    parser = argparse.ArgumentParser(description="The committed model on pictures that it has not seen.")
    parser.add_argument("folder")
    parser.add_argument("--rungs", default="build/rungs")
    parser.add_argument("--out", default="build/barcode_try")
    parser.add_argument("-p", action="append", default=[], metavar="NAME=VALUE", help="a parameter of barcode")
    options = parser.parse_args()
    settings = [word for setting in options.p for word in ("-p", setting)]
    names = sorted(name for name in os.listdir(options.folder) if name.endswith((".jpg", ".pgm")))
    if not names:
        sys.exit(f"barcode_try.py: no .jpg or .pgm files in {options.folder}")
    boxes, lines, totals = [], ["$ " + " ".join(["python3", *sys.argv])], {factor: [0, 0, 0] for factor in FACTORS}

    def say(text):
        lines.append(text)
        print(text, flush=True)

    for name in names:
        path, mask = os.path.join(options.folder, name), os.path.join(options.folder, name[:-4] + "-GT.png")
        with tempfile.TemporaryDirectory() as room:
            answer, known = os.path.join(room, "answer.csv"), None
            if os.path.exists(mask):
                rungs(options.rungs, "run", "labelling", mask, "-o", f"statistics={answer}", "-p", "statistics=1")
                known = table(answer, ("x_min", "y_min", "width", "height"))
                boxes += [(name, "known", *box) for box in known]
            for factor, file in sizes(options.rungs, path, room):
                rungs(options.rungs, "run", "barcode", file, "-o", answer, *settings)
                found = table(answer, ("x", "y", "width", "height"), factor)
                boxes += [(name, f"1/{factor}", *box) for box in found]
                if known is None:
                    say(f"{name} at 1/{factor}: no mask; {len(found)} boxes")
                    continue
                true, false = score(found, known)
                totals[factor] = [a + b for a, b in zip(totals[factor], (true, len(known), false))]
                say(f"{name} at 1/{factor}: {true} of {len(known)} known boxes found, {false} false")
    for factor, (true, count, false) in totals.items():
        say(f"with masks, at 1/{factor}: {true} of {count} known boxes found, {false} false")
    os.makedirs(os.path.dirname(options.out) or ".", exist_ok=True)
    with open(options.out + ".txt", "w") as stream:
        stream.write("\n".join(lines) + "\n")
    with open(options.out + ".csv", "w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(("file", "size", "xmin", "ymin", "xmax", "ymax"))
        writer.writerows(boxes)


if __name__ == "__main__":
    main()
