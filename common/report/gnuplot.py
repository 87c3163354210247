"""What all plots share: gnuplot, its colours, and axes with ticks that read well."""

import math
import re
import shutil
import subprocess

INSTALL = "gnuplot is not here; to install it, as root: apt-get install -y --no-install-recommends gnuplot-nox"

# name: (light, dark). Each differs from its background by 4.5:1 or more, but for the soft fills and the grid.
PALETTE = {
    "paper": ("#ffffff", "#151b23"),
    "ink": ("#1f2328", "#e6edf3"),
    "muted": ("#59636e", "#9198a1"),
    "grid": ("#d8dee4", "#30363d"),
    "cpu": ("#0969da", "#4493f8"),
    "cuda": ("#1a7f37", "#3fb950"),
    "peer": ("#8250df", "#ab7df8"),
    "cpu-soft": ("#a8cdf7", "#1c4674"),
    "cuda-soft": ("#a5d9b2", "#1a5329"),
    "peer-soft": ("#d6c3f5", "#4a3379"),
    "line0": ("#bf3989", "#db61a2"),
    "line1": ("#bc4c00", "#f0883e"),
    "line2": ("#1b7c83", "#39c5cf"),
    "line3": ("#9a6700", "#d29922"),
    "line4": ("#cf222e", "#ff7b72"),
}
LINES = ["cpu", "line1", "cuda", "line0", "line2", "peer", "line3", "line4"]
STEPS = LINES + ["cpu-soft", "cuda-soft", "peer-soft", "muted", "ink"]  # of bars, whose colours need no contrast with the paper
# In px at 12 px text: three plots beside each other on a laptop, and one on a phone, stay near that size.
WIDTH, HEIGHT = 400, 340


class PlotError(Exception):
    pass


# -------------------------------------------------------------------------------------------------------- gnuplot


def light(name):
    return PALETTE[name][0]


def quoted(text):
    """A gnuplot string. Between single quotes nothing is expanded, neither a backquote nor a backslash."""
    return "'" + re.sub(r"[\x00-\x1f]", " ", text).replace("'", "''") + "'"


def draw(height, lines):
    """Runs gnuplot and returns the SVG."""
    head = [
        "set encoding utf8",
        f"set terminal svg size {WIDTH},{height} dynamic noenhanced font 'sans-serif,12' background '{light('paper')}'",
        f"set border lc rgb '{light('muted')}'",
        f"set tics textcolor rgb '{light('ink')}' nomirror scale 0.5",
        f"set key textcolor rgb '{light('ink')}' samplen 1.5 spacing 1.1",
        f"set grid xtics ytics lt 1 lw 1 lc rgb '{light('grid')}'",
        "set bars 0.5",
    ]
    try:
        process = subprocess.run(
            ["gnuplot", "-"],
            input="\n".join(head + lines) + "\n",
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
    except FileNotFoundError:
        raise PlotError(INSTALL) from None
    except subprocess.TimeoutExpired:
        raise PlotError("gnuplot took over a minute") from None
    if process.returncode != 0 or "</svg>" not in process.stdout:
        raise PlotError(f"gnuplot failed ({process.returncode}): {' '.join(process.stderr.split())[:300]}")
    return process.stdout


def available():
    return shutil.which("gnuplot") is not None


def block(name, rows):
    return [f"${name} << END_OF_DATA"] + [" ".join(str(cell) for cell in row) for row in rows] + ["END_OF_DATA"]


def colour(name):
    """A colour as a number, for `lc rgb variable`."""
    return int(light(name)[1:], 16)


# ----------------------------------------------------------------------------------------------------------- axes


def ticks(low, high, most, text):
    """Ticks of a logarithmic axis: powers of ten, every so many that there are at most `most`; 1 2 5 where few."""
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    if last - first + 1 >= 3:
        step = math.ceil((last - first + 1) / most)
        values = [10.0**power for power in range(first, last + 1, step)]
    else:
        values = [
            digit * 10.0**power
            for power in range(first - 1, last + 1)
            for digit in (1, 2, 5)
            if low <= digit * 10.0**power <= high
        ]
    return "(" + ", ".join(f"{quoted(text(value))} {value:g}" for value in values) + ")"


def short(value):
    """1000 -> 1000, 1e6 -> 1 M: the number under a tick."""
    for factor, unit in ((1e12, " T"), (1e9, " G"), (1e6, " M"), (1e4, " k")):
        if value >= factor * 0.9995 or (unit == " k" and value >= 0.9995e4):
            return f"{value / (1e3 if unit == ' k' else factor):.4g}{unit}"
    return f"{value:.4g}"


def short_time(seconds):
    for factor, unit in ((1, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= factor * 0.9995:
            return f"{seconds / factor:.4g} {unit}"
    return f"{seconds / 1e-9:.4g} ns"


def axis(name, low, high, label, most, text):
    return [
        f"set logscale {name}",
        f"set {name}range [{low:g}:{high:g}]",
        f"set {name}tics {ticks(low, high, most, text)}",
        f"set {name}label {quoted(label)} textcolor rgb '{light('ink')}'",
    ]


def version_axis(rows):
    labels = ", ".join(f"{quoted(short_id(row['id']))} {index}" for index, row in enumerate(rows))
    return [f"set yrange [{len(rows) - 0.4:g}:-0.6]", f"set ytics ({labels}) scale 0", "set grid noytics"]


def key_below(names):
    """A key of three columns over the whole width below the label of the x axis, and the lower margin for it: `below`
    puts it too near, and only under the axis."""
    rows = math.ceil(len(names) / 3)
    return [
        f"set key at screen 0.02, screen 0.01 left bottom Left reverse vertical maxrows {rows} width -1 font ',11'",
        f"set bmargin {3.4 + 1.1 * rows:g}",
    ]


def short_id(name):
    """peer/opencv-python: without its side where the plot would be pushed aside."""
    return name.split("/")[-1] if len(name) > 14 and "," not in name else name
