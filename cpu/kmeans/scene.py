#!/usr/bin/env python3
"""Histograms of the patches of a picture with known barcodes: what the study of kmeans looks at.

usage: scene.py --width W --height H --barcodes N --noise LEVELS --seed S OUT.npy

The picture is made of tiles of 64 x 64 pixels, each of one texture: plain, a slope, grain, rows of writing, a weave, slanted bars or
single upright edges. N barcodes lie on it, upright bars of 2 to 7 pixels in boxes whose sides are multiples of 16, and noise of a few
levels lies on all. OUT.npy holds a row of 256 counts, u16, for each patch of 16 x 16, as the contract of lbp says
(common/algo/lbp.h). The same words give the same bytes everywhere.
"""

import argparse
import random
import struct

PATCH, TILE, BINS = 16, 64, 256
NEIGHBOURS = ((-1, -1), (0, -1), (1, -1), (1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0))


def make_boxes(width, height, count, generator):
    """(left, top, right, bottom) in patches; they may overlap."""
    across, down = width // PATCH, height // PATCH
    boxes = []
    for _ in range(count):
        wide, high = min(across, generator.randint(8, 14)), min(down, generator.randint(4, 7))
        left, top = generator.randint(0, across - wide), generator.randint(0, down - high)
        boxes.append((left, top, left + wide, top + high))
    return boxes


def bars(length, generator):
    """Black and white by turns, 2 to 7 pixels wide."""
    row, black = [], True
    while len(row) < length:
        row += [30 if black else 225] * generator.randint(2, 7)
        black = not black
    return row[:length]


def tile(kind, generator):
    """TILE rows of one texture."""
    low, high = generator.randint(40, 120), generator.randint(130, 220)
    if kind == "plain":
        return [[high] * TILE for _ in range(TILE)]
    if kind == "slope":
        across = generator.random() < 0.5
        return [[low + (x if across else y) for x in range(TILE)] for y in range(TILE)]
    if kind == "grain":
        return [[generator.randint(low, high) for _ in range(TILE)] for _ in range(TILE)]
    if kind == "writing":
        return [[low if y % 12 < 8 and generator.random() < 0.4 else high for _ in range(TILE)] for y in range(TILE)]
    if kind == "weave":
        return [[high if (x // 3 + y // 3) % 2 else low for x in range(TILE)] for y in range(TILE)]
    if kind == "slanted":
        width = generator.randint(3, 9)
        return [[high if (x + y) // width % 2 else low for x in range(TILE)] for y in range(TILE)]
    edge = generator.randint(8, TILE - 8)
    return [[low if x < edge else high for x in range(TILE)] for _ in range(TILE)]


def make_picture(width, height, boxes, noise, generator):
    kinds = ("plain", "slope", "grain", "writing", "weave", "slanted", "edge")
    rows = [[0] * width for _ in range(height)]
    for top in range(0, height, TILE):
        for left in range(0, width, TILE):
            for y, values in enumerate(tile(generator.choice(kinds), generator)[: height - top]):
                rows[top + y][left : left + TILE] = values[: width - left]
    for left, top, right, bottom in boxes:
        one = bars((right - left) * PATCH, generator)
        for y in range(top * PATCH, bottom * PATCH):
            rows[y][left * PATCH : right * PATCH] = one
    return [bytes(min(255, max(0, v + generator.randint(-noise, noise))) for v in row) for row in rows]


def histogram(rows, left, top):
    """Of a patch: its neighbours outside the patch count as 0."""
    counts = [0] * BINS
    for y in range(top, top + PATCH):
        for x in range(left, left + PATCH):
            centre, code = rows[y][x], 0
            for dx, dy in NEIGHBOURS:
                at, below = x + dx, y + dy
                inside = left <= at < left + PATCH and top <= below < top + PATCH
                code = 2 * code + ((rows[below][at] if inside else 0) >= centre)
            counts[code] += 1
    return counts


def make(width, height, count, noise, seed):
    """A histogram for each whole patch, row by row, and whether it lies in a barcode."""
    generator = random.Random(seed)
    boxes = make_boxes(width, height, count, generator)
    rows = make_picture(width, height, boxes, noise, generator)
    histograms, inside = [], []
    for y in range(height // PATCH):
        for x in range(width // PATCH):
            histograms.append(histogram(rows, x * PATCH, y * PATCH))
            inside.append(any(left <= x < right and top <= y < bottom for left, top, right, bottom in boxes))
    return histograms, inside


def parse():
    """The words that this script and judge.py have in common."""
    parser = argparse.ArgumentParser()
    for name, preset in (("width", 640), ("height", 480), ("barcodes", 3), ("noise", 4), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=preset)
    parser.add_argument("file")
    return parser.parse_args()


def main():
    words = parse()
    histograms, _ = make(words.width, words.height, words.barcodes, words.noise, words.seed)
    header = f"{{'descr': '<u2', 'fortran_order': False, 'shape': ({len(histograms)}, {BINS}), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(words.file, "wb") as file:
        file.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode())
        for counts in histograms:
            file.write(struct.pack(f"<{BINS}H", *counts))


if __name__ == "__main__":
    main()
