#!/usr/bin/env python3
"""A picture of known lines, 1 pixel thick, white on black, under noise: what studies and tests of hough and pclines look at.

usage: scene.py --width W --height H --lines N --noise SHARE --seed S OUT.pgm

The first four of N lines are one upright, one level, one at 45 degrees and one through two corners; the others lie at
random, and each is at least 0.6 times as long as the shorter side. The same words give the same bytes everywhere.
"""

import argparse
import math
import random


def ends(width, height, theta, rho):
    """Where the line x cos(theta) + y sin(theta) = rho enters and leaves the picture; None where it does not."""
    c, s, found = math.cos(theta), math.sin(theta), []
    if abs(s) > 1e-9:
        found += [(x, (rho - x * c) / s) for x in (0, width - 1)]
    if abs(c) > 1e-9:
        found += [((rho - y * s) / c, y) for y in (0, height - 1)]
    inside = sorted((x, y) for x, y in found if -0.5 <= x <= width - 0.5 and -0.5 <= y <= height - 0.5)
    return (inside[0], inside[-1]) if inside else None


def make_lines(width, height, count, generator):
    """(theta, rho, ends) of each."""
    corner = math.atan2(width - 1, -(height - 1)) % math.pi
    special = [(0, width // 3), (math.pi / 2, height // 4), (math.pi / 4, (width + height) / 2 / math.sqrt(2)), (corner, 0)]
    lines = [(theta, rho, ends(width, height, theta, rho)) for theta, rho in special[:count]]
    while len(lines) < count:
        theta, x, y = generator.random() * math.pi, generator.random() * width, generator.random() * height
        rho = x * math.cos(theta) + y * math.sin(theta)
        both = ends(width, height, theta, rho)
        if both and math.dist(*both) >= 0.6 * min(width, height):
            lines.append((theta, rho, both))
    return lines


def draw(width, height, lines, noise, generator):
    picture = bytearray(255 if generator.random() < noise else 0 for _ in range(width * height))
    for _, _, ((x0, y0), (x1, y1)) in lines:
        steps = max(1, math.ceil(max(abs(x1 - x0), abs(y1 - y0))))
        for i in range(steps + 1):
            x, y = round(x0 + (x1 - x0) * i / steps), round(y0 + (y1 - y0) * i / steps)
            if 0 <= x < width and 0 <= y < height:
                picture[y * width + x] = 255
    return bytes(picture)


def make(width, height, count, noise, seed):
    """The picture's bytes and its lines."""
    generator = random.Random(seed)
    lines = make_lines(width, height, count, generator)
    return draw(width, height, lines, noise, generator), lines


def write(path, width, height, pixels):
    with open(path, "wb") as file:
        file.write(b"P5\n%d %d\n255\n" % (width, height) + pixels)


def main():
    parser = argparse.ArgumentParser()
    for name in ("width", "height", "lines", "seed"):
        parser.add_argument(f"--{name}", type=int, default=1)
    parser.add_argument("--noise", type=float, default=0)
    parser.add_argument("out")
    words = parser.parse_args()
    pixels, _ = make(words.width, words.height, words.lines, words.noise, words.seed)
    write(words.out, words.width, words.height, pixels)


if __name__ == "__main__":
    main()
