"""One command at a time that measures into results/: two would measure each other, and take each other's files away."""

import fcntl
import os


def take(results):
    """Takes the folder until this process ends, whatever ends it, and returns whether nobody else has it. Raises OSError."""
    os.makedirs(results, exist_ok=True)
    place = os.open(results, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)  # stays open: the lock goes with it
    try:
        fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
