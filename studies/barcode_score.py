#!/usr/bin/env python3
"""Recall and false boxes of `barcode` on pictures whose boxes are known, by nested cross-validation:

    python3 studies/barcode_score.py DIR [--boxes DIR/boxes.csv] [--rungs build/rungs] [--splits 5] [--out score]

Each split draws one half of the pictures at random to train on and scores the other. Whatever can be chosen, the smoothing, the
largest score that is no barcode and the least area, is chosen inside the training half alone: it is cut into four, a model of
three parts gives the scores of the fourth, and the setting with the most boxes found less false ones (ties: the first) is kept.
Then a model of the whole training half with these settings is scored, once, on the half that nothing has seen. A box counts as found when one of ours covers it with an intersection over union of at least
0.5; each of ours is used once.

It writes score.txt, what it also prints, the settings that all pictures together choose among it (for the model that is trained
on all of them), score.csv, each split's curve over `value` at its other settings, and score.svg. Where OpenCV is installed, its barcode::BarcodeDetector is scored on the same halves. Standard library only, but for OpenCV.
"""
import argparse
import csv
import os
import random
import subprocess
import sys
import tempfile

SIGMAS = (2, 3, 4)  # of patches; the width of the smoothing is 6 sigma + 1
VALUES = (60, 68, 76, 84, 92, 104)
AREAS = (25, 50, 75, 100, 125, 150)
RATIO = 3  # of a box's sides at most, the program's own
FOLDS = 4
PATCH = 16


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


def settings_of(sigma, value=None, area=None):
    parts = {"ksize": 6 * sigma + 1, "sigma": sigma, "value": value, "min_area": area}
    return [word for name, number in parts.items() if number is not None for word in ("-p", f"{name}={number}")]


def train(program, options, names, model):
    rungs(program, "train", "barcode", *(os.path.join(options.folder, name) for name in names), "--boxes", options.boxes, "-o", model)


def link(options, names, room):
    os.mkdir(room)
    for name in names:
        os.symlink(os.path.abspath(os.path.join(options.folder, name)), os.path.join(room, name))


def detect(program, folder, files, model, setting, room):
    """Our boxes of each file, as (left, top, right, bottom)."""
    rungs(program, "run", "barcode", folder, "-o", room, "--format", "csv", "-p", f"model={model}", "-p", f"ratio={RATIO}", *settings_of(*setting))
    result = {}
    for name in files:
        with open(os.path.join(room, os.path.splitext(name)[0] + ".csv"), newline="") as stream:
            rows = [[int(row[k]) for k in ("x", "y", "width", "height")] for row in csv.DictReader(stream)]
        result[name] = [(x, y, x + width, y + height) for x, y, width, height in rows]
    return result


def read_pgm(path):
    with open(path, "rb") as stream:
        fields = stream.read().split(maxsplit=3)
    width, height = int(fields[1]), int(fields[2])
    samples = fields[3].split(b"\n", 1)[1]
    return [samples[y * width : (y + 1) * width] for y in range(height)]


def components(score, value):
    """(area, box in pixels) of each 8-connected component of patches with a score above `value`, but for the long ones."""
    left = {(x, y) for y, row in enumerate(score) for x, sample in enumerate(row) if sample > value}
    while left:
        stack = [left.pop()]
        xs, ys = [], []
        while stack:
            x, y = stack.pop()
            xs.append(x)
            ys.append(y)
            for at in [(x + dx, y + dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1)]:
                if at in left:
                    left.remove(at)
                    stack.append(at)
        sides = sorted((max(xs) + 1 - min(xs), max(ys) + 1 - min(ys)))
        if sides[1] <= RATIO * sides[0]:
            yield len(xs), tuple(PATCH * side for side in (min(xs), min(ys), max(xs) + 1, max(ys) + 1))


def tally(known, names, found):
    """Recall and false boxes a picture."""
    results = [score(found[name], known[name]) for name in names]
    return (sum(r[0] for r in results) / sum(len(known[name]) for name in names), sum(r[1] for r in results) / len(names))


def choose(options, known, names, room):
    """The best settings by cross-validation on `names` alone, and all of them with their scores."""
    found = {}
    for part in range(FOLDS):
        held = names[part::FOLDS]
        training = [name for name in names if name not in held]
        model, pictures = os.path.join(room, f"inner{part}.npy"), os.path.join(room, f"inner{part}")
        train(options.rungs, options, training, model)
        link(options, held, pictures)
        for sigma in SIGMAS:
            maps = os.path.join(room, f"maps{part}_{sigma}")
            rungs(options.rungs, "run", "barcode", pictures, "-o", f"score={maps}", "--format", "pgm", "-p", f"model={model}", *settings_of(sigma))
            for name in held:
                score_map = read_pgm(os.path.join(maps, os.path.splitext(name)[0] + ".pgm"))
                for value in VALUES:
                    boxes = list(components(score_map, value))
                    for area in AREAS:
                        found.setdefault((sigma, value, area), {})[name] = [box for size, box in boxes if size >= area]
    scores = {setting: tally(known, names, boxes) for setting, boxes in found.items()}
    return max(scores, key=lambda setting: scores[setting][0] - scores[setting][1]), scores


def opencv(folder, files):
    """OpenCV's boxes, upright around its oriented ones; None where it is missing or has no detector."""
    try:
        import cv2

        detector = cv2.barcode.BarcodeDetector()
        find = getattr(detector, "detectMulti", detector.detect)  # of 4.6, detect() gives all
    except (ImportError, AttributeError):
        return None
    result = {}
    for name in files:
        ok, corners = find(cv2.imread(os.path.join(folder, name)))
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


def split_of(options, known, number, training, held, peer):
    """One split: what was chosen inside the training half, and what it is worth on the other."""
    with tempfile.TemporaryDirectory() as room:
        setting, inner = choose(options, known, training, room)
        model, pictures = os.path.join(room, "model.npy"), os.path.join(room, "held")
        train(options.rungs, options, training, model)
        link(options, held, pictures)
        curve = []
        for value in VALUES:
            found = detect(options.rungs, pictures, held, model, (setting[0], value, setting[2]), os.path.join(room, f"boxes{value}"))
            curve.append((value, *tally(known, held, found)))
        recall, false = next(point[1:] for point in curve if point[0] == setting[1])
    result = {"split": number, "sigma": setting[0], "value": setting[1], "min_area": setting[2], "inner_recall": inner[setting][0],
              "inner_false": inner[setting][1], "recall": recall, "false_boxes": false, "curve": curve}
    if peer:
        result["opencv_recall"], result["opencv_false_boxes"] = tally(known, held, peer)
    return result


def main():
    parser = argparse.ArgumentParser(description="Nested cross-validation of rungs barcode.")
    parser.add_argument("folder")
    parser.add_argument("--boxes")
    parser.add_argument("--rungs", default="build/rungs")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--out", default="build/barcode_score")
    options = parser.parse_args()
    options.boxes = options.boxes or os.path.join(options.folder, "boxes.csv")
    known = read_boxes(options.boxes)
    peer = opencv(options.folder, sorted(known))
    splits, lines = [], ["$ " + " ".join(["python3", *sys.argv])]

    def say(text):
        lines.append(text)
        print(text, flush=True)

    def mean(name):
        return sum(split[name] for split in splits) / len(splits)

    say(f"{len(known)} pictures, {sum(map(len, known.values()))} boxes; {options.splits} splits in halves")
    for number, (training, held) in enumerate(halves(known, options.splits)):
        splits.append(split_of(options, known, number, training, held, peer))
        say("split {split}: the training half chooses sigma={sigma} value={value} min_area={min_area} (recall {inner_recall:.3f}, "
            "{inner_false:.2f} false boxes a picture); held out: recall {recall:.3f}, {false_boxes:.2f} false".format(**splits[-1]))
    say(f"barcode, held out, mean: recall {mean('recall'):.3f}, {mean('false_boxes'):.2f} false boxes a picture")
    if peer:
        say(f"OpenCV, same halves, mean: recall {mean('opencv_recall'):.3f}, {mean('opencv_false_boxes'):.2f} false boxes a picture")
    with tempfile.TemporaryDirectory() as room:
        setting, scores = choose(options, known, sorted(known), room)
    say("all pictures choose sigma={} value={} min_area={} (recall {:.3f}, {:.2f} false boxes a picture)".format(*setting, *scores[setting]))
    curve = [(value, *(sum(split["curve"][i][column] for split in splits) / len(splits) for column in (1, 2))) for i, value in enumerate(VALUES)]
    os.makedirs(os.path.dirname(options.out) or ".", exist_ok=True)
    with open(options.out + ".txt", "w") as stream:
        stream.write("\n".join(lines) + "\n")
    with open(options.out + ".csv", "w", newline="") as stream:
        writer = csv.writer(stream)
        ours = ("split", "sigma", "value", "min_area", "chosen", "recall", "false_boxes_a_picture")
        writer.writerow(ours + (("opencv_recall", "opencv_false_boxes_a_picture") if peer else ()))
        for split in splits:
            for value, recall, false in split["curve"]:
                row = (split["split"], split["sigma"], value, split["min_area"], int(value == split["value"]), f"{recall:.4f}", f"{false:.4f}")
                writer.writerow(row + ((f"{split['opencv_recall']:.4f}", f"{split['opencv_false_boxes']:.4f}") if peer else ()))
    draw(options.out + ".svg", curve, (mean("opencv_recall"), mean("opencv_false_boxes")) if peer else None)


if __name__ == "__main__":
    main()
