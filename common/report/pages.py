"""The page of each ladder, docs/<algorithm>.md, and the table of all ladders in README.md: `make readme`.

    pages.py [--check] [--root FOLDER]

A page is made of the contract (common/algo/<algorithm>.h), the headers of the versions, and the results files in
results/<machine>/. Every algorithm has a page. What people write about a ladder stands in its page between the lines
    <!-- story -->  and  <!-- /story -->
and is kept as it is. Everything else in the page is made anew, and so is what stands in README.md between the lines
    <!-- ladders -->  and  <!-- /ladders -->

--check changes nothing and names each file that is outdated.
Exit status: 0 done, 1 --check found an outdated file, 2 bad use or bad input (nothing is written then).
"""

import argparse
import glob
import os
import re
import sys

import markdown
import results as rungs
import sanitizer
import schema
import short_path
import sources
import studies
from markdown import code, inline, link
from plots import write_whole

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER, README = "docs", "README.md"
STORY, STORY_END = "<!-- story -->\n", "<!-- /story -->\n"
LADDERS, LADDERS_END = "<!-- ladders -->\n", "<!-- /ladders -->\n"
# The titles of a page's sections.
CONTRACT, RUNGS, PATH, MEASURED = "What every version computes", "Rungs", "The short path", "Measured"
TEACH, EACH = "What the rungs teach", "Each rung: what it changed, what was expected, what came of it"
# Labels of the contract's sections that a page leaves out: what only those need who write a version or compare with a
# library.
LEFT_OUT = ("Errors", "Hard", "Training", "Exact", "Accuracy", "Counters", "Numbers", "Chords", "OpenCV", "Document")


class Ladder:
    """One algorithm: contract, versions, and by machine its benches, the main one first (results.in_order)."""

    def __init__(self, root, name):
        self.name = name
        self.contract = sources.Contract(root, name)
        self.versions = sources.versions(root, name)
        self.machines, self.studies, self.sanitizers = {}, {}, []

    def places(self):
        """Machines with a GPU first: they have the whole ladder."""
        return sorted(self.machines, key=lambda name: (self.machines[name][0]["machine"]["gpu"] is None, name))

    def mains(self):
        return [self.machines[machine][0] for machine in self.places()]


def gather(root):
    """All ladders by name, with their benches."""
    ladders = {name: Ladder(root, name) for name in sources.algorithms(root)}
    for path in sorted(glob.glob(os.path.join(glob.escape(root), "results", "*", "*", "*.json"))):
        try:
            results = rungs.load(path)
        except rungs.OtherKind:
            continue
        if results["algorithm"] in ladders and not rungs.is_tune(results) and not rungs.is_profile(results):
            ladders[results["algorithm"]].machines.setdefault(rungs.machine_of(results), []).append(results)
    for study in studies.committed(os.path.join(root, "results")):
        if study["algorithm"] in ladders:
            ladders[study["algorithm"]].studies.setdefault(study["machine"], []).append(study)
    for document in sanitizer.committed(os.path.join(root, "results")):
        if document["algorithm"] in ladders:
            ladders[document["algorithm"]].sanitizers.append(document)
    for ladder in ladders.values():
        ladder.machines = {machine: rungs.in_order(many) for machine, many in ladder.machines.items()}
    return ladders


def between(text, begin, end):
    """(before, inside, after) of two marker lines; ResultsError where they are not there once, in this order."""
    pattern = f"^{re.escape(begin)}(.*?)^{re.escape(end)}"
    if text.count(begin) != 1 or text.count(end) != 1 or not re.search(pattern, text, re.DOTALL | re.MULTILINE):
        raise rungs.ResultsError(f"no line {begin.strip()} with a line {end.strip()} below it, each once")
    before, rest = text.split(begin)
    inside, after = rest.split(end)
    return before, inside, after


def read(path):
    """The text of a file, None where there is none."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise rungs.ResultsError(f"{path}: {getattr(error, 'strerror', None) or 'not UTF-8'}") from None


def story(root, algorithm):
    """What people wrote about a ladder: Markdown, "" where nobody did."""
    path = os.path.join(root, FOLDER, algorithm + ".md")
    text = read(path)
    if text is None:
        return ""
    try:
        return between(text, STORY, STORY_END)[1]
    except rungs.ResultsError as error:
        raise rungs.ResultsError(f"{path}: {error}; move it away, or write about the ladder between them") from None


# ---------------------------------------------------------------------------------------------------------- a page


def contract_text(contract):
    """Of the contract what a reader of the tables needs."""
    parts = []
    for label, paragraphs in contract.sections:
        if label.startswith(LEFT_OUT):
            continue
        pieces = [markdown.block(text) if kind == "pre" else inline(text) for kind, text in paragraphs]
        join = "\n\n" if paragraphs and paragraphs[0][0] == "pre" else " "
        parts.append(f"**{inline(label)}**{join}" + "\n\n".join(pieces))
    parts.append(f"The whole contract: {link(contract.path, '../' + contract.path)}.")
    return "\n\n".join(parts)


def rungs_table(ladder):
    rows = [[link(code(v.id), "../" + v.path), microseconds(inline(v.idea))] for v in ladder.versions]
    return markdown.table(["rung", "idea"], rows, 2)


def with_files(root, text):
    """A header's prose, in which results files are links to them; a name without a folder is one of the folder before."""
    folder = ""

    def linked(match):
        nonlocal folder
        if match[0].startswith("results/"):
            path = match[0]
            folder = os.path.dirname(path)
        else:
            path = f"{folder}/{match[0]}"
        return link(match[0], "../" + path) if folder and os.path.isfile(os.path.join(root, path)) else match[0]

    return re.sub(r"\b(?<!/)(?:results/[\w./-]+/)?\w[\w.-]*\.(?:json|txt|csv|svg)\b", linked, microseconds(inline(text)))


def microseconds(text):
    """Code writes "us", for it is in ASCII; the tables of a page have "µs"."""
    return re.sub(r"(?<=\d) us\b", " µs", text)


def rungs_list(root, ladder):
    """Of each rung what problem it solves, what was expected of it and what came of it."""
    lines = []
    for version in ladder.versions:
        if version.side == "peer":
            continue
        start = f", from {code(version.below.id)}" if version.below else ""
        lines.append(f"**{link(code(version.id), '../' + version.path)}**{start}")
        for title, text in (("Problem", version.problem), ("Expected", version.expect), ("Result", version.result)):
            if text:
                lines.append(f"*{title}:* {with_files(root, text)}")
    return "\n\n".join(lines)


def files_line(root, machine, algorithm):
    """Links to what else was measured there: searches, profiles, notes."""
    folder = f"results/{machine}/{algorithm}"
    names = []
    for path in sorted(glob.glob(os.path.join(glob.escape(os.path.join(root, folder)), "*.*"))):
        try:
            shown = path.endswith(".json") and not {"tune", "profile"} & {rungs.load(path).get("kind")}
        except rungs.OtherKind:
            shown = False
        if not shown and os.path.basename(path) != sanitizer.NAME:
            names.append(os.path.basename(path))
    return ", ".join(link(inline(name), f"../{folder}/{name}") for name in names)


def compared(results):
    """Which versions a file compares: the first and the last rung of each side, and the libraries."""
    ids = [row["id"] for row in results["versions"] if row["outcome"] not in ("skipped", "emulated")]
    words = []
    for side in ("cpu", "cuda"):
        rungs_of_side = [name for name in ids if name.startswith(side + "/") and name != "cpu/serial"]
        if len(rungs_of_side) > 2:
            words.append(f"{len(rungs_of_side)} of {rungs_of_side[0]} to {rungs_of_side[-1].split('/')[1]}")
        else:
            words += rungs_of_side
    peers = [name for name in ids if name.startswith("peer/")]
    words += [f"{len(peers)} libraries"] if len(peers) > 2 else peers
    return ", ".join(words) or "cpu/serial"


def folded(main, results):
    """The title of a folded table: its size, what else is unlike in the main file, what is compared, the file."""
    parts = [rungs.size(results)]
    if results["settings"] != main["settings"]:
        parts.append(unlike(main["settings"], results["settings"]))
    if results["channels"] != main["channels"]:
        parts.append(rungs.count(results["channels"], "channel"))
    if results["threads"] != main["threads"]:
        parts.append(rungs.count(results["threads"], "thread"))
    if results["input"].split(",")[0] != main["input"].split(",")[0]:
        parts.append(os.path.basename(results["input"].split(",")[0]))
    name = os.path.basename(results["path"])[: -len(".json")]
    return f"{', '.join(parts)}: {compared(results)} ({name})"


def unlike(settings, others):
    """Of two texts "a=1 b=2" what the second has and the first has not."""
    known, words = (re.split(r" (?=\w+=)", text) for text in (settings, others))
    return " ".join(word for word in words if word not in known) or others or "no parameters"


def machine_text(root, ladder, machine):
    main, *others = ladder.machines[machine]
    lines = [f"### On {inline(machine)}"]

    def measured(results):
        path = os.path.relpath(results["path"], os.path.join(root, FOLDER))
        return [markdown.caption(results, path), markdown.bench(results)]

    lines += measured(main)
    for results in others:
        lines += [f"<details><summary>{inline(folded(main, results))}</summary>", *measured(results), "</details>"]
    files = files_line(root, machine, ladder.name)
    if files:
        lines.append(f"Also measured there: {files}.")
    for study in ladder.studies.get(machine, []):
        path = os.path.relpath(os.path.join(study["folder"], "study.md"), os.path.join(root, FOLDER))
        lines.append(f"**Study: {inline(study['title'])}** ({link('tables and plots', path)})")
        lines += [inline(text) for text in study["paragraphs"]]
    return "\n\n".join(lines)


def sanitizer_text(root, document):
    """What compute-sanitizer found on a machine, a line for each tool and each finding."""
    gpu = document["machine"]["gpu"]
    path = os.path.relpath(document["path"], os.path.join(root, FOLDER))
    title = f"compute-sanitizer {document['machine']['sanitizer']} on {document['machine_name']}: {gpu['name']}, driver {gpu['driver']}"
    lines = [f"{inline(title)}; last at commit {inline(document['commit'])} ({link('all of it', path)}):", ""]
    return "\n".join(lines + [f"- {inline(line)}" for line in sanitizer.summary(document)])


def contents(ladder, with_story):
    """Links to the sections of a page, some of which are a thousand lines down."""

    def anchor(title, shown=None):
        kept = "".join(letter for letter in title.lower() if letter.isalnum() or letter in " -_")
        return link(inline(shown or title), "#" + kept.replace(" ", "-"))

    machines = ", ".join(anchor(f"On {machine}", machine) for machine in ladder.places())
    sections = [anchor(CONTRACT), anchor(RUNGS), anchor(PATH), anchor(MEASURED) + (f" on {machines}" if machines else "")]
    sections += [anchor(TEACH)] * with_story + [anchor(EACH, "Each rung's prediction and result")]
    return "On this page: " + " · ".join(sections)


def page(root, ladder, text):
    """The page of a ladder around its story `text`."""
    name, contract = ladder.name, ladder.contract
    summary = contract.summary[:1].upper() + contract.summary[1:]
    picture = f"images/{name}_steps.png"
    measured = "\n\n".join(machine_text(root, ladder, machine) for machine in ladder.places())
    parts = [
        "<!-- Made by `make readme`. Write between the story markers; everything else is overwritten. -->",
        f"# {inline(name)}",
        f"{inline(summary)}. {link('All ladders', '../README.md#the-ladders')}; to measure it on your machine: "
        f"`make bench-{name}`.",
        contents(ladder, bool(text.strip())),
    ]
    if os.path.exists(os.path.join(root, picture)):
        parts.append(f"![each step of {name}](../{picture})")
    parts += [f"## {CONTRACT}", contract_text(contract), f"## {RUNGS}", rungs_table(ladder)]
    mains = {side: main_of(ladder, side) for side in short_path.SIDES}
    parts += [f"## {PATH}", short_path.section(ladder, mains, os.path.join(root, FOLDER)), f"## {MEASURED}"]
    if measured:
        parts += [markdown.LEGEND, measured]
    else:
        parts.append(f"Not yet. `make bench-{name}` prints the table of your machine.")
    parts += [sanitizer_text(root, document) for document in ladder.sanitizers]
    if text.strip():
        parts.append(f"## {TEACH}")
    parts += [STORY + text + STORY_END.rstrip("\n")]
    parts += [f"## {EACH}", rungs_list(root, ladder)]
    return "\n\n".join(parts) + "\n"


# ------------------------------------------------------------------------------------------------- all the ladders


def main_of(ladder, side):
    """The file that stands for a side ("cpu", "cuda") of a ladder, or None: of the main files of all machines that
    timed a rung of it (cpu/serial alone is none: benches of a GPU time it to compare with) one in which a library was
    timed beside it, of several such the one of the largest picture, then with the most cores."""
    device = side == "cuda"

    def rung(results):
        best = rungs.best_of(results, side, "kernel")
        return best and best["id"] != "cpu/serial"

    found = [results for results in ladder.mains() if rung(results)]
    return min(
        found,
        key=lambda r: (rungs.best_peer(r, device) is None, -rungs.pixels(r), -r["machine"]["cores"]),
        default=None,
    )


def serial_cell(row, phase):
    if row is None or row["over_serial"] is None:
        return "–"
    return f"{rungs.ratio(row['over_serial'], phase)} {code(row['id'])}"


def peer_cell(row, peer, phase):
    if row is None or peer is None:
        return "–"
    equal = not rungs.differ(row[phase], peer[phase])
    times = "=" if equal else rungs.number(peer[phase]["median"] / row[phase]["median"])
    return f"{times} {code(peer['id'])}"


def ladder_row(ladder, cpu, cuda):
    """One line of the table; cpu and cuda: the files of its two sides, or None."""
    on_cpu = cpu and rungs.best_of(cpu, "cpu", "kernel")
    kernel = cuda and rungs.best_of(cuda, "cuda", "kernel")
    whole = cuda and rungs.best_of(cuda, "cuda", "end_to_end")
    video = cuda is not None and rungs.is_video(cuda)
    peer = cuda and rungs.best_peer(cuda, True)
    if peer:
        gpu_cell = peer_cell(kernel, peer, "kernel")
    else:
        gpu_cell = peer_cell(whole, cuda and rungs.best_peer(cuda, False), "end_to_end")
    sides = {}
    for version in ladder.versions:
        sides[version.side] = sides.get(version.side, 0) + 1
    return [
        link(ladder.name, f"{FOLDER}/{ladder.name}.md"),
        inline(ladder.contract.summary),
        ", ".join(f"{count} {side}" for side, count in sides.items() if side != "peer"),
        serial_cell(on_cpu, "kernel"),
        peer_cell(on_cpu, cpu and rungs.best_peer(cpu, False), "kernel"),
        "–" if video else serial_cell(kernel, "kernel"),
        serial_cell(whole, "end_to_end"),
        gpu_cell,
    ]


def ladders_text(root, ladders):
    """The table of all ladders, and underneath the machines and the files that its numbers come from."""
    rows, files = [], {}
    for ladder in ladders.values():
        chosen = {side: main_of(ladder, side) for side in ("cpu", "cuda")}
        rows.append(ladder_row(ladder, chosen["cpu"], chosen["cuda"]))
        for side, results in chosen.items():
            if results:
                title = f"{'CPU' if side == 'cpu' else 'GPU'}, {rungs.machine_of(results)}: {rungs.machine(results)}, "
                title += rungs.count(results["threads"], "thread")
                path = os.path.relpath(results["path"], root)
                files.setdefault(title, []).append(f"{link(ladder.name, path)} {rungs.size(results)}")
    head = ["ladder", "what it does", "rungs", "best CPU, × serial", "× CPU library", "best GPU kernel, × serial"]
    head += ["end to end, × serial", "GPU × library"]
    text = markdown.table(head, rows, 3)
    text += (
        "\n\n× serial: how many times as fast as `cpu/serial` in the same run, by medians; × library: as the fastest\n"
        "library that was timed beside it (a GPU library by kernels, a CPU library end to end). Kernel: without\n"
        "transfers between host and GPU; end to end: with them. =: not different, the interquartile ranges overlap;\n"
        "–: not measured.\n\n"
        "<details><summary>The machine, the results file and the size of the picture behind each number</summary>\n\n"
        "Each number is from the main file of a machine (results/README.md says which that is). Of several machines it\n"
        "is one that timed a library beside the ladder, then the one of the largest picture, then the one with the most\n"
        "cores.\n\n"
    )
    text += "\n".join(f"- {inline(title)}: {', '.join(files[title])}" for title in sorted(files))
    return text + "\n\n</details>\n"


# -------------------------------------------------------------------------------------------------------------- main


def make(root):
    """(path, text) of each file as it must be."""
    ladders = gather(root)
    readme = os.path.join(root, README)
    text = read(readme)
    if text is None:
        raise rungs.ResultsError(f"{readme}: is not here")
    try:
        before, _, after = between(text, LADDERS, LADDERS_END)
    except rungs.ResultsError as error:
        raise rungs.ResultsError(f"{readme}: {error}") from None
    files = [(readme, before + LADDERS + ladders_text(root, ladders) + LADDERS_END + after)]
    for name, ladder in ladders.items():
        files.append((os.path.join(root, FOLDER, name + ".md"), page(root, ladder, story(root, name))))
    return files


def main():
    parser = argparse.ArgumentParser(prog="pages.py", description="The page of each ladder.", allow_abbrev=False)
    parser.add_argument("--check", action="store_true", help="change nothing; fail when a file is outdated")
    parser.add_argument("--root", default=ROOT, help="the source tree")
    options = parser.parse_args()
    try:
        outdated = [(path, text) for path, text in make(options.root) if read(path) != text]
        for path, text in outdated:
            if options.check:
                print(f"pages: {path}: is outdated; run `make readme`", file=sys.stderr)
            else:
                os.makedirs(os.path.dirname(path), exist_ok=True)
                write_whole(path, text)
                print(path)
    except rungs.ResultsError as error:
        print(f"pages: {schema.plain(error)}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"pages: {error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    return 1 if options.check and outdated else 0


if __name__ == "__main__":
    sys.exit(main())
