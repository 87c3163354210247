#!/usr/bin/env python3
"""Recall of `barcode` against the angle at which a barcode lies, of a model that has seen upright pictures and of one that has seen turned
and clean ones:

    python3 studies/barcode_angle.py DIR [--boxes DIR/boxes.csv] [--rungs build/rungs] [--splits 2] [--out build/barcode_angle]

Each split draws one half of the pictures to train on and scores the other, turned by ANGLES. Of the turned model
smoothing, threshold and least area are chosen inside the training half: a model of its first half gives the scores of its second one,
turned by CHOOSE. The upright model has the presets. Clean pictures are drawn here, black bars of 95 modules on white without noise; those
that are scored are others than those that are trained with. A box counts as found as in barcode_score.py, where ours covers it with an
intersection over union of at least 0.5; both are upright boxes, around what is turned. What surrounds a turned picture is its mirror image,
for any other frame has edges of its own, and boxes whose centre lies there do not count.

It writes OUT.txt, what it also prints, OUT.csv, OUT.svg, and the model of all pictures, OUT.npy. Needs ffmpeg, which turns the
pictures, and gnuplot.
"""
import argparse
import csv
import math
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common", "report"))
import plots  # noqa: E402
from barcode_score import AREAS, SIGMAS, VALUES, components, detect, halves, read_boxes, read_pgm, rungs, score, settings_of  # noqa: E402

ANGLES = range(0, 181, 15)
CHOOSE = (0, 30, 45, 60, 90)
TURNED = ["-p", "turns=24", "-p", "k=256"]
PRESET = (2, 92, 100)
CLEAN = 20


def render(folder, seed):
    """Clean barcodes as NAME.pgm, and {name: box}: modules of 2 to 6 pixels, bars of 1 to 4 modules, black and white by turns."""
    draw, boxes = random.Random(seed), {}
    os.makedirs(folder)
    for number in range(CLEAN):
        module, bars, black = 2 + number % 5, b"", True
        while len(bars) < 95 * module:
            bars += (b"\0" if black else b"\xff") * (module * draw.choice((1, 1, 1, 2, 2, 3, 4)))
            black = not black
        bars = bars[: 95 * module]
        high = int(len(bars) * draw.uniform(0.4, 0.8))
        width, height = len(bars) + draw.randrange(200, 400), high + draw.randrange(200, 400)
        left, top = draw.randrange(60, width - len(bars) - 60), draw.randrange(60, height - high - 60)
        row = b"\xff" * left + bars + b"\xff" * (width - left - len(bars))
        white = b"\xff" * width
        name = f"clean{number:02d}.pgm"
        with open(os.path.join(folder, name), "wb") as stream:
            stream.write(b"P5\n%d %d\n255\n" % (width, height) + white * top + row * high + white * (height - top - high))
        boxes[name] = [(left, top, left + len(bars), top + high)]
    return boxes


def size_of(path):
    found = subprocess.run(["ffprobe", "-v", "error", "-show_entries", "stream=width,height", "-of", "csv=p=0", path], capture_output=True, text=True)
    if found.returncode != 0:
        sys.exit(f"barcode_angle.py: {found.stderr.strip()}")
    return tuple(map(int, found.stdout.strip().split(",")[:2]))


class Turned:
    """Pictures turned by one angle, clockwise, about their centres, in a folder of their own."""

    def __init__(self, folder, paths, boxes, angle):
        self.folder, self.angle, self.sizes, self.boxes = folder, math.radians(angle), {}, {}
        os.makedirs(folder)
        for path in paths:
            name = os.path.splitext(os.path.basename(path))[0] + ".pgm"
            width, height = self.sizes[name] = size_of(path)
            wide, high = map(math.ceil, self.canvas(name))
            # The picture in the middle of its mirror images, which reach to the corners of what is cut out of the turned whole.
            across, down = (min(side, math.ceil(math.hypot(wide, high) / 2 - side / 2)) for side in (width, height))
            filters = (f"format=gray,pad={width + 2 * across}:{height + 2 * down}:{across}:{down},"
                       f"fillborders={across}:{across}:{down}:{down}:mirror,rotate={self.angle},crop={wide}:{high}")
            rungs("ffmpeg", "-nostdin", "-v", "error", "-i", path, "-vf", filters, os.path.join(folder, name))
            self.boxes[name] = [self.around(name, box) for box in boxes.get(os.path.basename(path), [])]

    def canvas(self, name):
        (width, height), cosine, sine = self.sizes[name], abs(math.cos(self.angle)), abs(math.sin(self.angle))
        return width * cosine + height * sine - 1e-6, width * sine + height * cosine - 1e-6

    def around(self, name, box):
        """The upright box around a box that is turned with its picture."""
        (width, height), (wide, high) = self.sizes[name], self.canvas(name)
        cosine, sine = math.cos(self.angle), math.sin(self.angle)
        corners = [(x - width / 2, y - height / 2) for x in box[::2] for y in box[1::2]]
        xs, ys = [cosine * x - sine * y + wide / 2 for x, y in corners], [sine * x + cosine * y + high / 2 for x, y in corners]
        return min(xs), min(ys), max(xs), max(ys)

    def in_picture(self, name, box):
        (width, height), (wide, high) = self.sizes[name], self.canvas(name)
        right, down = (box[0] + box[2] - wide) / 2, (box[1] + box[3] - high) / 2
        cosine, sine = math.cos(self.angle), math.sin(self.angle)
        return abs(cosine * right + sine * down) < width / 2 and abs(cosine * down - sine * right) < height / 2

    def tally(self, found):
        """(boxes that are found, boxes that there are, false ones)."""
        results = [score([box for box in found[name] if self.in_picture(name, box)], known) for name, known in self.boxes.items()]
        return sum(r[0] for r in results), sum(map(len, self.boxes.values())), sum(r[1] for r in results)


def choose(options, model, many, room):
    """The settings with the most boxes found less false ones over all of the turned folders."""
    totals = {}
    for turned in many:
        for sigma in SIGMAS:
            maps = os.path.join(room, f"maps{sigma}_{turned.angle}")
            rungs(options.rungs, "run", "barcode", turned.folder, "-o", f"score={maps}", "--format", "pgm", "-p", f"model={model}", *settings_of(sigma))
            read = {name: read_pgm(os.path.join(maps, name)) for name in turned.boxes}
            for value in VALUES:
                boxes = {name: list(components(rows, value)) for name, rows in read.items()}
                for area in AREAS:
                    true, _, false = turned.tally({name: [box for size, box in found if size >= area] for name, found in boxes.items()})
                    totals[sigma, value, area] = totals.get((sigma, value, area), 0) + true - false
    return max(totals, key=totals.get)


def main():
    parser = argparse.ArgumentParser(description="Recall of rungs barcode against the angle.")
    parser.add_argument("folder")
    parser.add_argument("--boxes")
    parser.add_argument("--rungs", default="build/rungs")
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--out", default="build/barcode_angle")
    options = parser.parse_args()
    options.boxes = options.boxes or os.path.join(options.folder, "boxes.csv")
    known, lines, counts = read_boxes(options.boxes), ["$ " + " ".join(["python3", *sys.argv])], {}

    def say(text):
        lines.append(text)
        print(text, flush=True)

    def path(name):
        return os.path.join(options.folder, name)

    def train(names, model, *more):
        rungs(options.rungs, "train", "barcode", *map(path, names), *more, "-o", model)

    with tempfile.TemporaryDirectory() as room:
        seen, fresh = os.path.join(room, "seen"), os.path.join(room, "fresh")
        drawn, drawn_fresh = render(seen, 1), render(fresh, 2)
        both = os.path.join(room, "boxes.csv")
        with open(both, "w", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(("file", "xmin", "ymin", "xmax", "ymax"))
            writer.writerows((name, *box) for name, boxes in {**known, **drawn}.items() for box in boxes)
        turned_too = (seen, "--boxes", both, *TURNED)
        say(f"{len(known)} pictures, {sum(map(len, known.values()))} boxes; {options.splits} splits in halves; {CLEAN} clean pictures to train with, {CLEAN} others")
        clean = {angle: Turned(f"{room}/clean{angle}", [os.path.join(fresh, name) for name in drawn_fresh], drawn_fresh, angle) for angle in ANGLES}
        for split, (training, held) in enumerate(halves(known, options.splits)):
            inner, upright, turned = (f"{room}/{split}_{name}.npy" for name in ("inner", "upright", "turned"))
            train(training[::2], inner, *turned_too)
            some = [Turned(f"{room}/{split}_choose{angle}", map(path, training[1::2]), known, angle) for angle in CHOOSE]
            setting = choose(options, inner, some, f"{room}")
            train(training, turned, *turned_too)
            train(training, upright, "--boxes", options.boxes)
            say("split {}: the turned model takes sigma={} value={} min_area={}".format(split, *setting))
            for angle in ANGLES:
                photographs = Turned(f"{room}/{split}_{angle}", map(path, held), known, angle)
                for kind, pictures in (("photographs", photographs), ("clean", clean[angle])):
                    for name, model, settings in (("upright", upright, PRESET), ("turned", turned, setting)):
                        found = detect(options.rungs, pictures.folder, pictures.boxes, model, settings, f"{room}/{split}_{kind}_{name}_{angle}")
                        old = counts.get((kind, name, angle), (0, 0, 0, 0))
                        counts[kind, name, angle] = tuple(a + b for a, b in zip(old, (*pictures.tally(found), len(pictures.boxes))))
        inner = f"{room}/all.npy"
        train(sorted(known)[::2], inner, *turned_too)
        some = [Turned(f"{room}/choose{angle}", map(path, sorted(known)[1::2]), known, angle) for angle in CHOOSE]
        say("the model of all pictures: sigma={} value={} min_area={}".format(*choose(options, inner, some, room)))
        os.makedirs(os.path.dirname(options.out) or ".", exist_ok=True)
        train(sorted(known), options.out + ".npy", *turned_too)
    series = {}
    with open(options.out + ".csv", "w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(("pictures", "trained_with", "angle", "boxes", "found", "false_boxes", "scored_pictures"))
        for (kind, name, angle), (true, boxes, false, pictures) in sorted(counts.items()):
            writer.writerow((kind, name, angle, boxes, true, false, pictures))
            series.setdefault((kind, name), []).append((angle, true / boxes, true / boxes, true / boxes))
    for kind, name in series:
        rows = [counts[kind, name, angle] for angle in ANGLES]
        say(f"{kind}, trained with {name} pictures: recall upright {rows[0][0] / rows[0][1]:.3f}, mean of all angles "
            f"{sum(r[0] for r in rows) / sum(r[1] for r in rows):.3f}, least {min(r[0] / r[1] for r in rows):.3f}; "
            f"false boxes a picture upright {rows[0][2] / rows[0][3]:.2f}, mean {sum(r[2] for r in rows) / sum(r[3] for r in rows):.2f}")
    with open(options.out + ".txt", "w") as stream:
        stream.write("\n".join(lines) + "\n")
    named = [(f"{kind}, {name} model", sorted(points)) for (kind, name), points in sorted(series.items())]
    places = [(str(angle), angle) for angle in range(0, 181, 45)]
    plots.write_whole(options.out + ".svg", plots.lines_plot(named, places, False, "the barcode's angle in degrees", False, "recall", lambda y: f"{y:g}"))


if __name__ == "__main__":
    main()
