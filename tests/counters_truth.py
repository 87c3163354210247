#!/usr/bin/env python3
"""Holds what the emulator counts (common/emulator/counters.h) to what a GPU counts: for each kernel one row per counter, with the ratio.

    counters_truth.py --cu build/cu --cases FILE.cu... [--out table.csv]
    counters_truth.py --gpu build --counted build-counted --cases blur:cuda/v1.2... [--size 200x150] [--out table.csv]

A case is a CUDA program with a main() of its own, compiled here by nvcc and by `cu --profile`, or a version, which both
builds have as rungs-ALGORITHM. Each runs under ncu and in the emulator; counters of a kernel's launches are added up, and
kernels are matched by name. Needs a GPU whose counters ncu may read. With --keep FOLDER what was compiled and counted for a
case is left in that folder, and taken from there; with --no-gpu it is all that is done, so that nothing but ncu has to run
on the machine that has the GPU.

Exit status: 0 all were compared; 1 some case could not be, with the reason on stderr.
"""

import argparse
import collections
import csv
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# What is compared: a name, ncu's counters (added up), and how the emulator's row has it.
COUNTERS = [
    ("global load requests", ["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"], "global load", "requests"),
    ("global load sectors", ["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"], "global load", "units"),
    ("global store requests", ["l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"], "global store", "requests"),
    ("global store sectors", ["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"], "global store", "units"),
    ("global atomic requests",
     ["l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum", "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum"],
     "global atomic", "requests"),
    ("global atomic sectors",
     ["l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum"],
     "global atomic", "units"),
    ("shared load requests", ["smsp__inst_executed_op_shared_ld.sum"], "shared load", "requests"),
    ("shared load wavefronts", ["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"], "shared load", "units"),
    ("shared load conflicts", ["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"], "shared load", "conflicts"),
    ("shared store requests", ["smsp__inst_executed_op_shared_st.sum"], "shared store", "requests"),
    ("shared store wavefronts", ["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"], "shared store", "units"),
    ("shared store conflicts", ["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"], "shared store", "conflicts"),
]
# Not added up over launches but their mean taken: ratios.
BRANCHES = "smsp__sass_average_branch_targets_threads_uniform.pct"
THREADS = "smsp__thread_inst_executed_per_inst_executed.ratio"


def base_name(name):
    """"blur_kernel" of "void ns::blur_kernel<32>(int)" and of "blur_kernel<32>": how both name a kernel."""
    name = re.sub(r"\(anonymous namespace\)|<unnamed>", "", name.strip())
    name = re.sub(r"^\s*(static\s+)?void\s+", "", name)
    depth, kept = 0, ""
    for c in name:
        depth += c == "<"
        if depth == 0:
            if c == "(":
                break
            kept += c
        depth -= c == ">"
    return kept.split("::")[-1].strip()


def run(command, **more):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False, **more)


def emulator_counts(path):
    """{kernel: {(what, column): number}} of the CSV, with "conflicts" and the kernel's branches."""
    kernels = collections.defaultdict(collections.Counter)
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["line"] != "0":
                continue
            counts = kernels[base_name(row["kernel"])]
            for column in ("requests", "threads", "bytes", "units", "meet"):
                counts[row["what"], column] += int(row[column])
            counts[row["what"], "conflicts"] += int(row["units"]) - int(row["least"])
            if row["what"] == "global load":
                for column in ("branches", "parted", "launches"):
                    counts["kernel", column] += int(row[column])
    return kernels


def gpu_counts(text):
    """{kernel: {counter: sum}} of what ncu --csv --page raw printed, and how many launches each had."""
    lines = [line for line in text.splitlines() if line.startswith('"')]
    kernels = collections.defaultdict(collections.Counter)
    for row in csv.DictReader(lines):
        if not row.get("ID"):
            continue  # the line of units
        counts = kernels[base_name(row["Kernel Name"])]
        counts["launches"] += 1
        for name, value in row.items():
            if name and re.match(r"(l1tex|smsp)__", name):
                try:
                    counts[name] += float(value.replace(",", ""))
                except ValueError:
                    pass
    return kernels


def find_ncu():
    places = sorted(pathlib.Path("/opt/nvidia/nsight-compute").glob("*/ncu")) if pathlib.Path("/opt/nvidia").exists() else []
    return shutil.which("ncu") or next((str(p) for p in [pathlib.Path("/usr/local/cuda/bin/ncu"), *places] if p.exists()), None)


def under_ncu(command):
    names = sorted({name for _, metrics, _, _ in COUNTERS for name in metrics} | {BRANCHES, THREADS})
    found = run([find_ncu(), "--target-processes", "all", "--clock-control", "none", "--csv", "--page", "raw",
                 "--print-units", "base", "--metrics", ",".join(names), *command])
    counts = gpu_counts(found.stdout)
    if not counts:
        raise RuntimeError("ncu: " + " ".join((found.stdout + found.stderr).split())[-500:])
    return counts


def program_of(case, arguments, folder):
    """What runs the case on a GPU; compiles a program."""
    if not case.endswith(".cu"):
        return [f"{arguments.gpu}/rungs-{case.split(':')[0]}", *version_options(case, arguments)]
    program = folder / "program"
    if not program.exists() and not (arguments.no_gpu and not shutil.which("nvcc")):
        made = run(["nvcc", "-O3", "-std=c++20", "-lineinfo", f"-arch={arguments.arch}", case, "-o", program])
        if made.returncode:
            raise RuntimeError("nvcc: " + made.stderr.strip()[:500])
    return [program]


def version_options(case, arguments):
    return ["profile", case, "--size", arguments.size, "--bare", "--calls", "1"]


def count(case, arguments, costs):
    emulated = [arguments.cu, "--profile", case] if case.endswith(".cu") else \
        [f"{arguments.counted}/rungs-{case.split(':')[0]}", *version_options(case, arguments)]
    ran = run(emulated, env={**os.environ, "RUNGS_EMULATOR_COUNTERS": str(costs.absolute())})
    if not costs.exists():
        raise RuntimeError("emulator: " + " ".join((ran.stdout + ran.stderr).split())[-500:])


def rows_of(case, arguments, folder):
    folder.mkdir(parents=True, exist_ok=True)
    costs = folder / "costs.csv"
    if not costs.exists():
        count(case, arguments, costs)
    ours = emulator_counts(costs)
    on_gpu = program_of(case, arguments, folder)
    truth = {} if arguments.no_gpu else under_ncu(on_gpu)
    for kernel in [*ours, *(k for k in truth if k not in ours)]:
        mine, real = ours.get(kernel, {}), truth.get(kernel, {})
        launches = [mine.get(("kernel", "launches"), 0), real.get("launches", 0)]
        yield case, kernel, "launches", launches[0], launches[1]
        for label, metrics, what, column in COUNTERS:
            counted, measured = mine.get((what, column), 0), sum(real.get(m, 0) for m in metrics)
            if counted or measured:
                yield case, kernel, label, counted, measured
        if mine.get(("kernel", "branches")):
            yield (case, kernel, "branch efficiency, %",
                   100 - 100 * mine["kernel", "parted"] / mine["kernel", "branches"],
                   real.get(BRANCHES, 0) / max(launches[1], 1))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cu", default="build/cu")
    parser.add_argument("--gpu", default="build", help="a build with CUDA=native")
    parser.add_argument("--counted", default="build-counted", help="a build with COUNTED=1 CUDA=emulated")
    parser.add_argument("--size", default="200x150")
    parser.add_argument("--arch", default="native", help="of nvcc")
    parser.add_argument("--out", help="the table as CSV; default: stdout")
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--no-gpu", action="store_true")
    parser.add_argument("--cases", nargs="+", required=True)
    arguments = parser.parse_args()
    failed = []

    if not arguments.no_gpu and not find_ncu():
        sys.exit("counters_truth.py: ncu (Nsight Compute) is not installed")
    with open(arguments.out, "w", newline="", encoding="utf-8") if arguments.out else os.fdopen(os.dup(1), "w") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["case", "kernel", "counter", "emulator", "gpu", "ratio"])
        for case in arguments.cases:
            try:
                with tempfile.TemporaryDirectory() as temporary:
                    folder = arguments.keep or pathlib.Path(temporary)
                    for *row, counted, measured in rows_of(case, arguments, folder / re.sub(r"[^\w.]", "_", case)):
                        table.writerow([*row, f"{counted:.10g}", "" if arguments.no_gpu else f"{measured:.10g}",
                                        f"{counted / measured:.4f}" if measured else ""])
            except (RuntimeError, OSError) as error:
                failed.append(f"{case}: {error}")
            file.flush()
    for line in failed:
        print("counters_truth.py: " + line, file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
