"""Reads results files (results/README.md describes them) and puts their numbers into words, as the bench's table does.

A bench of a video algorithm has a schema of its own. load() brings its rows into the form of the others: one time, end
to end, stands for both phases, and nothing is known of a limit; what only videos have (frames, steps, memory) stays. A
profile has its one version as a row; what the profiler saw is in "profile".

ResultsError names the file and the reason, in one line.
"""

import json
import math
import os

import renames
import schema

SCHEMA, VIDEO_SCHEMA, VERSION = "rungs-results", "rungs-video-results", 1
WORTH = "worth"  # the folder of a machine whose benches worth.py reads
KINDS = {"bench": "a bench", "tune": "a search", "profile": "a profile"}


class ResultsError(Exception):
    """A file that cannot be used: bad input, exit status 2."""


class OtherKind(Exception):
    """A JSON file that is fine, but of no kind that is known here: to be left out, and said so."""


def _require_orders(where, value):
    """Every median of a document lies between its quartiles, which no schema can say."""
    if isinstance(value, dict):
        ordered = [value.get(name) for name in ("q1", "median", "q3")]
        if all(isinstance(number, (int, float)) for number in ordered) and sorted(ordered) != ordered:
            raise ResultsError(f"{where}: not 0 < q1 <= median <= q3")
        for name, item in value.items():
            _require_orders(f"{where}: {name}", item)
    if isinstance(value, list):
        for index, item in enumerate(value):
            name = item.get("id", index) if isinstance(item, dict) else index
            _require_orders(f"{where}: {name}", item)


def _require_times(where, sums):
    """The sums of a profile have all of their times, or none where nothing was timed."""
    for name in ("share", "total", "average", "least", "most"):
        if any((name in entry) != ("total" in sums[0]) for entry in sums):
            raise ResultsError(f"{where}: some have a {name} and others a total without it")


def require(path, document, name):
    """Holds a document to a definition of results/schema.json."""
    try:
        schema.require(document, name)
        _require_orders(path, document)
    except schema.Mismatch as mismatch:
        raise ResultsError(f"{path}: {mismatch}") from None
    except RecursionError:
        raise ResultsError(f"{path}: too deep") from None


def _no_constant(name):
    raise ValueError(f"{name} is no JSON number")


def read(path):
    """The JSON in a file."""
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file, parse_constant=_no_constant)
    except OSError as error:
        raise ResultsError(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise ResultsError(f"{path}: not JSON: {' '.join(str(error).split())}") from None


def _from_video(results):
    """Brings the rows of a video into the form of the others."""
    results.update(channels=3, cost={"bytes": 0, "operations": 0, "operation": None}, ceilings={})
    for row in results["versions"]:
        row.update(kernel=row["end_to_end"], kernel_method="host clock", worst_difference=0.0, interior_only=False)
        row.update(limit=None, limit_fraction=None)
        for over in ("over_serial", "over_below"):
            if row[over] is not None:
                ratio = {name: row[over][name] for name in ("times", "differs")}
                row[over] = {"version": row[over]["version"], "kernel": ratio, "end_to_end": ratio}
    serial = find(results, "cpu/serial")
    for row in results["versions"]:
        # A peer that was added to the file afterwards.
        if "library" in row and serial and serial["end_to_end"] and row["end_to_end"] and row["over_serial"] is None:
            before, after = serial["end_to_end"], row["end_to_end"]
            ratio = {"times": before["median"] / after["median"], "differs": differ(before, after)}
            row["over_serial"] = {"version": "cpu/serial", "kernel": ratio, "end_to_end": ratio}


def load(path):
    """The results of one bench, search (is_tune) or profile (is_profile), checked. Raises OtherKind for JSON of another
    kind, ResultsError for a bad file."""
    return checked(path, current(path))


def current(path):
    """The JSON in a file, with the ids of today (renames.py)."""
    document = read(path)
    if not renames.apply(document):
        raise OtherKind("of a version that is no rung any more")
    return document


def checked(path, results):
    """The same of a document that was read before, which is changed; `path` is what messages call it."""
    schema_name = results.get("schema") if isinstance(results, dict) else None
    if schema_name not in (SCHEMA, VIDEO_SCHEMA):
        raise OtherKind(f'its "schema" is neither "{SCHEMA}" nor "{VIDEO_SCHEMA}"')
    if results.get("version") != VERSION or results["version"] is True:
        raise OtherKind(f"version {schema.shown(results.get('version'))} of the schema, not {VERSION}")
    if results.get("kind", "bench") not in tuple(KINDS):
        raise OtherKind(f"of kind {schema.shown(results['kind'])}, none of {', '.join(KINDS)}")
    require(path, results, "video" if schema_name == VIDEO_SCHEMA else results.get("kind", "bench"))
    if is_profile(results):
        results["versions"] = [results["bench"]]
        # Of a pipeline on a GPU files of 2026-11-28 have no kernel time: a frame's time stands for it, as in others.
        results["bench"]["kernel"] = results["bench"]["kernel"] or results["bench"]["end_to_end"]
        for name in ("gpu_activities", "api_calls", "host_ranges"):
            _require_times(f"{path}: profile.{name}", results["profile"][name])
    if is_tune(results):
        # Points instead of versions: what is asked of a bench besides.
        results.update(threads=1, cost={"bytes": 0, "operations": 0, "operation": None}, ceilings={}, versions=[])
    if schema_name == VIDEO_SCHEMA:
        _from_video(results)
    for row in results["versions"]:
        if row["outcome"] == "timed" and (row["kernel"] is None or row["end_to_end"] is None):
            missing = [name for name in ("kernel", "end_to_end") if row[name] is None]
            raise ResultsError(f"{path}: {row['id']}: timed, but without times: no {' and no '.join(missing)}")
    results["path"] = path
    return results


# ------------------------------------------------------------------------------------------------------ questions


def machine_of(results):
    """h200, cpu2: the folder that the file lies in, or the one above where that is the algorithm's own."""
    folder = os.path.dirname(os.path.abspath(results["path"]))
    if os.path.basename(folder) == results["algorithm"]:
        folder = os.path.dirname(folder)
    return os.path.basename(folder)


def timed(results):
    return [row for row in results["versions"] if row["outcome"] == "timed"]


def find(results, version):
    return next((row for row in results["versions"] if row["id"] == version), None)


def side(row):
    """cpu, cuda or peer."""
    return row["id"].split("/")[0]


def on_device(row):
    """Whether it ran on the GPU: peers may do either."""
    return (row["kernel_method"] or "").startswith("device")


def is_worth(results):
    """Whether it is one of the benches of worth.py, which stand for no machine."""
    return os.path.basename(os.path.dirname(results["path"])) == WORTH


def in_order(many):
    """The benches of one machine, the main one first: of the settings in which a library was timed, or else of all, those that
    most of the files have, of several such those of the newest; then the largest picture, of several such a photograph before one
    that was made up, then one of several threads, and then the newest. Whatever shows one file for a machine shows this one."""
    settings = [results["settings"] for results in many]
    beside = {results["settings"] for results in many if best(results, lambda row: side(row) == "peer", "kernel")}
    newest = sorted(sorted(many, key=lambda r: r["path"]), key=lambda r: r["date"], reverse=True)
    latest = [results["settings"] for results in newest]
    return sorted(
        newest,
        key=lambda r: (
            is_worth(r),
            r["settings"] not in beside,
            -settings.count(r["settings"]),
            latest.index(r["settings"]),
            -pixels(r),
            r["input"].startswith("synthetic"),
            r.get("threads") == 1,
        ),
    )


def best(results, chosen, phase):
    """The timed row with the least median of those for which chosen(row) holds, or None."""
    rows = [row for row in timed(results) if chosen(row)]
    return min(rows, key=lambda row: row[phase]["median"]) if rows else None


def best_of(results, name, phase):
    """The fastest version of a side ("cpu", "cuda"), or None."""
    return best(results, lambda row: side(row) == name, phase)


def best_peer(results, device):
    """The fastest peer that runs on the GPU (device) or on the CPU (not device), or None."""
    return best(results, lambda row: side(row) == "peer" and on_device(row) == device, "kernel")


def differ(a, b):
    """Whether two statistics differ, by the rule of common/measure/statistics.h."""
    return a["q3"] < b["q1"] or b["q3"] < a["q1"]


def is_tune(results):
    return results.get("kind") == "tune"


def is_profile(results):
    return results.get("kind") == "profile"


def kind(results):
    """ "a bench", "a search", "a profile"."""
    return KINDS[results.get("kind", "bench")]


def is_video(results):
    return results["schema"] == VIDEO_SCHEMA


def rebase(results, ids):
    """Compares each row with the rung that is below it today, by {id: id below}, where the file timed both."""
    for row in timed(results):
        before = find(results, ids.get(row["id"]))
        row["over_below"] = None
        if before and before["outcome"] == "timed":
            row["over_below"] = {"version": before["id"]} | {
                phase: {"times": before[phase]["median"] / row[phase]["median"], "differs": differ(before[phase], row[phase])}
                for phase in ("kernel", "end_to_end")}


def below(results, row):
    """The row that `row` is compared with as the rung below, or None."""
    over = row["over_below"]
    return find(results, over["version"]) if over else None


def step_names(many):
    """The names of all lists of names, each behind the one that it follows in its own list."""
    names = []
    for own in many:
        place = 0
        for name in own:
            if name not in names:
                names.insert(place, name)
            place = names.index(name) + 1
    return names


def pixels(results):
    return results["width"] * results["height"]


# ---------------------------------------------------------------------------------------------------------- words


def number(value):
    """Three significant digits, no exponent, as common/output/table.c prints them."""
    if not value:
        return "0"
    decimals = 2 - math.floor(math.log10(abs(value)))
    if decimals < 0:
        value = round(value, decimals)
    if decimals > 0 and round(abs(value) * 10**decimals) >= 1000:
        decimals -= 1
    return f"{value:.{min(max(decimals, 0), 9)}f}"


def time(seconds):
    if seconds >= 0.9995:
        return number(seconds) + " s"
    if seconds >= 0.9995e-3:
        return number(seconds * 1e3) + " ms"
    return number(seconds * 1e6) + " µs"


def spread(statistics):
    """Half of the interquartile range, in percent of the median."""
    return 50 * (statistics["q3"] - statistics["q1"]) / statistics["median"]


def percent(value):
    return f"{value:.1f} %" if value < 9.95 else f"{value:.0f} %"


def time_and_spread(statistics):
    """The median with its spread, or with its quartiles where they lie further apart than it is long."""
    if statistics["n"] < 2:
        return time(statistics["median"]) + " once"
    if statistics["q3"] - statistics["q1"] > statistics["median"]:
        return f"{time(statistics['median'])}; quartiles {time(statistics['q1'])}, {time(statistics['q3'])}"
    return f"{time(statistics['median'])} ± {percent(spread(statistics))}"


def fraction(value):
    if not value:
        return "–"
    return f"{100 * value:.{2 if value < 0.001 else 1 if value < 0.1 else 0}f} %"


def ratio(over, phase):
    """How many times as fast; = when the interquartile ranges overlap, – when it was not measured."""
    if over is None or over[phase] is None:
        return "–"
    return number(over[phase]["times"]) if over[phase]["differs"] else "="


def verified(row):
    if row["reference"]:
        return "reference"
    if row["outcome"] == "skipped":
        return "skipped"
    if row["outcome"] == "failed":
        return "wrong"
    if row.get("frames_verified", 0) is None:
        return "not compared"
    if "frames_verified" in row:
        return f"equal in {count(row['frames_verified'], 'frame')}" + (
            ", emulated" if row["outcome"] == "emulated" else ""
        )
    worst = row["worst_difference"] or 0
    text = f"within {worst:.3g}" if worst > 0 else "exact"
    if row["outcome"] == "emulated":
        return text + ", emulated"
    return text + (", interior" if row["interior_only"] else "")


def amount(value):
    """Bytes, as common/output/table.c prints them."""
    if value >= 0.9995e5:
        return number(value / 1e6) + " MB"
    return number(value / 1e3) + " kB" if value >= 999.5 else f"{value:.0f} B"


def size(results):
    return f"{results['width']}×{results['height']}"


def share(value):
    """Of a table of shares, as common/output/profile_text.c prints them."""
    return "< 0.1 %" if 0 < value < 0.001 else f"{100 * value:.1f} %"


def count(things, noun):
    return f"{things} {noun}{'' if things == 1 else 's'}"


def machine(results):
    """The machine in a line."""
    facts = results["machine"]
    text = f"{facts['cpu']}, {count(facts['cores'], 'core')}, {facts['compiler']} {facts['flags']}"
    if facts["gpu"]:
        gpu = facts["gpu"]
        text += f"; {gpu['name']}, driver {gpu['driver']}, CUDA {gpu['cuda']}"
    return text
