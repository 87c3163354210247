"""A program within a time limit: it and all that it started are gone when run() returns. A bench and a check start processes of
their own, in groups of their own; what they share is the session that run() begins."""

import os
import signal
import subprocess
import tempfile
import time

GRACE = 2  # seconds between the request to end and the end


class Ended:
    """What became of it: status (None: it was ended from here), printed, errors, seconds."""

    def __init__(self, status, printed, errors, seconds):
        self.status, self.printed, self.errors, self.seconds = status, printed, errors, seconds


def _family(leader, known):
    """{pid: when it began} of the processes of a session, whoever their parents are, of those of `known` that still are, and of all
    that these have begun."""
    table = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                state, parent, _, session, *rest = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        if state != "Z":
            table[int(name)] = (int(parent), int(session), rest[15])
    found = {pid for pid, (_, session, began) in table.items() if session == leader or known.get(pid) == began}
    more = found | {leader}
    while more:
        more = {pid for pid, (parent, _, _) in table.items() if parent in more} - found
        found |= more
    return {pid: table[pid][2] for pid in found}


def _end(process):
    """Ends the process, which may tidy up first, and then whatever is left of what it has begun."""
    known = _family(process.pid, {})
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(GRACE)
        except subprocess.TimeoutExpired:
            pass
    left = _family(process.pid, known)
    while left:
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass
        time.sleep(0.01)
        left = _family(process.pid, left)
    process.wait()


def run(command, limit, stop=None):
    """Runs it for at most `limit` seconds, or until stop.is_set() (a threading.Event). Raises OSError where it cannot start."""
    begin = time.monotonic()
    with tempfile.TemporaryFile() as printed, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=printed, stderr=errors, start_new_session=True
        )
        ended = False
        try:
            while process.poll() is None:
                left = limit - (time.monotonic() - begin)
                ended = left <= 0 or (stop is not None and stop.is_set())
                if ended:
                    break
                try:
                    process.wait(min(left, 0.1 if stop else 1))
                except subprocess.TimeoutExpired:
                    pass
        finally:
            _end(process)
        texts = []
        for file in (printed, errors):
            file.seek(0)
            texts.append(file.read().decode("utf-8", "replace"))
        return Ended(None if ended else process.returncode, *texts, time.monotonic() - begin)
