"""Asks the judge (build/lab-NN/judge): is a version right, and how long does it take?"""

import json
import math
import os
import pathlib
import tempfile

from grading.build import judge_of, run_limited
from grading.lab import LabError
from grading.words import explain

USUAL = 1  # the judge's seed, where a student may see the same cases again
MOST_SAMPLES = 64  # of a result for each of a GPU's threads
MOST_TO_HOST = 1.25  # times the outputs' bytes that a call may copy to the host, which has no use for more,
FLAGS = 4096  # and so many bytes besides
CALLS = {"first_call": "of the first call", "second_call": "of the second call", "pipeline": "of the pipeline",
         "watched": "of a call that is watched", "any_threads": "with one thread and with seven"}
FULL, ZERO = 1.2, 3.0  # times the reference's time that earn all and none of the speed points


def judge(lab, arguments, seconds):
    with tempfile.TemporaryDirectory(prefix="rungs-lab-") as folder:
        result = pathlib.Path(folder, "result.json")
        arguments = [*map(str, arguments), "--json", str(result), *(["--unconfined"] if lab.unconfined else [])]
        # Threads that spin while they wait take the cores from those that work, but are fast where nothing else runs.
        passive = {} if arguments[0] == "time" else {"OMP_WAIT_POLICY": "passive"}
        code, output = run_limited([judge_of(lab), *arguments], seconds, environment=os.environ | passive)
        if code == 0:
            return json.loads(result.read_text(encoding="utf-8", errors="replace")), ""
        if code == 3:  # nothing that a version could do (common/lab/judge_check.c)
            raise LabError(output.strip().splitlines()[-1])
        return None, "took too long" if code is None else (output.strip().splitlines() or ["the judge said nothing"])[-1]


def check_version(lab, worker, name, pictures, tune=(), total=None, algorithm=None, without=(), largest=None, counted_size=None,
                  any_threads=False, seed=USUAL):
    limits = lab.limits
    total = total or limits["total_seconds"]
    arguments = ["check", "--worker", worker, "--id", name, "--limit", limits["case_seconds"], "--total", total,
                 "--memory", limits["memory_mib"], "--pictures", pictures, "--seed", seed, "--large"]
    for parameter in without:
        arguments += ["--without", parameter]
    if algorithm:
        arguments += ["--algorithm", algorithm]
    if largest or limits.get("largest_pixels"):
        arguments += ["--largest", largest or limits["largest_pixels"]]
    if counted_size:
        arguments += ["--size", counted_size]
    if any_threads:
        arguments += ["--any-threads"]
    for setting in tune:
        arguments += ["--tune", setting]
    result, why = judge(lab, arguments, total + 3 * limits["case_seconds"] + 90)
    if result is None:
        result = {"outcome": "fail", "cases": 0, "checked": 0, "declined": 0, "failed": 1, "failures": [], "case": "", "what": why,
                  "diagnosis": "", "picture": "", "emulated": False, "cuda": False, "reason": "", "tunables": {}}
    explain(result, f"make lab-{lab.number} TASK={name.split('/')[-1]} SANITIZE=1")
    return result


def fault_of_counts(check):
    """Whether a version for the GPU computes there, as far as the emulator can tell."""
    if check.get("needs_no_kernels"):
        return "its result is right when its kernels do nothing: the host computes it"
    if "not_counted" in check:
        return f"it is right in the checks, but the calls that are counted fail: {check['not_counted']}"
    if check.get("wavers"):
        return "its result is right in the checks, but not in the calls that are counted"
    if "second_call" in check and check["second_call"]["threads"] * MOST_SAMPLES < check["samples"]:
        return (f"{check['second_call']['threads']} threads for {check['samples']} samples: "
                f"at least one for {MOST_SAMPLES} must be there")
    copied, output = check.get("second_call", {}).get("to_host_bytes", 0), check.get("output_bytes", 0)
    if copied > MOST_TO_HOST * output + FLAGS and "pipeline" not in check:  # whose last steps may be the host's
        return (f"copies {copied} bytes to the host in a call, by cudaMemcpyDeviceToHost, HostToHost or Default, where its outputs have {output}: "
                "what else would the host do with them but compute?")
    if check.get("needs_few_threads"):
        return "its result is right when one in eight of its threads does nothing: few threads do all the work"
    return None


def also_missing(need, check):
    """What is missing of a need's further conditions, or "": effects that what only looks like the need's count does not have."""
    for other in need.get("also", []):
        call, what = other["count"].split(".")
        found = check.get(call, {what: None}).get(what, "not counted")
        if found is None or found != "not counted" and is_within(other, check[call], what):
            continue  # None: on a GPU or under the sanitizers
        wanted = f"at most {other['most']}" if "most" in other else f"at least {other['least']}"
        return f"{what.replace('_', ' ')} {CALLS[call]}: {found}, must be {wanted} {other['why']}"
    return ""


def is_within(need, counts, what):
    """Whether a count is as asked for, on the lab's picture moved round by lot as well, which nobody knows."""
    return all(need.get("least", 0) <= found[what] <= need.get("most", math.inf) for found in (counts, counts.get("moved", counts)))


def time_version(lab, worker, reference, speed, size):
    seconds = speed.get("seconds", 2)
    arguments = ["time", "--worker", worker, "--reference", reference, "--size", size, "--seconds", seconds, "--memory",
                 lab.limits["memory_mib"], "--limit", 60, "--zero", speed.get("zero", ZERO),
                 "--enough", 0.95 * speed.get("full", FULL)]
    for setting in speed.get("params", []):
        arguments += ["-p", setting]
    if "frames" in speed:
        arguments += ["--frames", speed["frames"]]
    if "threads" in speed:
        arguments += ["--threads", speed["threads"]]
    if "fewer" in speed:
        arguments += ["--fewer", speed["fewer"]]
    if speed.get("kernel"):
        arguments.append("--kernel")
    result, why = judge(lab, arguments, 300 + 10 * seconds)
    return result if result else {"wrong": f"could not be timed: {why}", "failed": True}


def usable_cores():
    """Cores that this process may use at once: a container's share may be a fraction of one."""
    cores = float(len(os.sched_getaffinity(0)))
    try:
        quota, period = pathlib.Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return cores if quota == "max" else min(cores, int(quota) / int(period))
    except (OSError, ValueError):
        return cores
