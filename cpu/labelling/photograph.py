#!/usr/bin/env python3
"""A photograph as a mask: gray, scaled to cover the size and cut, foreground above Otsu's threshold.

usage: photograph.py --width W --height H --photograph FILE OUT.pgm

FILE is read by build/rungs (RUNGS=program for another), so any kind of picture will do.
"""

import argparse
import os
import subprocess
import sys
import tempfile


def read_gray(path):
    """Width, height and bytes of a picture, by `rungs run grayscale`."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "gray.pgm")
        command = [os.environ.get("RUNGS", "build/rungs"), "run", "grayscale:cpu/serial", path, "-o", out]
        process = subprocess.run(command, capture_output=True, text=True, check=False)
        if process.returncode:
            sys.exit((process.stderr.strip().splitlines() or [f"{path}: could not be read"])[-1])
        with open(out, "rb") as file:
            data = file.read()
    words = data.split(None, 4)[:4]
    width, height = int(words[1]), int(words[2])
    return width, height, data[-width * height :]


def cover(width, height, gray, to_width, to_height):
    """Scaled by one factor so that the whole size is covered, between pixels linearly; what is too much is cut."""
    if (width, height) == (to_width, to_height):
        return gray
    scale = min(width / to_width, height / to_height)
    columns = [min(int(x * scale), width - 2) for x in range(to_width)]
    shares = [min(x * scale - column, 1) for x, column in enumerate(columns)]
    out = bytearray()
    for y in range(to_height):
        row = min(int(y * scale), height - 2)
        share = min(y * scale - row, 1)
        up, down = gray[row * width : (row + 1) * width], gray[(row + 1) * width : (row + 2) * width]
        line = [a + (b - a) * share for a, b in zip(up, down)]
        out += bytes(int(line[x] + (line[x + 1] - line[x]) * s + 0.5) for x, s in zip(columns, shares))
    return out


def otsu(gray):
    """The gray level up to which pixels are background: that of the largest variance between the classes."""
    counts = [0] * 256
    for value in gray:
        counts[value] += 1
    total, total_sum = len(gray), sum(level * count for level, count in enumerate(counts))
    below = below_sum = best = 0
    best_variance = -1.0
    for level, count in enumerate(counts):
        below += count
        below_sum += level * count
        if 0 < below < total:
            variance = (total_sum * below - below_sum * total) ** 2 / (below * (total - below))
            if variance > best_variance:
                best, best_variance = level, variance
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--width", type=int, required=True)
    parser.add_argument("--height", type=int, required=True)
    parser.add_argument("--photograph", required=True)
    parser.add_argument("out")
    arguments = parser.parse_args()
    gray = cover(*read_gray(arguments.photograph), arguments.width, arguments.height)
    threshold = otsu(gray)
    with open(arguments.out, "wb") as file:
        file.write(b"P5\n%d %d\n255\n" % (arguments.width, arguments.height))
        file.write(gray.translate(bytes(255 * (level > threshold) for level in range(256))))


if __name__ == "__main__":
    main()
