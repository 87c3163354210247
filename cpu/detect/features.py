"""Trains a model of each kind of feature with the same boosting, and scores them on pictures that none was trained with.

    features.py FACES NONFACES/ PICTURES/ --boxes BOXES --out DIR [--rungs build/rungs] [--stages 128] [--samples 8000]
                [--features 6000] [--alpha 0.1] [--threads N] [--only FEATURE]

FACES      windows with the object, as `rungs train detect` takes them; NONFACES/ photographs without one
PICTURES/  what to score on, and BOXES its objects, as score.py reads them

DIR gets FEATURE.model, what each training says (FEATURE.model.csv), the curve of each (FEATURE.csv: recall against false positives a
picture) and features.txt, a line a feature. Hits above 0 count and each alone may be a detection, so that the curve goes from the
strongest to weak ones.

The same command goes on after a stop, from the last checkpoint of each training; with more stages it goes on from those that there
are, with fewer it scores only the first ones. settings.txt holds what the models in DIR were trained with: other settings need another
DIR. --only trains and scores one feature, so that several may be trained at once, and writes no features.txt.
"""
import argparse
import csv
import os
import pathlib
import re
import resource
import subprocess
import sys

FEATURES = ("lrd", "lrp", "lbp", "haar")
RATES = (0.07, 0.15, 0.42, 0.83)


def stop(text):
    sys.exit(f"features: {text}")


def run(command, what):
    """What it prints; its progress and its errors go to the terminal."""
    try:
        process = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    except OSError as error:
        stop(f"{command[0]}: {error.strerror}")
    if process.returncode != 0:
        stop(f"{what} failed")
    return process.stdout


def lines_of(path):
    """Those of a training's report; none while there is none."""
    if not path.is_file():
        return []
    with open(path, encoding="ascii") as file:
        return list(csv.DictReader(file))


def train(words, feature, model):
    """Returns the report of the stages that are asked for."""
    report = model.with_name(f"{model.name}.csv")
    there = len(lines_of(report))
    if there < words.stages or not model.is_file():
        print(f"{feature}: training, {there} of {words.stages} stages are there", file=sys.stderr)
        settings = {"feature": feature, "stages": max(words.stages, there), "alpha": words.alpha, "samples": words.samples,
                    "features": words.features}
        options = [word for name, value in settings.items() for word in ("-p", f"{name}={value}")]
        run([words.rungs, "train", "detect", words.faces, words.nonfaces, "-o", str(model), "--resume", *options, *words.limit],
            f"the training of {feature}")
    return lines_of(report)[:words.stages]


def score(words, feature, model, stages):
    """Recall at each of RATES, the version, its processor seconds for all pictures, and what score.py says of them."""
    found = words.out / f"{feature}.found"
    settings = {"model": model, "stages": stages, "min_response": 0, "min_score": 0, "neighbours": 1, "maximum": 4096}
    options = [word for name, value in settings.items() for word in ("-p", f"{name}={value}")]
    version = "cpu/omp" if feature == "haar" else "cpu/queue"
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    run([words.rungs, "run", f"detect:{version}", words.pictures, "-o", str(found), *options],
        f"the search with {feature}")
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    scorer = str(pathlib.Path(__file__).with_name("score.py"))
    text = run([sys.executable, "-B", scorer, words.boxes, str(found), "--curve", str(words.out / f"{feature}.csv")],
               f"the scoring of {feature}")
    with open(words.out / f"{feature}.csv", encoding="ascii") as file:
        curve = [(float(row["false_positives"]), float(row["recall"])) for row in csv.DictReader(file)]
    recalls = [max((recall for wrong, recall in curve if wrong <= rate), default=0) for rate in RATES]
    return recalls, seconds, re.sub(r", \d+ detections$", "", text.splitlines()[0])


def check(words):
    """What would fail only after hours of training."""
    if words.stages < 1:
        stop("--stages must be at least 1")
    for path, right in ((words.faces, pathlib.Path.is_file), (words.nonfaces, pathlib.Path.is_dir),
                        (words.pictures, pathlib.Path.is_dir), (words.boxes, pathlib.Path.is_file)):
        if not right(pathlib.Path(path)):
            stop(f"{path}: no {'file' if right is pathlib.Path.is_file else 'folder'}")
    settings = (f"faces={pathlib.Path(words.faces).resolve()}\nnonfaces={pathlib.Path(words.nonfaces).resolve()}\n"
                f"alpha={words.alpha:g}\nsamples={words.samples}\nfeatures={words.features}\n")
    try:
        words.out.mkdir(parents=True, exist_ok=True)
        kept = words.out / "settings.txt"
        if not kept.is_file() and not list(words.out.glob("*.model*")):
            kept.write_text(settings, encoding="utf-8")
        if not kept.is_file() or kept.read_text(encoding="utf-8") != settings:
            stop(f"{words.out}: has models that were trained with other settings")
    except OSError as error:
        stop(f"{words.out}: {error.strerror}")


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
    parser.add_argument("--only", choices=FEATURES)
    words = parser.parse_args()
    words.limit = ["--threads", str(words.threads)] if words.threads else []
    if words.threads:
        os.environ["OMP_NUM_THREADS"] = str(words.threads) # `rungs run` has no option for it
    check(words)
    lines = []
    for feature in [words.only] if words.only else FEATURES:
        model = words.out / f"{feature}.model"
        trained = train(words, feature, model)
        recalls, seconds, scored = score(words, feature, model, len(trained))
        lines.append(
            f"{feature:<7}{len(trained):>8}" + "".join(f"{recall:>8.3f}" for recall in recalls)
            + f"{float(trained[-1]['mean_stages']):>15.2f}{float(trained[-1]['held_positives_left']):>8.3f}{seconds:>10.1f}"
        )
        print(lines[-1], flush=True)
    if words.only:
        return
    head = (
        f"alpha={words.alpha:g}, {words.samples} windows of either class, {words.features} features tried a stage; {scored}.\n"
        "Stages; recall at so many false positives a picture; stages a window of the photographs; share of the held out objects that\n"
        "all stages keep; processor seconds of cpu/queue for all pictures (haar: of cpu/omp, which computes a deviation anew for each\n"
        "stage).\n\n"
        "feature  stages" + "".join(f"{rate:>8g}" for rate in RATES) + "  stages/window    kept  pictures\n"
    )
    (words.out / "features.txt").write_text(head + "\n".join(lines) + "\n", encoding="ascii")
    print(f"written: {words.out / 'features.txt'}")


if __name__ == "__main__":
    main()
