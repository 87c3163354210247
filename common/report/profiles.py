"""What `rungs profile --json` saw, for the page: the tables that the command itself prints."""

import results as rungs
from markup import code, esc, mark, table

# Of ncu: key (common/profile/ncu.c), label, unit. An efficiency of 0 means that there were no such accesses.
METRICS = [
    ("duration", "duration", "time"),
    ("achieved_occupancy", "achieved occupancy", "percent"),
    ("sm_efficiency", "SM efficiency", "percent"),
    ("sm_throughput", "SM throughput", "percent"),
    ("dram_throughput", "DRAM throughput", "percent"),
    ("dram_bytes", "DRAM bytes", "bytes"),
    ("global_load_efficiency", "global load efficiency", "efficiency"),
    ("global_store_efficiency", "global store efficiency", "efficiency"),
    ("sectors_per_global_load", "sectors per global load", "number"),
    ("shared_efficiency", "shared efficiency", "efficiency"),
    ("bank_conflicts_shared_load", "bank conflicts, shared load", "number"),
    ("bank_conflicts_shared_store", "bank conflicts, shared store", "number"),
    ("branch_efficiency", "branch efficiency", "efficiency"),
    ("threads_per_instruction", "threads per instruction", "number"),
]
COUNTERS = [
    ("user_seconds", "user mode, all threads"),
    ("system_seconds", "kernel mode, all threads"),
    ("page_faults", "page faults"),
    ("voluntary_switches", "gave the core away"),
    ("involuntary_switches", "was made to"),
    ("cycles", "cycles"),
    ("instructions", "instructions"),
    ("cache_references", "cache references"),
    ("cache_misses", "cache misses"),
    ("branches", "branches"),
    ("branch_misses", "branch misses"),
]


def version(results):
    return results["bench"]["id"]


def title(results):
    settings = esc(results["settings"] or "no parameters")
    return f"Profile of {code(version(results))}, {esc(rungs.size(results))}, {settings}"


def kernels(results):
    return [entry for entry in results["profile"]["gpu_activities"] if entry["kind"] == "kernel" and "total" in entry]


def check(results):
    """How far CUPTI's kernel time is from that of CUDA events, which the bench takes; – where it takes none."""
    bench, seconds = results["bench"], results["profile"]["kernels_per_call"]
    if not seconds or bench["kernel"] is None or not rungs.on_device(bench):
        return "–"
    return f"{100 * (seconds / bench['kernel']['median'] - 1):+.1f} %".replace("-", "−")


def occupancy(results):
    """Of the kernel that takes the most time: theoretical, and as ncu measured it."""
    longest = max(kernels(results), key=lambda entry: entry["total"], default=None)
    if longest is None:
        return "–"
    launch = next((entry for entry in results["profile"]["launches"] if entry["kernel"] == longest["name"]), None)
    metrics = next((m for m in results["profile"]["metrics"] or [] if m["kernel"] == longest["name"]), {})
    texts = []
    if launch and launch["theoretical_occupancy"]:
        texts.append(f"{100 * launch['theoretical_occupancy']:.0f} %")
    if metrics.get("achieved_occupancy"):
        texts.append(f"{metrics['achieved_occupancy']:.0f} %")
    return f"{code(longest['name'])} {' / '.join(texts)}"


def is_counted(results):
    """By the emulator: what kernels ask of memory, without a time."""
    return bool(results["machine"].get("cuda_emulated") and results["profile"]["metrics"])


def counted(results):
    """Of all kernels together: the worst of each, with whose it is where there are several."""
    metrics = results["profile"]["metrics"]

    def worst(key, choose, unit):
        known = [kernel for kernel in metrics if kernel.get(key)]
        if not known:
            return "–"
        kernel = choose(known, key=lambda kernel: kernel[key])
        return _metric(kernel[key], unit) + (f" {code(kernel['kernel'])}" if len(metrics) > 1 else "")

    conflicts = sum(
        kernel.get(f"bank_conflicts_shared_{access}") or 0 for kernel in metrics for access in ("load", "store")
    )
    return [
        worst("sectors_per_global_load", max, "number"),
        worst("global_load_efficiency", min, "efficiency"),
        worst("global_store_efficiency", min, "efficiency"),
        rungs.number(conflicts),
        worst("branch_efficiency", min, "efficiency"),
    ]


def imbalance(results):
    """Of the parallel region that takes the most time."""
    longest = max(results["profile"]["openmp"]["regions"], key=lambda region: region["total"], default=None)
    return f"{rungs.number(longest['imbalance'])} in {code(longest['place'])}" if longest else "–"


def summary(many):
    """A row per profile; the columns of the GPU, of the CPU, or both, after what there is."""
    device = any(kernels(results) for results in many)
    team = any(results["profile"]["openmp"]["regions"] and not kernels(results) for results in many)
    head = ["version", "image", "a call"]
    if device:
        head += ["kernels a call", "against CUDA events", "of the GPU's work", "of copy rate"]
        head.append("longest kernel: occupancy, possible / achieved")
    if team:
        head.append("imbalance of the longest parallel region")
    emulated = any(is_counted(results) for results in many)
    if emulated:
        head += ["sectors a global load", "load efficiency", "store efficiency", "bank conflicts", "branch efficiency"]
    rows = []
    for results in many:
        profile = results["profile"]
        cells = [mark(results["bench"]), esc(rungs.size(results))]
        cells.append(rungs.time_and_spread(profile["call"]) if profile["call"] else "–")
        if device:
            cells.append(rungs.time(profile["kernels_per_call"]) if profile["kernels_per_call"] else "–")
            cells.append(check(results))
            cells.append(rungs.share(sum(entry["share"] for entry in kernels(results))) if kernels(results) else "–")
            cells.append(rungs.fraction(profile["copy_fraction"]))
            cells.append(occupancy(results))
        if team:
            cells.append("–" if kernels(results) else imbalance(results))
        if emulated:
            cells += counted(results) if is_counted(results) else ["–"] * 5
        rows.append(cells)
    words = []
    if device:
        words.append(
            "Kernels: by CUPTI's activity records, the sum in one call (of a pipeline: one frame); against CUDA "
            "events: how far that is from the bench's kernel time; of the GPU's work: the rest are copies. Of copy "
            "rate: the contract's least bytes over the kernels' time, against a copy in the same run."
        )
    if team:
        words.append("Imbalance: how many times as long the slowest thread works as the mean; 1 is perfect.")
    if emulated:
        sizes = sorted({r["profile"].get("metrics_size") or rungs.size(r) for r in many if is_counted(r)})
        words.append(
            f"Sectors to branch efficiency: counted by the emulator at {', '.join(sizes)}, not timed; of several kernels "
            "the worst, and the sum of all bank conflicts."
        )
    text = table("Profiles", head, rows, 2)
    return text + f'<p class="small">{" ".join(words)}</p>'


def _bar(value, text):
    """A number with a bar of `value` (0 .. 1) before it."""
    width = f"{100 * min(max(value, 0), 1):.1f}%"
    return f'<span class="share"><i style="width:{width}"></i></span><span class="after">{text}</span>'


def _sums(heading, entries):
    """nvprof's table."""
    if not entries:
        return ""
    if "total" not in entries[0]:
        head = [heading, "calls", "bytes"]
        rows = [[code(e["name"]), str(e["calls"]), rungs.amount(e["bytes"]) if e["bytes"] else "–"] for e in entries]
        return f"<h5>{heading}, emulated: no times</h5>" + table(heading, head, rows, 1)
    rows = [
        [code(entry["name"]), _bar(entry["share"], esc(rungs.share(entry["share"])))]
        + [rungs.time(entry["total"]), str(entry["calls"])]
        + [rungs.time(entry[name]) for name in ("average", "least", "most")]
        + [rungs.amount(entry["bytes"]) if entry["bytes"] else "–"]
        for entry in entries
    ]
    head = ["name", "share", "total", "calls", "average", "least", "most", "bytes"]
    if not any(entry["bytes"] for entry in entries):
        head, rows = head[:-1], [row[:-1] for row in rows]
    return f"<h5>{heading}</h5>" + table(heading, head, rows, 1)


def _launches(launches):
    if not launches:
        return ""

    def shape(numbers):
        return "×".join(str(number) for number in (numbers if numbers[2:] > [1] else numbers[:2]))

    def known(value, text):
        return "–" if value is None else text(value)

    rows = []
    for launch in launches:
        occupancy_text = known(launch["theoretical_occupancy"], lambda value: f"{100 * value:.1f} %")
        if launch["theoretical_occupancy"] and launch["theoretical_occupancy"] < 0.9995:
            occupancy_text += f", by {esc(launch['occupancy_bound_by'] or '?')}"
        rows.append(
            [code(launch["kernel"]), str(launch["times"]), shape(launch["grid"]), shape(launch["block"])]
            + [known(launch["registers"], str), known(launch["static_shared_bytes"], rungs.amount)]
            + [rungs.amount(launch["dynamic_shared_bytes"]), known(launch["local_bytes"], rungs.amount)]
            + [occupancy_text]
        )
    head = ["kernel", "times", "grid", "block", "registers a thread", "static shared", "dynamic shared"]
    head += ["local a thread", "theoretical occupancy"]
    return "<h5>Launches</h5>" + table("Launches", head, rows, 1)


def _metric(value, unit):
    if value is None:
        return "–"
    if unit == "efficiency" and value == 0:
        return "none"
    if unit in ("percent", "efficiency"):
        return f"{value:.1f} %"
    return {"time": rungs.time, "bytes": rungs.amount, "number": rungs.number}[unit](value)


def _metrics(metrics, emulated, size):
    if not metrics:
        return ""
    rows = [
        [label] + [_metric(kernel.get(key), unit) for kernel in metrics]
        for key, label, unit in METRICS
        if any(kernel.get(key) is not None for kernel in metrics)
    ]
    head = ["metric"] + [kernel["kernel"] for kernel in metrics]
    heading = "Counted, not timed" + (f", at {size}" if size else "") if emulated else "Hardware metrics (ncu)"
    return f"<h5>{heading}</h5>" + table("Hardware metrics", head, rows, 1)


def _team(team):
    text = ""
    if team["threads"]:
        longest = max(thread["busy"] + thread["waiting"] for thread in team["threads"]) or 1
        rows = [
            [str(number), str(thread["regions"])]
            + [_bar(thread["busy"] / longest, rungs.time(thread["busy"]))]
            + [rungs.time(thread["waiting"]), rungs.time(thread["on_core"])]
            for number, thread in enumerate(team["threads"])
        ]
        text += "<h5>Threads: sums over all calls; the bar is busy of busy and waiting</h5>"
        text += table("Threads", ["thread", "regions", "busy", "waiting", "on a core"], rows, 1)
    if team["regions"]:
        rows = [
            [code(region["place"]), str(region["times"]), str(region["threads"])]
            + [rungs.time(region[name]) for name in ("total", "busy_mean", "busy_slowest")]
            + [rungs.number(region["imbalance"])]
            for region in team["regions"]
        ]
        head = ["place", "times", "threads", "total", "busy, mean", "busy, slowest", "imbalance"]
        text += "<h5>Parallel regions</h5>" + table("Parallel regions", head, rows, 1)
    return text


def _counters(results):
    """Per call. What the machine does not count is not in the table; `missing` says why."""
    counters, calls = results["profile"]["counters"] or {}, results["profile"]["calls"]
    rows = []
    for key, label in COUNTERS:
        value = counters.get(key)
        if value is not None:
            rows.append([label, rungs.time(value / calls) if key.endswith("seconds") else rungs.number(value / calls)])
    return "<h5>Counters, per call</h5>" + table("Counters", ["counter", "a call"], rows, 1) if rows else ""


def tables(results):
    """Everything in the order in which the command prints it."""
    profile = results["profile"]
    text = f'<p class="small">{rungs.count(profile["calls"], "call")} recorded'
    if profile["gpu_busy"]:
        text += f"; the GPU was at work for {rungs.time(profile['gpu_busy'])} in all"
    text += ".</p>" + _counters(results)
    for heading, name in (
        ("GPU activities", "gpu_activities"),
        ("API calls", "api_calls"),
        ("Host ranges", "host_ranges"),
    ):
        text += _sums(heading, profile[name])
    text += _launches(profile["launches"])
    text += _metrics(profile["metrics"], results["machine"].get("cuda_emulated"), profile.get("metrics_size"))
    text += _team(profile["openmp"])
    for reason in profile["missing"]:
        text += f'<p class="small">Missing: {esc(reason)}.</p>'
    return text
