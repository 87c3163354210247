#!/usr/bin/env python3
"""How many of the known lines of random scenes hough and pclines find, and how many of theirs are none: scenes of 1 to 20
lines with 0 to 5 % of noise, upright, level, diagonal ones and such through corners among them.

usage: lines_scenes.py BUILD-FOLDER [SCENES]     (60 by default; 1000 is the full form)

A line is found when one of the table is nowhere more than 3 pixels from it, in the picture. hough gets 180 rows of 1 degree
(184,500 cells), pclines d = 256 (132,608 cells). The test fails where recall or precision of pclines is below that of hough by
more than the chance of so many scenes explains, or where either misses what both can do.
The last line is "N passed, N failed, 0 skipped".
"""

import csv
import math
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "cpu", "hough"))
import scene
from judge import NEAR, distance

SIDE = 256
DETECTORS = {
    "hough": ["theta_steps=180", "window=5", "threshold=75"],
    "pclines": ["d=256", "window=7", "threshold=75"],
}


def judge(program, algorithm, folder, scenes):
    """Shares of known lines that are found, and of found lines that are known."""
    out = tempfile.mkdtemp(dir=os.path.dirname(folder))
    options = [word for setting in DETECTORS[algorithm] for word in ("-p", setting)]
    subprocess.run([program, "run", algorithm, folder, "-o", out, "--format", "csv", *options], check=True,
                   stdout=subprocess.DEVNULL)  # fmt: skip
    known = found = given = right = 0
    for name, lines in scenes.items():
        with open(os.path.join(out, f"{name}.csv"), encoding="ascii") as file:
            rows = [(float(row["rho"]), float(row["theta"])) for row in csv.DictReader(file)]
        near = [[distance(rho, theta, line) <= NEAR for line in lines] for rho, theta in rows]
        known += len(lines)
        found += sum(any(row[i] for row in near) for i in range(len(lines)))
        given += len(rows)
        right += sum(any(row) for row in near)
    return found / known, right / max(1, given), known


def main():
    program, count = os.path.join(sys.argv[1], "rungs"), int(sys.argv[2]) if len(sys.argv) > 2 else 60
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        pictures = os.path.join(folder, "scenes")
        os.mkdir(pictures)
        scenes = {}
        for i in range(count):
            name = f"scene{i:04d}"
            pixels, scenes[name] = scene.make(SIDE, SIDE, 1 + i % 20, 0.05 * (i % 7) / 6, i)
            scene.write(os.path.join(pictures, f"{name}.pgm"), SIDE, SIDE, pixels)
        for algorithm in DETECTORS:
            results[algorithm] = judge(program, algorithm, pictures, scenes)
    passed = failed = 0
    for algorithm, (recall, precision, known) in results.items():
        print(f"{algorithm:8} recall {recall:.4f}  precision {precision:.4f}  ({known} lines in {count} scenes)")
    for i, what in enumerate(("recall", "precision")):
        ours, theirs, known = results["pclines"][i], results["hough"][i], results["hough"][2]
        chance = 2 * math.sqrt(max(theirs * (1 - theirs), 1e-4) / known)
        for title, right in ((f"{what} of hough above 0.9", theirs > 0.9),
                             (f"{what} of pclines at least that of hough", ours >= theirs - chance)):  # fmt: skip
            passed, failed = passed + right, failed + (not right)
            if not right:
                print(f"FAIL {title}: {ours:.4f} and {theirs:.4f}")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
