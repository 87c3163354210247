"""Structs that go to a function by value, or come back from one, straight from or to memory: gcc's -fsanitize=thread makes no call for these
accesses, so nobody watches or counts them. What gcc wrote down of a file behind that instrumentation (-fdump-tree-tsan-lineno) shows them. Of a
version in C those of variables that threads share are a fault, an array of structs that a function fills is none; so are instructions of
the processor that read or write such variables."""

import re
import subprocess

from grading.lab import ROOT

PLACE = re.compile(r"\[([^\s\[\]]+):(\d+):\d+(?: discrim \d+)?\] ")
VALUE = re.compile(r"(?:[\w.$]*_\d+(?:\(D\))?|[-\d\"&{(].*|)")  # a variable that is in no memory, a constant, an address
DECLARED = re.compile(r"  (?P<type>[^=;]*?)(?P<name>[\w.$]+)(?:\[[^;]*\])?;")
LAUNCHES = "common/emulator/include/emulated_core.h"  # where a kernel gets its arguments
LINE = re.compile(r"^[ \t]*(?:#|%:|\?\?=)[ \t]*(?:line\b|\d)", re.M)


def arguments_of(text):
    """Words between commas that stand in no bracket and no string."""
    depth, begin, quoted = 0, 0, False
    for at, letter in enumerate(text):
        if letter == '"' and text[at - 1] != "\\":
            quoted = not quoted
        depth += not quoted and (letter in "([{<") - (letter in ")]}>" and text[at - 1] != "-")
        if letter == "," and depth == 0 and not quoted:
            yield text[begin:at].strip()
            begin = at + 1
    yield text[begin:].strip()


def call_of(statement):
    """(what its result goes to or "", the function's name, its arguments) of a call; None of all else."""
    text, ends, _ = re.sub(r"(?: \[[^\]]*\])*;(?: \[[^\]]*\])*$", ";", statement).rpartition(";")
    depth, at = 0, len(text)
    while ends and text.endswith(")") and at > 0:
        at -= 1
        depth += (text[at] == ")") - (text[at] == "(")
        if depth == 0:
            to, _, name = text[:at - 1].rpartition(" = ")
            return (to, name, list(arguments_of(text[at + 1:-1]))) if at > 0 and text[at - 1] == " " and name else None
    return None


def data_of(file):
    """Names of an object file's variables."""
    output = subprocess.run(["nm", "-P", file], capture_output=True, text=True, errors="replace", cwd=ROOT, check=False).stdout
    return {line.split()[0].split(".")[0] for line in output.splitlines() if len(line.split()) > 1 and line.split()[1] in "BbCDdRrVv"}


def is_memory(word, known, data):
    """Whether an operand lies where other threads may reach it: `known` are the function's own names, with their types."""
    if VALUE.fullmatch(word):
        return False
    if word.startswith(("*", "MEM")) or "->" in word:
        return True
    base = re.match(r"[\w.$]*", word).group(0)
    return not any(name in known for name in (base, base.split(".")[0])) and base.split(".")[0] in data


def is_shared(word, data, statements):
    """Whether an operand is a variable outside of the function, or one that OpenMP's threads share: not whatever a pointer reaches."""
    inner = re.search(r"&([\w$]+)", word)
    if inner:
        return inner.group(1) in data
    pointer = re.match(r"\*?([\w.$]+)", word)
    if not pointer:
        return False
    name = pointer.group(1)
    return (name.startswith(".omp_data_i") or name.split(".")[0] in data
            or re.search(rf"^ *{re.escape(name)} = (?:\[\S+\] )*\.omp_data_i\S*->", statements, re.M) is not None)


def functions_of(text):
    """Of each function its name, the names of its parameters and variables, and its statements."""
    for name, function in re.findall(r"^;; Function (\S+) .*$([^\0]*?)(?=^;; Function |\Z)", text, re.M):
        head, _, body = function.partition("\n{")
        parameters = arguments_of(head[head.rfind("\n") + 1:].partition("(")[2].rstrip(") \n"))
        known = {re.search(r"[\w.$]*$", word).group(0) for word in parameters}
        declarations, _, statements = body.partition("<bb 2>")
        known |= {found.group("name") for found in map(DECLARED.fullmatch, declarations.splitlines()) if found}
        yield name, known, statements


def unseen_structs(source, written, object_file):
    """What is wrong with a file of a student's that hands structs over unseen, or ""; `written`: what gcc wrote down, `object_file`: of it."""
    if not written.is_file():
        return ""
    data = data_of(object_file)
    # A file that calls its lines by another file's name is its own all the same.
    renamed = any(LINE.search(re.sub(r"(?:\\|\?\?/)\n", "", path.read_text(encoding="utf-8", errors="replace")))
                  for path in source.parent.iterdir() if path.is_file())
    functions = list(functions_of(written.read_text(encoding="utf-8", errors="replace")))
    own = {name for name, _, _ in functions}
    for _, known, statements in functions:
        for line in statements.splitlines():
            place = PLACE.search(line)
            if not renamed and place and place.group(1).endswith(LAUNCHES):
                continue
            call = call_of(PLACE.sub("", line).strip())
            if not call:
                continue
            to, name, words = call
            inner = [re.match(r"&([\w$]+)", word) for word in words] if name.startswith("__builtin_ia32_") else []
            shared = next((found.group(1) for found in inner if found and found.group(1) in data), None)
            if shared:
                return (f"reads or writes {shared}, which threads share, by an instruction of this processor, {name}(), which cannot be watched: "
                        "do it by a plain access")
            # What the project's own functions get by value is a picture's size and place. A call by a pointer may be to any.
            mine = name in own or VALUE.fullmatch(name) or "<" in name and not name.startswith(("std::", "emulated::"))
            if not renamed and not mine:
                continue
            taken = bool(to) and not VALUE.fullmatch(to) and re.match(r"[\w.$]*", to).group(0) not in known
            given = [word for word in words if is_memory(word, known, data)]
            if source.suffix == ".c":
                taken = taken and is_shared(to, data, statements)
                given = [word for word in given if is_shared(word, data, statements)]
            if taken or given:
                where = f"line {place.group(2)}" if place else name
                return (f"{where} hands a struct in memory {'over from' if taken else 'over to'} a function by value, which cannot be watched: "
                        + ("take it into a variable of the function first" if taken else "copy it to a variable of the function first, or hand over its address"))
    return ""
