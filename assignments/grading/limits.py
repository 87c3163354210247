"""Waits for a program within a limit of processor time, from which a busy machine takes nothing (as common/core/limit.h in C)."""

import os
import subprocess
import time

LOOK = 0.25  # seconds
TICKS = os.sysconf("SC_CLK_TCK")


def account(root):
    """Processor seconds that a process and its descendants have used, and whether one of their threads runs or waits for a processor or a
    disk."""
    processes, family, used, wanting = {}, {root}, 0, False
    for name in filter(str.isdigit, os.listdir("/proc")):
        fields = stat_fields(f"/proc/{name}/stat")
        if fields:
            processes[int(name)] = fields
    grown = True
    while grown:
        children = {process for process, fields in processes.items() if int(fields[1]) in family}
        grown, family = not children <= family, family | children
    for process in family & processes.keys():
        used += sum(map(int, processes[process][11:15]))
        try:
            threads = os.listdir(f"/proc/{process}/task")
        except OSError:
            continue
        wanting |= any((stat_fields(f"/proc/{process}/task/{thread}/stat") or "?")[0] in ("R", "D") for thread in threads)
    return used / TICKS, wanting


def stat_fields(path):
    """The fields of /proc/.../stat behind the program's name: state, parent, ...; None when it has ended."""
    try:
        with open(path, "r", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()
    except OSError:
        return None


def wait_within(process, seconds):
    """The exit status of a subprocess.Popen, or None when it has used `seconds`: of processor time, but no more than the wall clock's, and
    of the wall clock's while nothing of it wants a processor."""
    used, before, at = 0, 0, time.monotonic()
    while used <= seconds:
        try:
            return process.wait(LOOK)
        except subprocess.TimeoutExpired:
            total, wanting = account(process.pid)
            now = time.monotonic()
            used += min(now - at, max(0, total - before)) if wanting or total > before else now - at
            before, at = total, now
    return None
