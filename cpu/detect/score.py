"""Scores detections against boxes that people drew: recall against false positives a picture, as a curve.

    score.py BOXES DETECTIONS/ [--curve CURVE.csv] [--most 3] [--overlap 0.3]

BOXES       a line for each object: file xmin ymin xmax ymax; a picture without any, or one that was not looked at, is not
            scored, and the number of the latter is said; a line that is there twice counts once
DETECTIONS  what `rungs run detect PICTURES/ -o DETECTIONS/` wrote: one CSV for each picture, x,y,width,height,score

A detection is right when its box and one that no better detection has taken yet have an intersection over union of at
least --overlap. Ours and the peers' go through this one program.
"""
import argparse
import bisect
import collections
import csv
import pathlib
import sys


def read_boxes(path):
    """The boxes of each picture, by its name without the extension."""
    boxes = collections.defaultdict(list)
    try:
        lines = pathlib.Path(path).read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        sys.exit(f"score: {path}: cannot be read")
    for number, line in enumerate(lines, 1):
        words = line.split()
        if not words:
            continue
        try:
            box = tuple(map(float, words[1:]))
        except ValueError:
            box = ()
        if len(box) != 4:
            sys.exit(f"score: {path}:{number}: not a file and four numbers")
        if box not in boxes[pathlib.Path(words[0]).stem]:
            boxes[pathlib.Path(words[0]).stem].append(box)
    return boxes


def overlap(a, b):
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    if width <= 0 or height <= 0:
        return 0
    common = width * height
    return common / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - common)


def judge(detections, boxes, least):
    """(score, right) of each detection of one picture, the best first."""
    free = list(boxes)
    for score, *box in sorted(detections, reverse=True):
        best = max(free, key=lambda other: overlap(box, other), default=None)
        right = best is not None and overlap(box, best) >= least
        if right:
            free.remove(best)
        yield score, right


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("boxes")
    parser.add_argument("detections", type=pathlib.Path)
    parser.add_argument("--curve")
    parser.add_argument("--most", type=float, default=3, help="false positives a picture at the end of the curve")
    parser.add_argument("--overlap", type=float, default=0.3)
    arguments = parser.parse_args()
    every = read_boxes(arguments.boxes)
    boxes = {name: own for name, own in every.items() if (arguments.detections / f"{name}.csv").is_file()}
    if not boxes:
        sys.exit(f"score: {arguments.detections}: no detections of any picture of {arguments.boxes}")
    if len(boxes) < len(every):
        print(f"{len(every) - len(boxes)} pictures of {arguments.boxes} were not looked at", file=sys.stderr)
    objects = sum(map(len, boxes.values()))
    judged = []
    for name, own in boxes.items():
        path = arguments.detections / f"{name}.csv"
        with path.open() as stream:
            rows = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(stream)]
        found = [(r["score"], r["x"], r["y"], r["x"] + r["width"], r["y"] + r["height"]) for r in rows]
        judged += judge(found, own, arguments.overlap)
    judged.sort(reverse=True)
    curve, right, wrong = [], 0, 0
    for i, (score, is_right) in enumerate(judged):
        right += is_right
        wrong += not is_right
        if i + 1 == len(judged) or judged[i + 1][0] < score:
            curve.append((wrong / len(boxes), right / objects, score))
    if arguments.curve:
        with open(arguments.curve, "w") as stream:
            stream.write("false_positives,recall,score\n")
            stream.writelines(f"{f:.6g},{r:.6g},{s:.6g}\n" for f, r, s in curve if f <= arguments.most)
    print(f"{len(boxes)} pictures, {objects} objects, {len(judged)} detections")
    for rate in (0.07, 0.15, 0.42, 0.83, 1, 2):
        at = bisect.bisect_right(curve, (rate, 2, 0)) - 1
        if at >= 0:
            print(f"recall {curve[at][1]:.3f} at {curve[at][0]:.2f} false positives a picture (score {curve[at][2]:.4g})")
    if curve:
        print(f"recall {curve[-1][1]:.3f} at {curve[-1][0]:.2f}: all detections")


main()
