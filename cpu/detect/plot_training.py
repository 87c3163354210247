"""Draws what a training says of its stages.

    plot_training.py MODEL.csv OUT.svg

MODEL.csv is what `rungs train detect` writes beside MODEL, a line a stage. Three plots below each other, against the number of stages:
the share of the held out objects that are lost, that of all windows of the photographs which pass, and the stage's Z, by which the bound on
the training error shrinks; the stages that a window takes on average; and the threshold, below which a window leaves, of stages that have one.
"""
import csv
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common" / "report"))
import gnuplot  # noqa: E402

NONE = -1e6  # the threshold of a stage that rejects nothing
COLUMNS = ("stage", "z", "threshold", "held_positives_left", "windows_passing", "mean_stages")


def stop(text):
    print(f"plot_training: {text}", file=sys.stderr)
    sys.exit(2)


def read(path):
    """Its lines as numbers, by column; NaN where there is no finite one."""
    try:
        with open(path, encoding="ascii", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        stop(f"{path}: {error.strerror if isinstance(error, OSError) else 'no report of a training'}")
    try:
        columns = {name: [float(row[name]) for row in rows] for name in COLUMNS}
    except (KeyError, TypeError, ValueError):
        stop(f"{path}: no report of a training")
    if not rows:
        stop(f"{path}: no stages")
    return columns


def curves(x, named, label, logarithmic):
    """A plot of the lists in `named`; what a logarithmic axis has no place for is left out."""
    lines, plots = [f"set ylabel {gnuplot.quoted(label)} textcolor rgb '{gnuplot.light('ink')}'"], []
    lines += ["set logscale y", "set format y '%g'"] if logarithmic else ["unset logscale y"]
    for number, (name, values) in enumerate(named):
        points = [(a, b) for a, b in zip(x, values) if math.isfinite(b) and (b > 0 or not logarithmic)]
        if not points:
            continue
        block = f"curve{label.replace(' ', '')}{number}"
        lines += gnuplot.block(block, points)
        plots.append(f"${block} using 1:2 with lines lw 2 lc rgb '{gnuplot.light(gnuplot.LINES[number])}' title {gnuplot.quoted(name)}")
    return lines + (["plot " + ", ".join(plots)] if plots else [])


def main():
    if len(sys.argv) != 3:
        stop("usage: plot_training.py MODEL.csv OUT.svg")
    report = read(sys.argv[1])
    x = report["stage"]
    errors = [
        ("held out objects lost", [1 - left for left in report["held_positives_left"]]),
        ("windows that pass", report["windows_passing"]),
        ("the stage's Z", report["z"]),
    ]
    lines = ["set logscale x", "set xlabel 'stages'", "set multiplot layout 3,1", "set key above left Left reverse maxrows 3 font ',11'"]
    lines += curves(x, errors, "share", True)
    lines += curves(x, [("stages a window takes", report["mean_stages"])], "mean stages", False)
    lines += curves(x, [("threshold", [t if t > NONE else math.nan for t in report["threshold"]])], "response", False)
    try:
        drawn = gnuplot.draw(3 * gnuplot.HEIGHT, lines + ["unset multiplot"])
        pathlib.Path(sys.argv[2]).write_text(drawn, encoding="utf-8")
    except gnuplot.PlotError as error:
        stop(error)
    except OSError as error:
        stop(f"{sys.argv[2]}: {error.strerror}")


if __name__ == "__main__":
    main()
