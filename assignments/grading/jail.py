"""What a compiler may do while it reads a student's file: read the system and what a version may stand on, write what it
builds, for so long and so much. Landlock (Linux 5.13) is the fence; jailed() says whether there is one."""

import ctypes
import functools
import os
import resource
import signal
import struct

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # of all architectures
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
REMOVE_AND_MAKE = sum(1 << bit for bit in (4, 5, 6, 7, 8, 9, 10, 11, 12))
TRUNCATE = 1 << 14  # from Landlock's version 3 on
SET_NO_NEW_PRIVS, SET_CHILD_SUBREAPER = 38, 36

COMPILE_SECONDS = 180
COMPILE_BYTES = 4 << 30
FILE_BYTES = 64 << 20
# Of devices none but /dev/null: a file without an end would take all the memory that there is.
SYSTEM = ("/usr", "/lib", "/lib64", "/bin", "/sbin", "/opt", "/etc/alternatives", "/etc/ld.so.cache", "/proc/cpuinfo",
          "/proc/meminfo", "/proc/self", "/sys/devices/system")

libc = ctypes.CDLL(None, use_errno=True)


@functools.cache
def landlock_version():
    return max(0, libc.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), 1))


def rules(readable, writable):
    """A set of rules as a file descriptor: what may be read and written, folders with all below them, or files."""
    newest = TRUNCATE if landlock_version() >= 3 else 0
    handled = READ_FILE | WRITE_FILE | REMOVE_AND_MAKE | newest
    ruleset = libc.syscall(CREATE_RULESET, struct.pack("Q", handled), ctypes.c_size_t(8), 0)
    if ruleset < 0:
        raise OSError(ctypes.get_errno(), "no Landlock rules")
    for paths, folder_rights in ((readable, READ_FILE), (writable, handled)):
        for path in paths:
            try:
                file = os.open(path, os.O_PATH | os.O_CLOEXEC)
            except OSError:
                continue  # what is not there needs no rule
            rights = folder_rights if os.path.isdir(path) else folder_rights & (READ_FILE | WRITE_FILE | newest)
            libc.syscall(ADD_RULE, ruleset, 1, struct.pack("=Qi", rights, file), 0)
            os.close(file)
    return ruleset


def limit_compiler():
    os.setsid()
    for limit, most in ((resource.RLIMIT_CPU, COMPILE_SECONDS), (resource.RLIMIT_AS, COMPILE_BYTES),
                        (resource.RLIMIT_FSIZE, FILE_BYTES), (resource.RLIMIT_CORE, 0)):
        resource.setrlimit(limit, (most, most))


def jailed(readable, writable):
    """What a child does before it becomes make: limits, and rules where the kernel has them."""
    ruleset = rules([*SYSTEM, *readable], ["/dev/null", *writable]) if landlock_version() else None

    def enter():
        limit_compiler()
        if ruleset is not None and (libc.prctl(SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
                                    or libc.syscall(RESTRICT_SELF, ruleset, 0) != 0):
            os._exit(126)

    enter.ruleset = ruleset
    return enter


def adopt_orphans():
    """From now on what a child leaves behind becomes a child of this process, so that empty() finds it."""
    libc.prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children():
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    fields = file.read().rpartition(b")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == os.getpid():
                found.append(int(name))
    return found


def empty(before):
    """Ends all children but those of `before`, and theirs, which become ours as their parents end."""
    while True:
        left = [child for child in children() if child not in before]
        if not left:
            return
        for child in left:
            try:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
            except (ProcessLookupError, ChildProcessError):
                pass
