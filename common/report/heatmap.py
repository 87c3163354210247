"""A search over launch parameters as heat maps: SVG for the page, drawn from the results file of `rungs tune --json`.

The picture of `rungs tune --svg` is one sheet of a fixed width; on a page the panels wrap, and so each is its own SVG.
Scale, colours and words are those of common/output/tune_svg.c.
"""

import html
import itertools
import math

import results as rungs

# Six columns fit a phone of 400 px.
CELL_WIDTH, CELL_HEIGHT, LETTER, TOP = 54, 38, 7.2, 40
# Eight colours of cividis (Nunez, Anderton and Renslow 2018): seen alike whatever one's colour vision.
CIVIDIS = [
    (0, 34, 78), (32, 56, 107), (66, 78, 107), (98, 101, 112),
    (129, 126, 119), (165, 152, 115), (206, 184, 95), (254, 232, 56),
]  # fmt: skip


def colours(place):
    """Fill and ink of a cell; place: 0 = slow and dark, 1 = fast and light."""
    at = min(max(place, 0), 1) * (len(CIVIDIS) - 1)
    below = min(int(at), len(CIVIDIS) - 2)
    rgb = [round(low + (at - below) * (high - low)) for low, high in zip(CIVIDIS[below], CIVIDIS[below + 1])]
    light = 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2] >= 118
    return "#" + "".join(f"{part:02x}" for part in rgb), "#000000" if light else "#ffffff"


def unit_of(seconds):
    return (1, "s") if seconds >= 1 else (1e-3, "ms") if seconds >= 1e-3 else (1e-6, "µs")


def values_text(point):
    return ", ".join(f"{name}={value}" for name, value in point["values"].items())


class Scale:
    """From the best time to the slowest, but to twice the best at most: an outlier must not take all shades."""

    def __init__(self, points):
        times = [point["time"]["median"] for point in points if point["time"]]
        self.best = min(times)
        self.slow = min(max(max(times), 1.05 * self.best), 2 * self.best)
        self.unit, self.name = unit_of(self.best)

    def place(self, seconds):
        return 1 - math.log(seconds / self.best) / math.log(self.slow / self.best)


def _cell(point, scale, x, y):
    box = f'x="{x}" y="{y}" width="{CELL_WIDTH}" height="{CELL_HEIGHT}"'
    middle = x + CELL_WIDTH / 2
    if point is None:
        return ""
    title = html.escape(values_text(point))
    if point["time"] is None:
        return (
            f'<g><title>{title}: {html.escape(point["outcome"])}</title><rect class="none" {box} />'
            f'<text x="{middle:g}" y="{y + 23}" class="note">{html.escape(point["outcome"])}</text></g>'
        )
    seconds = point["time"]["median"]
    fill, ink = colours(scale.place(seconds))
    second = "best" if point["best"] else "= best" if point["like_best"] else f"{rungs.number(seconds / scale.best)}×"
    lines = [
        f'<g fill="{ink}"><title>{title}: {rungs.time_and_spread(point["time"])}</title><rect {box} fill="{fill}" />',
        f'<text x="{middle:g}" y="{y + 17}" class="strong">{rungs.number(seconds / scale.unit)}</text>',
        f'<text x="{middle:g}" y="{y + 30}" class="note">{second}</text></g>',
    ]

    def frame(inset, style):
        return (
            f'<rect x="{x + inset}" y="{y + inset}" width="{CELL_WIDTH - 2 * inset}" '
            f'height="{CELL_HEIGHT - 2 * inset}" fill="none" {style} />'
        )

    if point["best"]:
        lines.append(frame(2, f'stroke="{ink}" stroke-width="3"'))
    if point["default"]:
        lines.append(frame(5 if point["best"] else 2, f'stroke="{ink}" stroke-width="1.5" stroke-dasharray="4 3"'))
    return "".join(lines)


def _panel(across, down, by_values, fixed, scale, label):
    rows = down["values"] if down else [None]
    words = [str(value) for value in rows] if down else []
    left = 12 + LETTER * max(map(len, words)) if down else 1
    axes = (f"{down['name']} ↓  " if down else "") + f"{across['name']} →"
    width = max(left + CELL_WIDTH * len(across["values"]), LETTER * len(axes)) + 1
    height = TOP + CELL_HEIGHT * len(rows) + 1
    lines = [
        f'<svg class="heat" viewBox="0 0 {width:g} {height}" style="width:{width:g}px" role="img" '
        f'aria-label="{html.escape(label)}">'
    ]
    lines.append(f'<text x="0" y="13" class="axes">{html.escape(axes)}</text>')
    for i, value in enumerate(across["values"]):
        x = left + CELL_WIDTH * (i + 0.5)
        lines.append(f'<text x="{x:g}" y="32" class="strong">{html.escape(str(value))}</text>')
    for j, row in enumerate(rows):
        y = TOP + CELL_HEIGHT * j
        if down:
            lines.append(f'<text x="{left - 8:g}" y="{y + 23}" class="side strong">{html.escape(str(row))}</text>')
        for i, value in enumerate(across["values"]):
            values = dict(fixed, **{across["name"]: value}, **({down["name"]: row} if down else {}))
            point = by_values.get(tuple(sorted((name, str(text)) for name, text in values.items())))
            lines.append(_cell(point, scale, left + CELL_WIDTH * i, y))
    return "".join(lines) + "</svg>"


def panels(results):
    """(title, SVG) of each panel: the first two axes with a choice across and down, one panel for each combination of
    the others. Nothing when no point was timed."""
    points, axes = results["points"], results["axes"]
    if not axes or not any(point["time"] for point in points):
        return
    shown = [axis for axis in axes if len(axis["values"]) > 1] or axes[:1]
    across, down, others = shown[0], shown[1] if len(shown) > 1 else None, shown[2:]
    # What has no choice is in the values of a point all the same.
    single = {axis["name"]: axis["values"][0] for axis in axes if axis not in shown and axis["values"]}
    by_values = {tuple(sorted((name, str(value)) for name, value in p["values"].items())): p for p in points}
    scale = Scale(points)
    for chosen in itertools.product(*(axis["values"] for axis in others)):
        fixed = {axis["name"]: value for axis, value in zip(others, chosen)}
        title = ", ".join(f"{name} = {value}" for name, value in fixed.items())
        label = f"Heat map of {results['tuned_version']}, {results['time']} time{': ' if title else ''}{title}"
        yield title, _panel(across, down, by_values, single | fixed, scale, label)
