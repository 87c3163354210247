"""Reads results files (results/README.md describes them) and puts their numbers into words, as the bench's table does.

A bench of a video algorithm has a schema of its own. load() brings its rows into the form of the others: one time, end
to end, stands for both phases, and nothing is known of a limit; what only videos have (frames, steps, memory) stays. A
profile has its one version as a row; what the profiler saw is in "profile".

ResultsError names the file and the reason, in one line.
"""

import json
import math
import os
import re

SCHEMA, VIDEO_SCHEMA, VERSION = "rungs-results", "rungs-video-results", 1
KINDS = {"bench": "a bench", "tune": "a search", "profile": "a profile"}


class ResultsError(Exception):
    """A file that cannot be used: bad input, exit status 2."""


class OtherKind(Exception):
    """A JSON file that is fine, but of no kind that is known here: to be left out, and said so."""


# What the readers below rely on. A name: the JSON types that it may have.
NUMBER, TEXT, OBJECT, LIST, FLAG = (int, float), (str,), (dict,), (list,), (bool,)
NONE = (type(None),)
TOP = {
    "date": TEXT, "commit": TEXT, "command": TEXT, "machine": OBJECT, "algorithm": TEXT, "settings": TEXT,
    "input": TEXT, "width": NUMBER, "height": NUMBER, "channels": NUMBER, "threads": NUMBER, "cost": OBJECT,
    "ceilings": OBJECT, "versions": LIST,
}  # fmt: skip
MACHINE = {"cpu": TEXT, "cores": NUMBER, "compiler": TEXT, "flags": TEXT, "gpu": OBJECT + NONE}
GPU = {"name": TEXT, "driver": TEXT, "cuda": TEXT}
COST = {"bytes": NUMBER, "operations": NUMBER, "operation": TEXT + NONE}
CEILINGS = {"copy_bytes_per_second": NUMBER + NONE, "multiply_accumulates_per_second": NUMBER + NONE}
ROW = {
    "id": TEXT, "outcome": TEXT, "reference": FLAG, "worst_difference": NUMBER + NONE, "interior_only": FLAG,
    "why": TEXT + NONE, "kernel": OBJECT + NONE, "end_to_end": OBJECT + NONE, "kernel_method": TEXT + NONE,
    "limit": NUMBER + NONE, "limit_fraction": NUMBER + NONE, "over_serial": OBJECT + NONE, "over_below": OBJECT + NONE,
}  # fmt: skip
STATISTICS = {"median": NUMBER, "q1": NUMBER, "q3": NUMBER, "n": NUMBER}
OVER = {"version": TEXT, "kernel": OBJECT + NONE, "end_to_end": OBJECT + NONE}
RATIO = {"times": NUMBER, "differs": FLAG}
VIDEO_TOP = {name: TOP[name] for name in TOP if name not in ("channels", "cost", "ceilings")} | {"frames": NUMBER}
VIDEO_ROW = {
    "id": TEXT, "outcome": TEXT, "reference": FLAG, "why": TEXT + NONE, "end_to_end": OBJECT + NONE,
    "frames_verified": NUMBER + NONE, "steps": LIST, "memory": OBJECT + NONE,
    "over_serial": OBJECT + NONE, "over_below": OBJECT + NONE,
}  # fmt: skip
TUNE_TOP = {"tuned_version": TEXT, "time": TEXT, "axes": LIST, "points": LIST}
POINT = {
    "values": OBJECT,
    "outcome": TEXT,
    "time": OBJECT + NONE,
    "default": FLAG,
    "best": FLAG,
    "like_best": FLAG,
    "over_default": OBJECT + NONE,
}
AXIS = {"name": TEXT, "values": LIST}
PROFILE = {
    "calls": NUMBER, "call": OBJECT + NONE, "gpu_activities": LIST, "api_calls": LIST, "host_ranges": LIST,
    "launches": LIST, "gpu_busy": NUMBER + NONE, "kernels_per_call": NUMBER + NONE, "copy_fraction": NUMBER + NONE,
    "metrics": LIST + NONE, "openmp": OBJECT, "counters": OBJECT + NONE, "missing": LIST,
}  # fmt: skip
SUM = {"kind": TEXT, "name": TEXT, "calls": NUMBER, "bytes": NUMBER}
SUM_TIMES = {name: NUMBER for name in ("share", "total", "average", "least", "most")}
LAUNCH = {
    "kernel": TEXT, "times": NUMBER, "grid": LIST, "block": LIST, "registers": NUMBER + NONE,
    "static_shared_bytes": NUMBER + NONE, "dynamic_shared_bytes": NUMBER, "local_bytes": NUMBER + NONE,
    "theoretical_occupancy": NUMBER + NONE, "occupancy_bound_by": TEXT + NONE,
}  # fmt: skip
TEAM = {"threads": LIST, "regions": LIST, "parallel_seconds": NUMBER}
THREAD = {"regions": NUMBER, "busy": NUMBER, "waiting": NUMBER, "on_core": NUMBER}
REGION = {
    "place": TEXT, "times": NUMBER, "threads": NUMBER, "total": NUMBER, "busy_mean": NUMBER, "busy_slowest": NUMBER,
    "imbalance": NUMBER,
}  # fmt: skip
STEP = {"name": TEXT, "seconds": NUMBER}
OUTCOMES = ("timed", "emulated", "skipped", "failed")


def _require(where, value, fields):
    for name, types in fields.items():
        if name not in value:
            raise ResultsError(f"{where} has no '{name}'")
        if not isinstance(value[name], types) or (isinstance(value[name], bool) and types is not FLAG):
            raise ResultsError(f"{where}: '{name}' has the wrong type")
        if isinstance(value[name], float) and not math.isfinite(value[name]):
            raise ResultsError(f"{where}: '{name}' is not a finite number")


def _require_order(where, statistics):
    if not 0 < statistics["q1"] <= statistics["median"] <= statistics["q3"]:
        raise ResultsError(f"{where}: not 0 < q1 <= median <= q3")


def _require_each(where, rows, fields):
    for index, row in enumerate(rows):
        _require(f"{where} {index}", row if isinstance(row, dict) else {}, fields)


def _require_row(where, row):
    if not isinstance(row, dict):
        raise ResultsError(f"{where} is no object")
    _require(where, row, ROW)
    if not re.fullmatch(r"[a-z]+/[A-Za-z0-9_.-]+", row["id"]):
        raise ResultsError(f"{where}: '{row['id']}' is no version")
    where = f"{where} ({row['id']})"
    if row["outcome"] not in OUTCOMES:
        raise ResultsError(f"{where}: outcome '{row['outcome']}' is unknown")
    for phase in ("kernel", "end_to_end"):
        if row[phase] is not None:
            _require(f"{where}: {phase}", row[phase], STATISTICS)
            _require_order(f"{where}: {phase}", row[phase])
    if row["outcome"] == "timed" and (row["kernel"] is None or row["end_to_end"] is None):
        raise ResultsError(f"{where}: timed, but without times")
    for over in ("over_serial", "over_below"):
        if row[over] is not None:
            _require(f"{where}: {over}", row[over], OVER)
            for phase in ("kernel", "end_to_end"):
                if row[over][phase] is not None:
                    _require(f"{where}: {over}: {phase}", row[over][phase], RATIO)


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


def _from_video(path, results):
    """Checks what only videos have, and brings the rows into the form of the others."""
    _require(path, results, VIDEO_TOP)
    results.update(channels=3, cost={"bytes": 0, "operations": 0, "operation": None}, ceilings={})
    for index, row in enumerate(results["versions"]):
        where = f"{path}: version {index}"
        if not isinstance(row, dict):
            raise ResultsError(f"{where} is no object")
        _require(where, row, VIDEO_ROW)
        if row["end_to_end"] is not None:
            _require(f"{where}: end_to_end", row["end_to_end"], STATISTICS)
            _require_order(f"{where}: end_to_end", row["end_to_end"])
        for step in row["steps"]:
            _require(f"{where}: step", step if isinstance(step, dict) else {}, STEP)
        row.update(kernel=row["end_to_end"], kernel_method="host clock", worst_difference=0.0, interior_only=False)
        row.update(limit=None, limit_fraction=None)
        for over in ("over_serial", "over_below"):
            if row[over] is not None:
                _require(f"{where}: {over}", row[over], {"version": TEXT} | RATIO)
                ratio = {name: row[over][name] for name in RATIO}
                row[over] = {"version": row[over]["version"], "kernel": ratio, "end_to_end": ratio}
    serial = find(results, "cpu/serial")
    for row in results["versions"]:
        # A peer that was added to the file afterwards.
        if "library" in row and serial and serial["end_to_end"] and row["end_to_end"] and row["over_serial"] is None:
            before, after = serial["end_to_end"], row["end_to_end"]
            ratio = {"times": before["median"] / after["median"], "differs": differ(before, after)}
            row["over_serial"] = {"version": "cpu/serial", "kernel": ratio, "end_to_end": ratio}


def _check_tune(path, results):
    """A search over launch parameters: points instead of versions."""
    _require(path, results, TUNE_TOP)
    for index, axis in enumerate(results["axes"]):
        _require(f"{path}: axis {index}", axis if isinstance(axis, dict) else {}, AXIS)
    for index, point in enumerate(results["points"]):
        where = f"{path}: point {index}"
        _require(where, point if isinstance(point, dict) else {}, POINT)
        if point["time"] is not None:
            _require(f"{where}: time", point["time"], STATISTICS)
            _require_order(f"{where}: time", point["time"])
        if point["over_default"] is not None:
            _require(f"{where}: over_default", point["over_default"], RATIO)
    # What the checks of a bench ask for besides.
    results.update(threads=1, cost={"bytes": 0, "operations": 0, "operation": None}, ceilings={}, versions=[])


def _check_profile(path, results):
    """One version under the profiler, and its row as a bench has it."""
    _require(path, results, {"bench": OBJECT, "profile": OBJECT})
    profile, where = results["profile"], f"{path}: profile"
    _require(where, profile, PROFILE)
    if profile["calls"] < 1:
        raise ResultsError(f"{where}: no calls")
    if profile["call"] is not None:
        _require(f"{where}: call", profile["call"], STATISTICS)
        _require_order(f"{where}: call", profile["call"])
    for name in ("gpu_activities", "api_calls", "host_ranges"):
        _require_each(f"{where}: {name}", profile[name], SUM)
        for entry in profile[name]:
            if "total" in entry:
                _require(f"{where}: {name}: {entry['name']}", entry, SUM_TIMES)
    _require_each(f"{where}: launch", profile["launches"], LAUNCH)
    for launch in profile["launches"]:
        if not all(isinstance(number, int) for number in launch["grid"] + launch["block"]):
            raise ResultsError(f"{where}: launch of {launch['kernel']}: grid and block are not numbers")
    for kernel in profile["metrics"] or []:
        _require(f"{where}: metrics", kernel if isinstance(kernel, dict) else {}, {"kernel": TEXT})
        _require(f"{where}: metrics", kernel, {name: NUMBER + NONE for name in kernel if name != "kernel"})
    _require(f"{where}: openmp", profile["openmp"], TEAM)
    _require_each(f"{where}: thread", profile["openmp"]["threads"], THREAD)
    _require_each(f"{where}: region", profile["openmp"]["regions"], REGION)
    if profile["counters"]:
        _require(f"{where}: counters", profile["counters"], {name: NUMBER + NONE for name in profile["counters"]})
    results["versions"] = [results["bench"]]


def load(path):
    """The results of one bench, search (is_tune) or profile (is_profile), checked. Raises OtherKind for JSON of another
    kind, ResultsError for a bad file."""
    return checked(path, read(path))


def checked(path, results):
    """The same of a document that was read before, which is changed; `path` is what messages call it."""
    schema = results.get("schema") if isinstance(results, dict) else None
    if schema not in (SCHEMA, VIDEO_SCHEMA):
        raise OtherKind(f'its "schema" is neither "{SCHEMA}" nor "{VIDEO_SCHEMA}"')
    if results.get("version") != VERSION:
        raise OtherKind(f"version {results.get('version')!r} of the schema, not {VERSION}")
    if results.get("kind", "bench") not in KINDS:
        raise OtherKind(f"of kind {results['kind']!r}, none of {', '.join(KINDS)}")
    if is_profile(results):
        _check_profile(path, results)
    if is_tune(results):
        _check_tune(path, results)
    if schema == VIDEO_SCHEMA:
        _from_video(path, results)
    _require(path, results, TOP)
    _require(f"{path}: machine", results["machine"], MACHINE)
    if results["machine"]["gpu"] is not None:
        _require(f"{path}: machine: gpu", results["machine"]["gpu"], GPU)
    _require(f"{path}: cost", results["cost"], COST)
    for name in ("cpu", "gpu"):
        ceilings = results["ceilings"].get(name)
        if ceilings is not None:
            if not isinstance(ceilings, dict):
                raise ResultsError(f"{path}: ceilings: '{name}' has the wrong type")
            _require(f"{path}: ceilings: {name}", ceilings, CEILINGS)
    if not re.fullmatch(r"[a-z0-9_]+", results["algorithm"]):
        raise ResultsError(f"{path}: '{results['algorithm']}' is no algorithm")
    if results["width"] <= 0 or results["height"] <= 0:
        raise ResultsError(f"{path}: no pixels")
    for index, row in enumerate(results["versions"]):
        _require_row(f"{path}: version {index}", row)
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


def in_order(many):
    """The benches of one machine, the main one first: of the settings that most of them have, the one of the largest
    picture, and of several such the newest. Whatever shows one file for a machine shows this one."""
    settings = [results["settings"] for results in many]
    newest = sorted(sorted(many, key=lambda r: r["path"]), key=lambda r: r["date"], reverse=True)
    return sorted(newest, key=lambda r: (-settings.count(r["settings"]), r["settings"], -pixels(r)))


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
