"""Worst cases: pictures that students make so that one of the lab's versions takes as many launches as possible. The emulator
counts them, so that the same picture earns the same points everywhere; a GPU's machine has a build for that beside its own."""

import json
import pathlib
import re
import tempfile

from grading.build import has_gpu, judge_of, make, run_limited
from grading.lab import BUILD, ROOT, LabError, read_regular, shown


def read_pbm(data, side):
    """Width, height and samples of a PBM file, P1 or P4, of at most so many pixels a side; or what is wrong with it."""
    text = re.sub(rb"#[^\n]*", b"", data) if data[:2] == b"P1" else data
    header = re.match(rb"P([14])\s+(\d{1,5})\s+(\d{1,5})\s", text)
    if not header:
        return None, "is no PBM file: P1, or P4, then width and height"
    width, height = int(header.group(2)), int(header.group(3))
    if not (1 <= width <= side and 1 <= height <= side):
        return None, f"is {width}x{height}; at most {side}x{side} are asked for"
    rest = text[header.end():]
    if header.group(1) == b"1":
        bits = [digit == ord("1") for digit in rest if digit in b"01"]
    else:
        row_bytes = (width + 7) // 8
        bits = [rest[y * row_bytes + x // 8] >> (7 - x % 8) & 1 for y in range(height) for x in range(width)
                if y * row_bytes + x // 8 < len(rest)]
    if len(bits) < width * height:
        return None, f"ends after {len(bits)} of {width * height} pixels"
    return (width, height, bytes(255 * bool(bit) for bit in bits[:width * height])), ""


def count_launches(lab, worst, picture):
    """How many kernels the version launches for it, and what went wrong, or ""."""
    build = f"{BUILD}-emulated" if has_gpu() else BUILD
    worker = f"{build}/workers/{shown(lab.folder)}/{worst['version']}"
    judge = judge_of(lab).replace(BUILD, build, 1)
    code, output = make([judge, worker], 1800, BUILD=build, CUDA="emulated")
    if code != 0:
        raise LabError("the grader itself does not build:\n" + output[-3000:])
    width, height, samples = picture
    with tempfile.TemporaryDirectory(prefix="rungs-lab-") as folder:
        file, result = pathlib.Path(folder, "picture.pgm"), pathlib.Path(folder, "result.json")
        file.write_bytes(b"P5 %d %d 255\n" % (width, height) + samples)
        arguments = ["count", "--worker", worker, "--picture", str(file), "--json", str(result), "--limit", "60"]
        for setting in worst.get("params", []):
            arguments += ["-p", setting]
        code, output = run_limited([judge, *arguments, *(["--unconfined"] if lab.unconfined else [])], 120)
        if code != 0:
            return None, "took too long" if code is None else (output.strip().splitlines() or ["the judge said nothing"])[-1]
        found = json.loads(result.read_text(encoding="utf-8"))
    return (found["launches"], "") if found["right"] else (None, "the version is wrong for it: tell your instructor")


def grade_worst(lab, worst):
    """Points and the reason."""
    data = read_regular(lab.place, worst["picture"])
    if data is None:
        return 0, f"no picture {worst['picture']}"
    picture, fault = read_pbm(data, worst["side"])
    if fault:
        return 0, f"{worst['picture']} {fault}"
    launches, fault = count_launches(lab, worst, picture)
    if fault:
        return 0, f"{worst['picture']}: {fault}"
    share = (launches - worst["zero"]) / (worst["full"] - worst["zero"])
    return worst["points"] * min(1.0, max(0.0, share)), (
        f"{launches} launches of {worst['version']} for {picture[0]}x{picture[1]} pixels (none up to {worst['zero']}, all from "
        f"{worst['full']})")
