#!/usr/bin/env python3
"""Recall and false boxes of `barcode` on pictures whose boxes are known, by cross-validation:

    python3 studies/barcode_score.py DIR [--boxes DIR/boxes.csv] [--rungs build/rungs] [--splits 5] [--out score]

Each split trains on one half of the pictures, drawn at random, and scores the other. A box counts as found when one of ours
covers it with an intersection over union of at least 0.5; each of ours is used once. `value`, the largest score that is no
barcode, goes through a range, which gives the curve: score.csv and score.svg. Where OpenCV is installed, its
barcode::BarcodeDetector is scored on the same halves. Standard library only, but for OpenCV.
"""
import argparse
import csv
import os
import random
import subprocess
import sys
import tempfile

VALUES = (60, 68, 76, 84, 92, 104)
OPERATING = 84  # the default of barcode


def read_boxes(path):
    boxes = {}
    with open(path, newline="") as stream:
        for row in csv.DictReader(stream):
            boxes.setdefault(row["file"], []).append(tuple(int(row[k]) for k in ("xmin", "ymin", "xmax", "ymax")))
    return boxes


def overlap(a, b):
    """Intersection over union of two boxes (left, top, right, bottom)."""
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    if width <= 0 or height <= 0:
        return 0
    both = width * height
    return both / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both)


def score(found, known):
    """True and false boxes of one picture; each known box is found once, by the box that covers it best."""
    pairs = sorted(((overlap(f, k), i, j) for i, f in enumerate(found) for j, k in enumerate(known)), reverse=True)
    used, taken = set(), set()
    for share, i, j in pairs:
        if share >= 0.5 and i not in used and j not in taken:
            used.add(i)
            taken.add(j)
    return len(taken), len(found) - len(used)


def rungs(*arguments):
    result = subprocess.run(arguments, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"barcode_score.py: {result.stderr.strip() or ' '.join(arguments)}")


def detect(program, folder, files, model, value, room):
    """Our boxes of each file, as (left, top, right, bottom)."""
    rungs(program, "run", "barcode", folder, "-o", room, "--format", "csv", "-p", f"model={model}", "-p", f"value={value}")
    result = {}
    for name in files:
        with open(os.path.join(room, os.path.splitext(name)[0] + ".csv"), newline="") as stream:
            rows = [[int(row[k]) for k in ("x", "y", "width", "height")] for row in csv.DictReader(stream)]
        result[name] = [(x, y, x + width, y + height) for x, y, width, height in rows]
    return result


def opencv(folder, files):
    """OpenCV's boxes, upright around its oriented ones; None where it is missing or has no detector."""
    try:
        import cv2

        detector = cv2.barcode.BarcodeDetector()
    except (ImportError, AttributeError):
        return None
    result = {}
    for name in files:
        ok, corners = detector.detectMulti(cv2.imread(os.path.join(folder, name)))
        boxes = [] if not ok or corners is None else corners.reshape(-1, 4, 2)
        result[name] = [(*box.min(axis=0), *box.max(axis=0)) for box in boxes]
    return result


def halves(files, splits):
    generator = random.Random(1)
    for _ in range(splits):
        order = sorted(files)
        generator.shuffle(order)
        yield order[: len(order) // 2], order[len(order) // 2 :]


def draw(path, curve, peer):
    """Recall over false boxes a picture, as SVG."""
    width, height, left, top = 640, 400, 60, 30
    most = max([0.5] + [false for _, _, false in curve])

    def at(false, recall):
        return f"{left + false / most * (width - 90):.1f},{top + (1 - recall) / 0.3 * (height - 90):.1f}"

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="12">',
             '<rect width="100%" height="100%" fill="white"/>']
    for i in range(7):
        y = top + i / 6 * (height - 90)
        parts.append(f'<path d="M{left},{y:.1f}H{width - 30}" stroke="#ddd"/><text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{1 - 0.05 * i:.2f}</text>')
    for i in range(6):
        x = left + i / 5 * (width - 90)
        parts.append(f'<text x="{x:.1f}" y="{height - 42}" text-anchor="middle">{most * i / 5:.2f}</text>')
    points = " ".join(at(false, max(recall, 0.7)) for _, recall, false in curve)
    parts.append(f'<polyline points="{points}" fill="none" stroke="#0072b2" stroke-width="2"/>')
    for value, recall, false in curve:
        x, y = at(false, max(recall, 0.7)).split(",")
        parts.append(f'<circle cx="{x}" cy="{y}" r="3" fill="#0072b2"/><text x="{x}" y="{float(y) - 8:.1f}" text-anchor="middle">{value}</text>')
    if peer:
        x, y = at(peer[1], max(peer[0], 0.7)).split(",")
        parts.append(f'<circle cx="{x}" cy="{y}" r="5" fill="#d55e00"/><text x="{float(x) + 8:.1f}" y="{y}">OpenCV</text>')
    parts.append(f'<text x="{width / 2}" y="{height - 16}" text-anchor="middle">false boxes a picture</text>'
                 f'<text x="16" y="{height / 2}" transform="rotate(-90 16 {height / 2})" text-anchor="middle">recall at IoU 0.5</text></svg>')
    with open(path, "w") as stream:
        stream.write("\n".join(parts) + "\n")


def main():
    parser = argparse.ArgumentParser(description="Cross-validation of rungs barcode.")
    parser.add_argument("folder")
    parser.add_argument("--boxes")
    parser.add_argument("--rungs", default="build/rungs")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--out", default="build/barcode_score")
    options = parser.parse_args()
    known = read_boxes(options.boxes or os.path.join(options.folder, "boxes.csv"))
    peer = opencv(options.folder, sorted(known))
    rows = []
    for split, (train, test) in enumerate(halves(known, options.splits)):
        with tempfile.TemporaryDirectory() as room:
            model, pictures = os.path.join(room, "model.npy"), os.path.join(room, "test")
            os.mkdir(pictures)
            for name in test:
                os.symlink(os.path.abspath(os.path.join(options.folder, name)), os.path.join(pictures, name))
            rungs(options.rungs, "train", "barcode", *(os.path.join(options.folder, name) for name in train),
                  "--boxes", options.boxes or os.path.join(options.folder, "boxes.csv"), "-o", model)
            runs = [("rungs", value, detect(options.rungs, pictures, test, model, value, os.path.join(room, str(value))))
                    for value in VALUES]
        runs += [("opencv", "", peer)] if peer else []
        for who, value, found in runs:
            results = [score(found[name], known[name]) for name in test]
            boxes = sum(len(known[name]) for name in test)
            rows.append((who, value, split, sum(r[0] for r in results) / boxes, sum(r[1] for r in results) / len(test)))
    means = {}
    for who, value, _, recall, false in rows:
        means.setdefault((who, value), []).append((recall, false))
    means = {key: tuple(sum(column) / len(column) for column in zip(*values)) for key, values in means.items()}
    with open(options.out + ".csv", "w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(("detector", "value", "split", "recall", "false_boxes_a_picture"))
        writer.writerows((who, value, split, f"{recall:.4f}", f"{false:.4f}") for who, value, split, recall, false in rows)
        writer.writerows((who, value, "mean", f"{recall:.4f}", f"{false:.4f}") for (who, value), (recall, false) in means.items())
    draw(options.out + ".svg", [(value, *means["rungs", value]) for value in VALUES], means.get(("opencv", "")))
    recall, false = means["rungs", OPERATING]
    print(f"barcode: recall {recall:.3f}, {false:.2f} false boxes a picture, mean of {options.splits} splits at value={OPERATING}")
    if peer:
        print("OpenCV:  recall %.3f, %.2f false boxes a picture on the same halves" % means["opencv", ""])


if __name__ == "__main__":
    main()
