#!/usr/bin/env python3
"""Holds a table of lines against the lines that scene.py drew: how many are found, how many are none, and how far off.

usage: judge.py --width W --height H --lines N --noise SHARE --seed S TABLE.csv

A known line is found when one of the table is nowhere more than 3 pixels from it, in the picture. Prints a JSON object:
recall, the share of known lines that are found; false_lines, how many of the table are near none; theta_error and rho_error,
degrees and pixels between a found line and the nearest of the table, their means (null where none is found).
"""

import argparse
import csv
import json
import math
import os
import random
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import scene  # noqa: E402

NEAR = 3


def distance(rho, theta, line):
    """The farthest that the found line is from the known one, in the picture."""
    c, s = math.cos(theta), math.sin(theta)
    return max(abs(x * c + y * s - rho) for x, y in line[2])


def errors(rho, theta, line):
    """Degrees and pixels; theta and theta + pi are the same line with rho reversed."""
    turns = round((theta - line[0]) / math.pi)
    return abs(math.degrees(theta - line[0] - turns * math.pi)), abs((-rho if turns % 2 else rho) - line[1])


def judge(rows, lines):
    """Of the table's (rho, theta) and the known lines."""
    nearest = [min(((distance(*row, line), *errors(*row, line)) for row in rows), default=(math.inf,)) for line in lines]
    found = [one for one in nearest if one[0] <= NEAR]
    return {
        "recall": len(found) / len(lines),
        "false_lines": sum(all(distance(*row, line) > NEAR for line in lines) for row in rows),
        "theta_error": sum(one[1] for one in found) / len(found) if found else None,
        "rho_error": sum(one[2] for one in found) / len(found) if found else None,
    }


def main():
    parser = argparse.ArgumentParser()
    for name in ("width", "height", "lines", "seed"):
        parser.add_argument(f"--{name}", type=int, default=1)
    parser.add_argument("--noise", type=float, default=0)
    parser.add_argument("table")
    words = parser.parse_args()
    lines = scene.make_lines(words.width, words.height, words.lines, random.Random(words.seed))
    with open(words.table, encoding="ascii") as file:
        rows = [(float(row["rho"]), float(row["theta"])) for row in csv.DictReader(file)]
    print(json.dumps(judge(rows, lines)))


if __name__ == "__main__":
    main()
