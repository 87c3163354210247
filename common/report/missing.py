"""What a machine's results lack: versions without a time in a bench of measures.txt, CUDA versions without a result of
compute-sanitizer, studies without points of a GPU. For make measure MISSING=1, which measures the first, and LIST=1, which prints all."""

import glob
import os
import re
import tomllib

import results as rungs
import sanitizer
import sources
import studies
from material import ROOT

# How long, how many and where to: what they leave out of account, two commands measure the same.
NOT_THE_BENCH = ("--time", "--versions", "--json", "--csv", "--frames")


def _asked(words):
    """The options of a bench that say what it measures."""
    pairs = list(zip(words[::2], words[1::2]))
    return sorted(pair for pair in pairs if pair[0] not in NOT_THE_BENCH)


def benches_of(results, machine, ladder, name, arguments):
    """The machine's files of one bench: NAME.json, what MISSING=1 added to it, and those whose command asked for the same."""
    found = []
    for path in sorted(glob.glob(os.path.join(glob.escape(os.path.join(results, machine, ladder)), "*.json"))):
        try:
            one = rungs.load(path)
        except rungs.OtherKind:
            continue
        if rungs.is_tune(one) or rungs.is_profile(one):
            continue
        stem = os.path.basename(path)[: -len(".json")]
        words = one["command"].split()
        same = words[:2] == ["rungs", "bench"] and len(words) % 2 and _asked(words[3:]) == _asked(arguments) and not one.get("pinned")
        if stem == name or stem.startswith(name + "_with_") or same:
            found.append(one)
    return found


def fits(version, asked):
    """Whether an id is one of those of a list as --versions takes it: ids and sides; "" is all."""
    return not asked or any(version == one or version.startswith(one + "/") for one in asked.split(","))


def without_time(benches, versions, asked, commit=None):
    """The ids that no file of a bench has a time for. What failed or could not run was tried at this commit, and may work at another;
    what had the id of a rung, and lay in a file that is gone, was another one."""
    tried = {"timed", "failed", "skipped"}
    seen = set()
    for one in benches:
        outcomes = tried if commit and one["commit"] == commit else {"timed"}
        rows = [row for row in one["versions"] if os.path.exists(os.path.join(ROOT, row.get("path") or ""))]
        seen |= {row["id"] for row in rows if row["outcome"] in outcomes}
    return [version for version in versions if version not in seen and fits(version, asked)]


def beside(benches, new, versions, below):
    """What new versions have to be measured with, so that their ratios are of one run: of each side of theirs the best so far and the
    best library there, and the rungs below them. cpu/serial is in every bench."""
    wanted = list(new) + [below[version] for version in new if below.get(version)]
    for side in dict.fromkeys(version.split("/")[0] for version in new):
        for one in benches:
            best = [rungs.best_of(one, side, "kernel")] if side != "peer" else []
            best += [rungs.best_peer(one, device) for device in (True, False) if (side == "cuda") == device or side == "peer"]
            wanted += [row["id"] for row in best if row]
    return [version for version in versions if version in wanted]


# ---------------------------------------------------------------------------------------------------------- the list


def short(ids, total):
    """ "all 9", or "cuda/v1.0 v1.1": a side is named once."""
    if len(ids) == total and total > 1:
        return f"all {total}"
    sides = [name.split("/")[0] for name in ids]
    return " ".join(name if side != before else name.split("/")[1] for name, side, before in zip(ids, sides, [None] + sides))


def sanitizer_lines(root, results, machine, ladder, versions):
    """Of each tool the versions that it has not been run on, or only on older code, or to no end."""
    document = sanitizer.load(sanitizer.path_of(results, machine, ladder))
    runs, lines = sanitizer.runs(document), {}
    for tool in sanitizer.TOOLS:
        kinds = {"no result": [], "of older code": [], "to no end": []}
        for version in versions:
            one = runs.get((version.id, tool))
            if one is None:
                kinds["no result"].append(version.id)
            elif one["source"] != sanitizer.fingerprint(root, version.path):
                kinds["of older code"].append(version.id)
            elif one["outcome"] not in ("clean", "errors"):
                kinds["to no end"].append(version.id)
        for kind, ids in kinds.items():
            if ids:
                lines.setdefault((kind, tuple(ids)), []).append(tool)
    return [(", ".join(tools), f"{kind}: {short(ids, len(versions))}", len(tools) * len(ids)) for (kind, ids), tools in lines.items()]


def studies_without_gpu(root, results, machine):
    """Names of studies that take CUDA versions, and have no time of one on the machine."""
    done = set()
    for study in studies.committed(results):
        if study["machine"] == machine:
            if any(name.startswith("cuda/") for point in study["points"] for name in point["timed"]):
                done.add(study["name"])
    found = []
    for path in sorted(glob.glob(os.path.join(root, "studies", "*.toml")) + glob.glob(os.path.join(root, "c*", "*", "study*.toml"))):
        stem, parent = os.path.splitext(os.path.basename(path))[0], os.path.basename(os.path.dirname(path))
        name = stem if parent == "studies" else parent + stem.removeprefix("study").replace("_", "-", 1)
        try:
            with open(path, "rb") as file:
                sweeps = tomllib.load(file).get("sweep", [])
        except (OSError, tomllib.TOMLDecodeError) as error:
            raise rungs.ResultsError(f"{path}: {error}") from None
        takes = [one for one in sweeps if "recorded" not in one and any(re.match("cuda|[*]", v) for v in one.get("versions", ["*"]))]
        if takes and name not in done:
            found.append(name)
    return found


def tell(todo, results, machine, asked, root=ROOT):
    """Prints what is missing. todo: [(ladder, bench's name, its arguments)]."""
    benches = runs = 0
    for ladder in dict.fromkeys(ladder for ladder, _, _ in todo):
        versions = sources.versions(root, ladder)
        ids = [version.id for version in versions if version.side != "peer" and fits(version.id, asked)]
        lines = []
        for _, name, arguments in (one for one in todo if one[0] == ladder):
            files = benches_of(results, machine, ladder, name, arguments)
            ids_here = without_time(files, ids, "")
            if ids_here:
                lines.append((name, f"no time: {short(ids_here, len(ids))}{'' if files else ', and no file of this bench'}"))
                benches += 1
        cuda = [version for version in versions if version.side == "cuda" and fits(version.id, asked)]
        for tools, text, count in sanitizer_lines(root, results, machine, ladder, cuda):
            lines.append((tools, text))
            runs += count
        if lines:
            print(ladder)
        for name, text in lines:
            print(f"  {name:<32} {text}")
    left = studies_without_gpu(root, results, machine)
    if left:
        print("studies without points of a GPU\n  " + " ".join(left))
    print(
        f"{benches} benches lack times: make measure MACHINE={machine} MISSING=1; {runs} runs of compute-sanitizer: make sanitize "
        f"MACHINE={machine}; {len(left)} studies: make study-NAME OUT=results/{machine}/LADDER/study_NAME"
    )
