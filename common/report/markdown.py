"""Results as Markdown: the tables of a bench, of an image or of a video, for the pages of the ladders."""

import re

import results as rungs


def _plain(text):
    """Text outside of code: what Markdown or HTML would take for markup is escaped."""
    text = text.replace("\\", "\\\\")
    text = re.sub(r"&(?=#?\w+;)", "&amp;", text)
    text = re.sub(r"<(?=[A-Za-z/!?])", "&lt;", text)
    text = re.sub(r"(?<=\S)\*|\*(?=\S)", r"\\*", text)
    text = re.sub(r"(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])", r"\\_", text)
    return re.sub(r"\](?=[(:])", r"\\]", text).replace("~~", r"\~\~").replace("`", r"\`")


def inline(text):
    """One line of prose: markup characters stand for themselves, `names between backquotes` are code."""
    text = " ".join(re.sub(r"[\x00-\x1f]", " ", str(text)).split())
    parts = re.split(r"(`[^`]+`)", text)
    text = "".join(part if index % 2 else _plain(part) for index, part in enumerate(parts))
    return re.sub(r"^([#>+*-]|\d+[.)])(?=\s)", r"\\\1", text)


def code(text):
    """A code span, whatever is in it."""
    text = " ".join(re.sub(r"[\x00-\x1f]", " ", str(text)).split())
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    space = " " if "`" in text else ""
    return f"{fence}{space}{text}{space}{fence}"


def block(text):
    """A code block of lines that are shown as they are."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{fence}text\n{text}\n{fence}"


def link(text, target):
    return f"[{text}]({target.replace(' ', '%20').replace('(', '%28').replace(')', '%29')})"


def table(head, rows, numbers_from):
    """head and rows of Markdown; columns from `numbers_from` on stand to the right."""
    rule = ["---" if index < numbers_from else "---:" for index in range(len(head))]
    return "\n".join("| " + " | ".join(cell.replace("|", r"\|") for cell in row) + " |" for row in [head, rule, *rows])


# ------------------------------------------------------------------------------------------------------------ caption


def caption(results, path):
    """What was measured, on what, when, by which command, as a list; `path` leads to the file."""
    each = (
        rungs.count(results["frames"], "frame")
        if rungs.is_video(results)
        else rungs.count(results["channels"], "channel")
    )
    what = f"{rungs.size(results)}, {each}, {rungs.count(results['threads'], 'thread')}"
    return (
        f"- Input: {inline(results['input'])}; {inline(what)}\n"
        f"- Parameters: {inline(results['settings'] or 'none')}\n"
        f"- Machine: {inline(rungs.machine(results))}\n"
        f"- Measured: {inline(results['date'])}, commit {inline(results['commit'])}, {link('all numbers', path)},"
        f" by {code(results['command'])}"
    )


# ------------------------------------------------------------------------------------------------------- of an image


# What the columns of the tables below say. Tables stand close together, so it is said once, above all of them.
LEGEND = """- × serial, × rung below, × `peer/...`: how many times as fast as `cpu/serial`, as the rung that this one climbs
  from, as the fastest library of the table, by the medians of one run. `=`: not different, the interquartile ranges
  overlap. `–`: not measured, or nothing to compare with.
- Kernel: what the GPU computes, without transfers. End to end: from a picture in the memory of the host to its result
  there. A version on the CPU has one time for both.
- Of limit: the least time that this machine can take, by the rates that were measured in the same run (copying memory,
  or the operation that the algorithm needs most), over the kernel's time.
- ±: half of the interquartile range. Where no GPU took part there are ratios and no times, because such a machine may
  be shared and slow down as a whole; its times are in the linked files."""


def _verified(rows):
    """The column that says how each row agrees with the reference, and nothing where all give its bits: ([head], cells,
    what is said underneath)."""
    texts = [rungs.verified(row) for row in rows]
    if set(texts) <= {"reference", "exact"}:
        return [], [[] for _ in rows], "Every version gave the bits of `cpu/serial`."
    marked = [[f"**{text}**" if row["outcome"] == "failed" else text] for row, text in zip(rows, texts)]
    return ["verified"], marked, ""


def _below(*remarks):
    """The remarks under a table, in one paragraph."""
    text = " ".join(remark for remark in remarks if remark)
    return f"\n\n{text}" if text else ""


def _phase(row, phase):
    return rungs.time_and_spread(row[phase]) if row[phase] else "–"


def _device_table(rows):
    """First what concerns the kernel, then the same of the whole call."""
    verified, marked, remark = _verified(rows)
    head = ["version", *verified, "kernel", "of limit", "× serial", "× rung below"]
    head += ["end to end", "× serial", "× rung below"]
    cells = []
    for row, mark in zip(rows, marked):
        cells.append([code(row["id"]), *mark, _phase(row, "kernel"), rungs.fraction(row["limit_fraction"])])
        cells[-1] += [rungs.ratio(row[over], "kernel") for over in ("over_serial", "over_below")]
        cells[-1].append(_phase(row, "end_to_end"))
        cells[-1] += [rungs.ratio(row[over], "end_to_end") for over in ("over_serial", "over_below")]
    return table(head, cells, 1 + len(verified)) + _below(remark)


def _host_table(results, rows):
    """Ratios within the run and no times, for the machine may be shared and slow down or speed up as a whole."""
    peer = rungs.best_peer(results, False)
    verified, marked, remark = _verified(rows)
    head = ["version", *verified, "× serial", "× rung below"] + ([f"× {code(peer['id'])}"] if peer else [])
    cells = []
    for row, mark in zip(rows, marked):
        serial = "1" if row["reference"] else rungs.ratio(row["over_serial"], "kernel")
        cells.append([code(row["id"]), *mark, serial, rungs.ratio(row["over_below"], "kernel")])
        if peer:
            times = row["kernel"] and peer["kernel"]["median"] / row["kernel"]["median"]
            cells[-1].append(rungs.number(times) if times else "–")
    return table(head, cells, 1 + len(verified)) + _below(remark)


# -------------------------------------------------------------------------------------------------------- of a video


def _traffic(results, row, kind):
    """Bytes per pixel of one kind of traffic in a frame."""
    entry = ((row["memory"] or {}).get("frame") or {}).get(kind)
    if not entry:
        return "–"
    return rungs.number(entry["bytes"] / rungs.pixels(results)) if entry["calls"] else "0"


def _frames_table(results, rows, device):
    serial, peer = rungs.find(results, "cpu/serial"), rungs.best_peer(results, False)
    head = ["version", "frames verified"] + (["a frame", "frames/s"] if device else ["× serial"]) + ["× rung below"]
    head += [f"× {code(peer['id'])}"] if peer else []
    head += ["allocated, B/pixel", "uploaded, B/pixel", "downloaded, B/pixel"] if device else []
    cells = []
    for row in rows:
        median = row["end_to_end"]["median"]
        frames = row["frames_verified"]
        cells.append([code(row["id"]), "–" if frames is None else str(frames)])
        if device:
            cells[-1] += [rungs.time_and_spread(row["end_to_end"]), rungs.number(1 / median)]
        else:
            timed = serial and serial["end_to_end"]
            cells[-1].append(rungs.number(timed["median"] / median) if timed else "–")
        cells[-1].append(rungs.ratio(row["over_below"], "end_to_end"))
        if peer:
            cells[-1].append(rungs.number(peer["end_to_end"]["median"] / median))
        if device:
            cells[-1] += [_traffic(results, row, kind) for kind in ("allocate", "upload", "download")]
    return table(head, cells, 1)


def _steps_table(rows, device):
    """Of each step its time, or on a CPU alone its share."""
    columns = [{step["name"]: step["seconds"] for step in row["steps"]} for row in rows]
    cells = []
    for name in rungs.step_names(columns):
        cells.append([inline(name)])
        for steps in columns:
            seconds = steps.get(name, 0)
            share = f"{100 * seconds / sum(steps.values()):.1f} %" if seconds else ""
            cells[-1].append(rungs.time(seconds) if seconds and device else share)
    return table(["step"] + [code(row["id"]) for row in rows], cells, 1) if cells else ""


def _video(results):
    rows = [row for row in results["versions"] if row["end_to_end"]]
    device = any(row["memory"] for row in rows)
    text = _frames_table(results, rows, device)
    text += "\n\nA frame's time: from the frame in host memory to its result there; decoding excluded, transfers included."
    by_serial = results.get("frames_by_serial")
    if by_serial is not None and by_serial < results["frames"]:
        text += (
            f"\n`cpu/serial` was given time for {by_serial} of the {results['frames']} frames; the rest is compared with "
            "a fast version that\nagrees with it in those."
        )
    steps = _steps_table([row for row in rows if row["steps"]], device)
    if steps:
        what = "Time" if device else "Share"
        text += f"\n\n{steps}\n\n{what} of each step per frame, measured apart, frame by frame and without overlap."
    return text


def bench(results):
    """The table of a bench: with times where a GPU took part, else with ratios."""
    if rungs.is_video(results):
        return _video(results)
    rows = [row for row in results["versions"] if row["outcome"] != "skipped"]
    if any(rungs.on_device(row) for row in rows):
        return _device_table(rows)
    return _host_table(results, rows)
