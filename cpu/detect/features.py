"""Trains a model of each kind of feature with the same boosting, and scores them on pictures that none was trained with.

    features.py FACES NONFACES/ PICTURES/ --boxes BOXES --out DIR [--rungs build/rungs] [--stages 128] [--samples 8000]
                [--features 6000] [--alpha 0.1] [--threads N]

FACES      windows with the object, as `rungs train detect` takes them; NONFACES/ photographs without one
PICTURES/  what to score on, and BOXES its objects, as score.py reads them

DIR gets FEATURE.model, what each training says (FEATURE.model.csv), the curve of each (FEATURE.csv: recall against false positives a
picture) and features.txt, a line a feature. Hits above 0 count and each alone may be a detection, so that the curve goes from the
strongest to weak ones. A model that is there already is not trained again.
"""
import argparse
import csv
import pathlib
import re
import subprocess
import sys
import time

FEATURES = ("lrd", "lrp", "lbp", "haar")
RATES = (0.07, 0.15, 0.42, 0.83)


def run(command):
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    if process.returncode != 0:
        sys.exit(f"features: {' '.join(command)}: {(process.stderr.strip().splitlines() or ['failed'])[-1]}")
    return process.stdout


def train(words, feature, model):
    if model.is_file():
        return
    settings = {"feature": feature, "stages": words.stages, "alpha": words.alpha, "samples": words.samples, "features": words.features}
    options = [word for name, value in settings.items() for word in ("-p", f"{name}={value}")]
    run([words.rungs, "train", "detect", words.faces, words.nonfaces, "-o", str(model), *options, *words.limit])


def score(words, feature, model):
    """Recall at each of RATES, and the seconds that all pictures took."""
    found = words.out / f"{feature}.found"
    settings = ("-p", f"model={model}", "-p", "min_response=0", "-p", "min_score=0", "-p", "neighbours=1", "-p", "maximum=4096")
    version = "cpu/omp" if feature == "haar" else "cpu/queue"
    started = time.monotonic()
    run([words.rungs, "run", f"detect:{version}", words.pictures, "-o", str(found), *settings, *words.limit])
    seconds = time.monotonic() - started
    scorer = str(pathlib.Path(__file__).with_name("score.py"))
    text = run([sys.executable, "-B", scorer, words.boxes, str(found), "--curve", str(words.out / f"{feature}.csv")])
    with open(words.out / f"{feature}.csv", encoding="ascii") as file:
        curve = [(float(row["false_positives"]), float(row["recall"])) for row in csv.DictReader(file)]
    recalls = [max((recall for wrong, recall in curve if wrong <= rate), default=0) for rate in RATES]
    return recalls, seconds, re.sub(r", \d+ detections$", "", text.splitlines()[0])


def last_line(path):
    with open(path, encoding="ascii") as file:
        return list(csv.DictReader(file))[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("faces", "nonfaces", "pictures"):
        parser.add_argument(name)
    parser.add_argument("--boxes", required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--rungs", default="build/rungs")
    for name, preset in (("stages", 128), ("samples", 8000), ("features", 6000)):
        parser.add_argument(f"--{name}", type=int, default=preset)
    parser.add_argument("--alpha", type=float, default=0.1)
    parser.add_argument("--threads", type=int)
    words = parser.parse_args()
    words.limit = ["--threads", str(words.threads)] if words.threads else []
    words.out.mkdir(parents=True, exist_ok=True)
    lines = []
    for feature in FEATURES:
        model = words.out / f"{feature}.model"
        train(words, feature, model)
        recalls, seconds, scored = score(words, feature, model)
        trained = last_line(f"{model}.csv")
        lines.append(
            f"{feature:<7}" + "".join(f"{recall:>8.3f}" for recall in recalls) + f"{float(trained['mean_stages']):>12.2f}"
            f"{float(trained['held_positives_left']):>12.3f}{float(trained['seconds']):>11.0f}{seconds:>9.1f}"
        )
        print(lines[-1], flush=True)
    head = (
        f"{words.stages} stages, alpha={words.alpha:g}, {words.samples} windows of either class, {words.features} features tried a stage; {scored}.\n"
        "Recall at so many false positives a picture; stages a window of the photographs; share of the held out objects that all\n"
        "stages keep; seconds of the training, and of cpu/queue for all pictures (haar: of cpu/omp, which computes a deviation anew for each stage).\n\n"
        "feature" + "".join(f"{rate:>8g}" for rate in RATES) + "  stages/window    kept   training  pictures\n"
    )
    (words.out / "features.txt").write_text(head + "\n".join(lines) + "\n", encoding="ascii")
    print(f"written: {words.out / 'features.txt'}")


if __name__ == "__main__":
    main()
