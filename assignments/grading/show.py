"""What students read: progress, a task's points and faults, the next step."""

import sys

from grading.words import printed


def progress(text):
    if sys.stderr.isatty():
        sys.stderr.write("\r\033[K" + text[:99])
        if not text:
            sys.stderr.write("\r")
        sys.stderr.flush()


def duration(seconds):
    for unit, factor in (("s", 1), ("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= 1 or unit == "µs":
            return f"{seconds * factor:.3g} {unit}"


def sizes_of(check):
    """"4 of 109 cases" is no help; which sizes are."""
    if check["failed"] == check["cases"]:
        return "all"
    failures = check["failures"]
    sizes = []
    for line in failures:
        size = line.split(",")[0]
        if size not in sizes:
            sizes.append(size)
    text = ", ".join(sizes[:12])
    return text + (f" and {len(sizes) - 12} more" if len(sizes) > 12 else "")


def wrapped(label, text, indent=6, width=100):
    words, lines, line = text.split(), [], " " * indent + label
    for word in words:
        if len(line) + 1 + len(word) > width and line.strip():
            lines.append(line)
            line = " " * (indent + len(label))
        line += " " + word
    return "\n".join([*lines, line])


def show_task(outcome, detail=True):
    task, check = outcome.task, outcome.check
    lines = [f"{task['id']:<12} {outcome.points:g} of {outcome.maximum} points   {task['title']}"]
    for part in outcome.parts:
        lines.append(wrapped(f"{part.name}: {part.points:g}/{part.maximum} ", part.reason, 4))
    if not detail:
        return "\n".join(lines)
    if not check and outcome.compiler:
        words = [w for w in outcome.compiler.strip().splitlines() if "error" in w or "warning" in w or "|" in w][:12]
        lines += ["      | " + w for w in words]
    if check and check["outcome"] == "fail" and check["cases"]:
        if check["failures"] and not check.get("ended_early"):
            lines.append(wrapped("sizes:    ", sizes_of(check)))
        lines.append(wrapped("case:     ", check["case"]))
        lines.append(wrapped("wrong:    ", check["what"]))
        lines.append(wrapped("diagnosis:", check["diagnosis"]))
        if check["picture"]:
            lines.append(wrapped("picture:  ", check["picture"] + "  (red: too large, blue: too small, yellow: never written)"))
    elif check and check["outcome"] == "fail":
        lines.append(wrapped("wrong:    ", check["what"]))
    for number, line in enumerate(printed(check) if check else []):
        lines.append(f"      {'printed:  ' if number == 0 else ' ' * 10} {line[:200]}")
    for timing in outcome.timings:
        if not timing["wrong"]:
            size = " ".join([timing["size"], *task["speed"].get("params", [])])
            lines.append(wrapped(f"{size}:", f"yours {duration(timing['seconds'])}, {task['speed']['reference']} "
                                 f"{duration(timing['reference_seconds'])} (medians of {timing['pairs']} calls of each, "
                                 f"{timing['threads']} threads)"))
    return "\n".join(lines)


def next_step(outcomes):
    for outcome in outcomes:
        for part in outcome.parts:
            if part.points < part.maximum - 0.05:
                text = f"next: {outcome.task['id']}, {part.name}: up to {part.maximum - part.points:g} more points."
                hint = outcome.task.get("next", "") if part.name == "right" else ""
                return text + ("\n" + wrapped("", hint, 5) if hint else "")
    return ""
