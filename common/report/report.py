"""One HTML page of all ladders: `make report`.

    report.py [--rungs build/rungs] [--results results] OUT.html

Made of the results files (results/<machine>/), the sources, and pictures that build/rungs computes now. Everything is
inside the page: style, plots, pictures; it loads nothing. Of results/<machine>/ it takes
    *.json   results of a bench, a search (tune) or a profile; other kinds are left out with a note on stderr; a bad
             file ends it
    *.svg    shown as they are; *.csv as a table; *.txt as text. One that is named as a results file is shown with it,
             and of the others one whose name begins with an algorithm's goes to that
    <algo>/study_<name>/    a study: its paragraphs, plots and tables (studies.py)
The page is well-formed XML as well as HTML, so that tests can parse it with the standard library.

Without gnuplot the page has no plots, without build/rungs no pictures; one line on stderr says so.
Exit status: 0 made, 2 bad use or bad input (no page is written then).
"""

import argparse
import datetime
import os
import sys
import tempfile

import pictures
import plots
import results as rungs
import sources
from ladder import ladder_html
from markup import code, esc
from material import HERE, ROOT, commit, gather, machine_order, note
from pieces import Drawer, file_html
from report_tables import start_table


def machines_html(ladders, others):
    """Each machine once: what it is, when and from which commits it was measured, and files of no single ladder."""
    everything = {}
    for ladder in ladders.values():
        for kind in (ladder.machines, ladder.searches, ladder.profiles):
            for machine, many in kind.items():
                everything.setdefault(machine, []).extend(many)
        # Places of files alone have a heading to link to as well.
        for machine in ladder.places():
            everything.setdefault(machine, [])
    lines = []
    for machine in sorted(set(everything) | set(others), key=lambda name: machine_order(name, everything.get(name))):
        many = everything.get(machine, [])
        lines.append(f'<h3 id="machine-{esc(machine)}">{esc(machine)}</h3>')
        for text in sorted({rungs.machine(results) for results in many}):
            lines.append(f"<p>{esc(text)}</p>")
        if many:
            days = sorted({results["date"][:10] for results in many})
            commits = sorted({results["commit"] for results in many})
            lines.append(
                f'<p class="small">Measured {esc(", ".join(days))}; commits {", ".join(map(code, commits))}.</p>'
            )
        lines += [file_html(path) for path in others.get(machine, [])]
    return "\n".join(lines)


def style():
    def colours(index):
        return "".join(f"--{name}:{shades[index]};" for name, shades in plots.PALETTE.items())

    with open(os.path.join(HERE, "style.css"), encoding="utf-8") as file:
        rest = file.read()
    return f":root{{{colours(0)}}}\n@media (prefers-color-scheme: dark){{:root{{{colours(1)}}}}}\n{rest}"


def page(ladders, others, drawer, maker):
    links = "".join(f'<a href="#{esc(name)}">{esc(name)}</a>' for name in ladders)
    sections = "\n".join(ladder_html(ladder, list(ladders), drawer, maker) for ladder in ladders.values())
    made = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    version = commit()
    sheet = style()
    if "<" in sheet or "&" in sheet:
        raise ValueError("style.css: '<' and '&' would end the style element in XML")
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<meta name="color-scheme" content="light dark" />
<title>Rungs: all ladders</title>
<style>
{sheet}</style>
</head>
<body>
<nav aria-label="Ladders"><a href="#start">Rungs</a>{links}</nav>
<main>
<header id="start">
<h1>Rungs, rung by rung</h1>
<p class="lead">Image processing in parallel: each algorithm is a ladder of versions behind one contract, from a serial
C loop over OpenMP and SIMD to CUDA kernels. Each rung adds one idea and says, before it is measured, what it expects.
Here are all of them, with what came of it.</p>
</header>
<section id="best">
<h2>Best speedups</h2>
{start_table(ladders)}
<p class="small">× serial: how many times as fast as <code>cpu/serial</code> in the same run, by medians. =: not
different, the interquartile ranges overlap. –: not measured. Kernel: without the transfers between host and GPU; end to
end: with them. Of limit: the least time that the copy and arithmetic rates of the same run allow, over the kernel's
(of the best GPU version, or of the best CPU version where there is no GPU). Times are median ± half of the
interquartile range. A shared machine may be slower or faster as a whole from one run to the next: compare within a
table, not between tables.</p>
</section>
{sections}
<section id="machines">
<h2>Machines</h2>
{machines_html(ladders, others)}
</section>
</main>
<footer><p>Made {made}{f" from commit {code(version)}" if version else ""} by <code>make report</code>. This page is
one file and loads nothing.</p></footer>
</body>
</html>
"""


def main():
    parser = argparse.ArgumentParser(prog="report.py", description="One HTML page of all ladders.", allow_abbrev=False)
    parser.add_argument(
        "--rungs", default=os.path.join(ROOT, "build", "rungs"), help="the program that makes the pictures"
    )
    parser.add_argument("--results", default=os.path.join(ROOT, "results"), help="folder of results/<machine>/ files")
    parser.add_argument("out", metavar="OUT.html")
    options = parser.parse_args()
    try:
        if not os.path.isdir(options.results):
            raise rungs.ResultsError(f"{options.results}: no such folder")
        if not os.path.isdir(os.path.dirname(os.path.abspath(options.out))):
            raise rungs.ResultsError(f"{options.out}: there is no such folder to write to")
        if os.path.isdir(options.out):
            raise rungs.ResultsError(f"{options.out}: is a folder")
        ladders, others = gather(options.results, sources.algorithms(ROOT))
        with tempfile.TemporaryDirectory() as folder:
            maker = pictures.Maker(ROOT, options.rungs, folder) if os.access(options.rungs, os.X_OK) else None
            if maker is None:
                note(f"no pictures: {options.rungs} is not built")
            text = page(ladders, others, Drawer(), maker)
        plots.write_whole(options.out, text)
    except rungs.ResultsError as error:
        note(error)
        return 2
    print(f"{options.out}: {len(ladders)} ladders, {len(text.encode()) / 1e6:.1f} MB; open it in a browser")
    return 0


if __name__ == "__main__":
    sys.exit(main())
