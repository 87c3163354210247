"""Registers and occupancy of a version's kernels where no GPU runs them: what nvcc says of its code, for an emulated profile.

    resources.py --nvcc NVCC [--arch sm_90] VERSION.cu PROFILE.json

Compiles the file for a GPU of that architecture, prints a row for each launch of the profile, and writes into its JSON what was null:
registers, static shared memory, local memory, theoretical occupancy. A kernel of which nvcc makes several (a template) has the most
that one of them has. Exit status: 0, also where something is not known and one line says so; 2 bad use.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys

import results as rungs

# Of compute capability 9.0 (H100, H200), as the emulator's device.
WARPS, BLOCKS, REGISTERS, SHARED = 64, 32, 65536, 228 << 10
RESERVED = 1024  # bytes of shared memory of each block, the system's


def up(value, to):
    return -(-value // to) * to


def occupancy(threads, registers, shared):
    """(share of the warps that a multiprocessor may have, by what it is bound)."""
    warps = -(-threads // 32)
    limits = {"warps": WARPS // warps, "blocks": BLOCKS}
    if registers:
        # Each of its four parts has a quarter, and a warp gets 256 at a time.
        limits["registers"] = REGISTERS // 4 // up(registers * 32, 256) * 4 // warps
    limits["shared memory"] = SHARED // up(shared + RESERVED, 128)
    bound = min(limits, key=limits.get)
    return limits[bound] * warps / WARPS, bound


def base(name):
    """The kernel's own name: blur of "void rungs::blur<(int)3>(image, image)"."""
    found = re.match(r"(?:void )?(?:[\w ()]+::)*(\w+)\s*(?:[<(]|$)", name)
    return found.group(1) if found else name


def compiled(nvcc, arch, path):
    """{kernel: (registers, static shared bytes, local bytes)}; an error ends it as a text."""
    command = [nvcc, "-std=c++20", "-O3", f"-arch={arch}", "-cubin", "-Xptxas", "-v", "-I.", "-o", "/dev/null", path]
    try:
        said = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if said.returncode != 0:
        return next((line for line in said.stderr.splitlines() if "error" in line), f"{nvcc} ended with {said.returncode}")
    text = said.stderr
    if shutil.which("c++filt"):
        text = subprocess.run(["c++filt"], input=text, capture_output=True, text=True, check=True).stdout
    kernels, name, local = {}, None, 0
    for line in text.splitlines():
        entry = re.search(r"Compiling entry function '(.*)' for", line)
        if entry:
            name, local = base(entry.group(1)), 0
        frame = re.search(r"(\d+) bytes stack frame", line)
        if frame:
            local = int(frame.group(1))
        used = re.search(r"Used (\d+) registers", line)
        if used and name:
            shared = re.search(r"(\d+) bytes smem", line)
            now = (int(used.group(1)), int(shared.group(1)) if shared else 0, local)
            kernels[name] = tuple(map(max, kernels.get(name, now), now))
            name = None
    return kernels


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nvcc", required=True)
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("file")
    parser.add_argument("profile")
    options = parser.parse_args()
    try:
        with open(options.profile, encoding="utf-8") as file:
            document = json.load(file)
        launches = document["profile"]["launches"]
    except (OSError, ValueError, KeyError) as error:
        print(f"resources.py: {options.profile}: {error}", file=sys.stderr)
        return 2
    kernels = compiled(options.nvcc, options.arch, options.file)
    if isinstance(kernels, str):
        print(f"missing   registers and occupancy are not known: {kernels}")
        return 0
    print(f"By nvcc for {options.arch}, nothing was run\n{'registers':>26}{'static':>10}{'local':>10}{'occupancy':>12}  kernel")
    for launch in launches:
        found = kernels.get(base(launch["kernel"]))
        if found is None:
            print(f"{'not known':>26}{'':32}  {launch['kernel']}")
            continue
        registers, static, local = found
        threads = launch["block"][0] * launch["block"][1] * launch["block"][2]
        share, bound = occupancy(threads, registers, static + launch["dynamic_shared_bytes"])
        launch.update(
            registers=registers,
            static_shared_bytes=static,
            local_bytes=local,
            theoretical_occupancy=share,
            occupancy_bound_by=bound,
        )
        words = f" (bound by {bound})" if share < 1 else ""
        cells = f"{registers:>26}{rungs.amount(static):>10}{rungs.amount(local):>10}{100 * share:>10.1f} %"
        print(f"{cells}  {launch['kernel']}{words}")
    with open(options.profile, "w", encoding="utf-8") as file:
        json.dump(document, file, indent=2, ensure_ascii=False)
        file.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
