"""The report's tables: measurements, steps, conditions, best speedups."""

import results as rungs
from markup import code, esc, mark, prose, table


def versions_table(results):
    gpu = any(rungs.on_device(row) for row in rungs.timed(results))
    video = rungs.is_video(results)
    phases = (
        [("kernel", "kernel"), ("end_to_end", "end to end")] if gpu else [("kernel", "a frame" if video else "time")]
    )
    head = ["version", "boxes equal in" if video else "verified"] + [title for _, title in phases]
    head.append("frames/s" if video else "of limit")
    for over, title in (("over_serial", "× serial"), ("over_below", "× rung below")):
        head += [title + (f", {name}" if gpu else "") for _, name in phases]
    rows, remarks = [], {"skipped": [], "failed": []}
    for row in results["versions"]:
        if row["outcome"] in remarks:
            remarks[row["outcome"]].append(f"{code(row['id'])}: {prose(row['why'] or 'no reason given')}")
        if row["outcome"] == "skipped":
            continue
        wrong = row["outcome"] == "failed"
        cells = [mark(row), "<strong>wrong</strong>" if wrong else esc(rungs.verified(row).removeprefix("equal in "))]
        cells += [rungs.time_and_spread(row[phase]) if row[phase] else "–" for phase, _ in phases]
        if video:
            cells.append(rungs.number(1 / row["end_to_end"]["median"]) if row["end_to_end"] else "–")
        else:
            cells.append(rungs.fraction(row["limit_fraction"]))
        for over in ("over_serial", "over_below"):
            cells += [
                "1" if row["reference"] and over == "over_serial" else rungs.ratio(row[over], p) for p, _ in phases
            ]
        rows.append(cells)
    what = f"{results['algorithm']} on {rungs.machine_of(results)}, {rungs.size(results)}, {results['settings']}"
    text = table(f"Measurements of {what}", head, rows, 2)
    for row in results["versions"]:
        if "library" in row:
            text += (
                f'<p class="small">{code(row["id"])}: {esc(row["library"])}, timed right after the others in a process '
                f"of its own, by {code(row['path'])}.</p>"
            )
    for title, reasons in (("Wrong", remarks["failed"]), ("Not measured", remarks["skipped"])):
        if reasons:
            items = "".join(f"<li>{reason}</li>" for reason in reasons)
            text += f'<div class="small">{title}:<ul>{items}</ul></div>'
    if video:
        text += steps_tables(results)
    return text


def steps_tables(results):
    """Of a pipeline: the time of each step in each version, its share and its gain over the version below, and the
    memory that a version takes and moves."""
    rows = [row for row in rungs.timed(results) if row["steps"]]
    seconds = {row["id"]: {step["name"]: step["seconds"] for step in row["steps"]} for row in rows}
    columns = [(row["id"], seconds[row["id"]], rungs.below(results, row)) for row in rows]
    names = rungs.step_names(steps for _, steps, _ in columns)

    def cell(steps, below, name):
        total = sum(steps.values())
        if total <= 0 or name not in steps:
            return "–"
        part = 100 * steps[name] / total
        remarks = [f"{part:.0f} %" if part >= 0.5 else "&lt; 1 %"]
        before = seconds.get(below["id"], {}).get(name) if below else None
        if before and steps[name] > 0:
            remarks.append(f"{rungs.number(before / steps[name])}×")
        return f'{rungs.time(steps[name])}<br /><span class="under">{" · ".join(remarks)}</span>'

    text = ""
    if columns:
        text += (
            '<p class="small">Each step by itself, a frame on average; below it its share of the frame, and how many '
            "times as fast it is as in the version below:</p>"
        )
        cells = [[esc(name)] + [cell(steps, below, name) for _, steps, below in columns] for name in names]
        sums = ["<strong>all steps</strong>"]
        sums += [f"<strong>{rungs.time(sum(steps.values()))}</strong>" for _, steps, _ in columns]
        heads = ["step"] + [title for title, _, _ in columns]
        text += table(f"Steps of {results['algorithm']}", heads, cells + [sums], 1, "scroll narrow")
    moved = [row for row in results["versions"] if row["memory"]]
    if moved:
        kinds = [(when, kind) for when in ("start", "frame") for kind in ("allocate", "upload", "download")]

        def memory(row, when, kind):
            entry = (row["memory"].get(when) or {}).get(kind) or {}
            calls = entry.get("calls", 0)
            return f"{rungs.amount(entry.get('bytes', 0))} in {rungs.count(calls, 'call')}" if calls else "–"

        head = ["version"] + [f"{'at the start' if when == 'start' else 'a frame'}, {kind}" for when, kind in kinds]
        text += '<p class="small">Device memory, counted from the real allocations and copies:</p>'
        text += table("Memory", head, [[mark(row)] + [memory(row, *where) for where in kinds] for row in moved], 1)
    return text


def about(results):
    """What was measured, where, when, by which command."""
    each = (
        rungs.count(results["frames"], "frame")
        if rungs.is_video(results)
        else rungs.count(results["channels"], "channel")
    )
    facts = [
        ("Input", f"{results['input']}; {rungs.size(results)}, {each}; {results['settings'] or 'no parameters'}"),
        ("Machine", rungs.machine(results)),
        ("Date, commit", f"{results['date'].replace('T', ' ').replace('Z', ' UTC')}, {results['commit']}"),
    ]
    if not rungs.is_tune(results):
        facts.insert(2, ("Threads", f"{results['threads']} for CPU versions"))
    lines = "".join(f"<div><dt>{name}</dt><dd>{esc(text)}</dd></div>" for name, text in facts)
    return f'<dl class="facts">{lines}<div><dt>Command</dt><dd>{code(results["command"])}</dd></div></dl>'


def over_serial(row, phase):
    """ "× 8.08" of a version over serial, with its name."""
    if row is None or row["over_serial"] is None:
        return "–"
    times = rungs.ratio(row["over_serial"], phase)
    return f"<strong>{times}</strong> {mark(row)}"


def over_peer(results, row):
    """Times as fast as the fastest peer of its side."""
    peer = row and rungs.best_peer(results, rungs.on_device(row))
    if not peer:
        return "–"
    if not rungs.differ(row["kernel"], peer["kernel"]):
        return f"= {mark(peer)}"
    return f"<strong>{rungs.number(peer['kernel']['median'] / row['kernel']['median'])}</strong> {mark(peer)}"


def start_table(ladders):
    rows = []
    for ladder in ladders.values():
        for machine in ladder.places():
            if machine not in ladder.machines:
                continue
            results = ladder.machines[machine][0]
            cpu = rungs.best_of(results, "cpu", "kernel")
            cuda = rungs.best_of(results, "cuda", "kernel")
            whole = rungs.best_of(results, "cuda", "end_to_end")
            top = cuda or cpu
            rows.append(
                [
                    f'<a href="#{esc(ladder.name)}">{esc(ladder.name)}</a>',
                    f'<a href="#machine-{esc(machine)}">{esc(machine)}</a>',
                    over_serial(cpu, "kernel"),
                    "–" if rungs.is_video(results) else over_serial(cuda, "kernel"),
                    over_serial(whole, "end_to_end"),
                    rungs.fraction(top["limit_fraction"]) if top else "–",
                    over_peer(results, top),
                    esc(rungs.size(results)),
                ]
            )
    head = ["ladder", "machine", "best CPU, × serial", "best GPU kernel, × serial"]
    head += ["best GPU end to end, × serial", "of limit", "× best peer", "image"]
    return table("Best speedups of each ladder on each machine", head, rows, 2)
