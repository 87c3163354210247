"""The page of each ladder, docs/<algorithm>.md, and the tables of docs/README.md and README.md: `make readme`.

    pages.py [--check] [--root FOLDER]

A page is made of the contract (common/algo/<algorithm>.h), the headers of the versions, and the results files in
results/<machine>/. Every algorithm has a page. What people write about a ladder stands in its page between the lines
    <!-- story -->  and  <!-- /story -->
and is kept as it is. Everything else in the page is made anew, and so is what stands in docs/README.md between lines
    <!-- ladders: blur morphology -->  and  <!-- /ladders -->     the table of these; every ladder is in one of them
    <!-- worth: all -->  and  <!-- /worth -->                     when a GPU is worth it (worth.py)
and in README.md between
    <!-- ladder: blur -->  and  <!-- /ladder -->                  the climb of one

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
import sources
import studies
import worth
from markdown import code, inline, link
from plots import write_whole

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER, README = "docs", "README.md"
STORY, STORY_END = "<!-- story -->\n", "<!-- /story -->\n"
# The titles of a page's sections.
CONTRACT, CLIMB, MEASURED = "What every version computes", "The climb", "Measured"
TEACH, EACH = "What the rungs teach", "Each rung: problem, prediction, result"
SIDES = {"cpu": "CPU", "cuda": "GPU"}
# Labels of the contract's sections that a page leaves out: what only those need who write a version or compare with a
# library.
LEFT_OUT = ("Errors", "Hard", "Training", "Exact", "Accuracy", "Counters", "Numbers", "Chords", "OpenCV", "Document")


class Ladder:
    """One algorithm: contract, versions, and by machine its benches, the main one first (results.in_order)."""

    def __init__(self, root, name):
        self.name = name
        self.contract = sources.Contract(root, name)
        self.versions = sources.versions(root, name)
        self.below = {version.id: version.below.id for version in self.versions if version.below}
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
        if results["algorithm"] in ladders and not rungs.is_worth(results) and not rungs.is_tune(results) and not rungs.is_profile(results):
            rungs.rebase(results, ladders[results["algorithm"]].below)
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


def climb_file(ladder, side):
    """The bench that timed most rungs of a side's climb, of several such the main one, then the largest picture; or None."""
    climb = [version.id for version in ladder.versions if version.side == side and not version.group]

    def timed(results):
        return sum(row["id"] in climb for row in rungs.timed(results))

    many = [results for machine in ladder.places() for results in ladder.machines[machine] if timed(results) > 1]
    return max(many, key=lambda r: (timed(r), r is main_of(ladder, side), rungs.pixels(r)), default=None)


def climb_text(ladder, side, folder):
    """The table of a side's climb: of each rung its time, what it gained over the one below it, its idea."""
    versions = [version for version in ladder.versions if version.side == side and not version.group]
    results = climb_file(ladder, side)
    rows = []
    for version in versions:
        row = results and rungs.find(results, version.id)
        row = row if row and row["outcome"] == "timed" else None
        cells = [link(code(version.id), "../" + version.path)]
        if results:
            own = "1" if row and row["reference"] else row and rungs.ratio(row["over_serial"], "kernel")
            cells += [row and rungs.time(row["kernel"]["median"]) if side == "cuda" else own]
            cells += [row and rungs.ratio(row["over_below"], "kernel")]
        rows.append([cell or "–" for cell in cells] + [microseconds(inline(version.idea))])
    if not rows:
        return ""
    what = "× serial" if side == "cpu" else "a frame" if results and rungs.is_video(results) else "kernel"
    head = ["rung", what, "× rung below", "idea"] if results else ["rung", "idea"]
    text = f"**{SIDES[side]}**"
    if results:
        name = os.path.basename(results["path"])[: -len(".json")]
        threads = f", {rungs.count(results['threads'], 'thread')}" if side == "cpu" else ""
        text += (f", on {inline(rungs.machine_of(results))}, {inline(rungs.size(results))}{threads} "
                 f"({link(inline(name), os.path.relpath(results['path'], folder))})")
    return text + "\n\n" + markdown.table(head, rows, len(head))


def beside_text(ladder):
    """What is no step of the climb, group by group, and the libraries."""
    groups = {}
    for version in ladder.versions:
        if version.group or version.side == "peer":
            groups.setdefault(version.group or "libraries", []).append(version)
    parts = []
    for group, versions in groups.items():
        rows = [[link(code(v.id), "../" + v.path), microseconds(inline(v.idea))] for v in versions]
        parts += [f"Beside the climb, {inline(group)}:", markdown.table(["version", "idea"], rows, 2)]
    return "\n\n".join(parts)


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


def documents_line(root, name):
    """Links to the documents (docs/documents/, made by common/study/documents.py) that name a ladder as theirs; "" for none."""
    links = []
    for path in sorted(glob.glob(os.path.join(glob.escape(root), FOLDER, "documents", "*.md"))):
        text = read(path)
        title = re.search(r"^# (.*)$", text, re.MULTILINE)
        if title and f"[{name}](../{name}.md)" in text.split("\n## ")[0]:
            links.append(link(title[1], f"documents/{os.path.basename(path)}"))
    return f"Asked about in {', '.join(links)}, with its figures beside ours." if links else ""


def contents(ladder, with_story):
    """Links to the sections of a page, some of which are a thousand lines down."""

    def anchor(title, shown=None):
        kept = "".join(letter for letter in title.lower() if letter.isalnum() or letter in " -_")
        return link(inline(shown or title), "#" + kept.replace(" ", "-"))

    machines = ", ".join(anchor(f"On {machine}", machine) for machine in ladder.places())
    sections = [anchor(CONTRACT), anchor(CLIMB), *[anchor(TEACH)] * with_story, anchor(EACH, "Each rung")]
    sections += [anchor(MEASURED) + (f" on {machines}" if machines else "")]
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
        f"{inline(summary)}. {link('All ladders', 'README.md')}; to measure it on your machine: "
        f"`make bench-{name}`.",
        documents_line(root, name),
        contents(ladder, bool(text.strip())),
    ]
    parts = [part for part in parts if part]
    if os.path.exists(os.path.join(root, picture)):
        parts.append(f"![each step of {name}](../{picture})")
    folder = os.path.join(root, FOLDER)
    parts += [f"## {CONTRACT}", contract_text(contract), f"## {CLIMB}"]
    parts += [climb_text(ladder, side, folder) for side in SIDES] + [beside_text(ladder)]
    parts = [part for part in parts if part]
    if text.strip():
        parts.append(f"## {TEACH}")
    parts += [STORY + text + STORY_END.rstrip("\n"), f"## {EACH}", rungs_list(root, ladder), f"## {MEASURED}"]
    if measured:
        parts += [markdown.LEGEND, measured]
    else:
        parts.append(f"Not yet. `make bench-{name}` prints the table of your machine.")
    parts += [sanitizer_text(root, document) for document in ladder.sanitizers]
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
        link(ladder.name, f"{ladder.name}.md"),
        inline(ladder.contract.summary),
        ", ".join(f"{count} {side}" for side, count in sides.items() if side != "peer"),
        serial_cell(on_cpu, "kernel"),
        peer_cell(on_cpu, cpu and rungs.best_peer(cpu, False), "kernel"),
        "–" if video else serial_cell(kernel, "kernel"),
        serial_cell(whole, "end_to_end"),
        gpu_cell,
    ]


def ladders_table(ladders, names):
    """The table of some ladders, in this order; its links are for a page in docs/."""
    rows = [ladder_row(ladders[name], *(main_of(ladders[name], side) for side in ("cpu", "cuda"))) for name in names]
    head = ["ladder", "what it does", "rungs", "best CPU, × serial", "× CPU library", "best GPU kernel, × serial"]
    return markdown.table(head + ["end to end, × serial", "GPU × library"], rows, 3)


def one_ladder(root, ladder):
    """The table of README.md: of one ladder the frame of its CPU side and its climb on a GPU, from one results file."""
    results = climb_file(ladder, "cuda") or main_of(ladder, "cuda") or main_of(ladder, "cpu")
    rows = []
    for version in ladder.versions:
        row = results and rungs.find(results, version.id)
        shown = version.side == "cuda" or version.id in ("cpu/serial", "cpu/omp", "cpu/simd")
        if row and row["outcome"] == "timed" and shown and not version.group:
            times = "1" if row["reference"] else rungs.ratio(row["over_serial"], "kernel")
            idea = re.split(r"(?<=[.])\s", version.idea)[0].rstrip(".")
            cells = [link(code(version.id), version.path), microseconds(inline(idea))]
            rows.append([*cells, rungs.time(row["kernel"]["median"]), times])
    text = markdown.table(["rung", "idea", "time", "× serial"], rows, 2)
    if results:
        path = os.path.relpath(results["path"], root)
        text += f"\n\n{inline(rungs.size(results))}, {inline(rungs.machine(results))} ({link('all numbers', path)}). CUDA: the kernel alone."
    return text + "\n"


# -------------------------------------------------------------------------------------------------------------- main


def fill(path, pattern, made, text=None):
    """The text of a file, or this one, with made(words) below each line `<!-- NAME: words -->`, up to `<!-- /NAME -->`."""
    text = text or read(path)
    if text is None:
        raise rungs.ResultsError(f"{path}: is not here")
    begin, end = f"<!-- {pattern}: ", f"<!-- /{pattern} -->\n"
    parts = re.split(rf"^({re.escape(begin)}[a-z ]+ -->\n)", text, flags=re.MULTILINE)
    if len(parts) < 3 or any(part.count(end) != 1 for part in parts[2::2]):
        raise rungs.ResultsError(f"{path}: no line {begin}... --> with a line {end.strip()} below each")
    for place in range(1, len(parts), 2):
        words = parts[place][len(begin) : -len(" -->\n")].split()
        parts[place + 1] = made(words) + end + parts[place + 1].split(end)[1]
    return "".join(parts)


def make(root):
    """(path, text) of each file as it must be."""
    ladders = gather(root)
    readme, overview = os.path.join(root, README), os.path.join(root, FOLDER, README)
    named = []

    def known(words, path):
        for name in words:
            if name not in ladders:
                raise rungs.ResultsError(f"{path}: there is no ladder {name}")
        return words

    def table(words):
        named.extend(known(words, overview))
        return ladders_table(ladders, words) + "\n"

    files = [
        (readme, fill(readme, "ladder", lambda words: one_ladder(root, ladders[known(words, readme)[0]]))),
        (overview, fill(overview, "worth", lambda words: worth.table(root, ladders), fill(overview, "ladders", table))),
    ]
    if sorted(named) != sorted(ladders):
        lost = sorted(set(ladders) - set(named)) or sorted({name for name in named if named.count(name) > 1})
        raise rungs.ResultsError(f"{overview}: {', '.join(lost)}: in no line `<!-- ladders: ... -->` or in two")
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
