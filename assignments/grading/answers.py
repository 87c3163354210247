"""answers.toml: a student's predictions with their reasons, and the lines of the bugs. Whatever stands there gives answers or one line of
complaint."""

import ast
import math
import operator
import re

MOST_BYTES = 1 << 16
FEWEST_WORDS = 4  # of a reason, all different,
FEWEST_OF_LAB = 2  # and so many of them, of four letters and more, words of the lab's page
OPERATIONS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}


def number(text):
    """What `46*46`, `3,5`, `2x` or `about 3` says; None where that is no number."""
    words = text.strip().strip("'\"").lower()
    words = re.sub(r"^(?:about|ca\.?|~)\s*", "", words)
    words = re.sub(r"(?<=\d)\s*(?:x|times|bytes)$", "", words)
    words = re.sub(r"(?<=\d),(?=\d)", ".", words).replace("^", "**").replace("×", "*")
    if not re.fullmatch(r"[\d\s.+*/()e-]{1,60}", words) or "**" in words:
        return None
    try:
        value = float(evaluated(ast.parse(words.strip(), mode="eval").body))
    except (SyntaxError, ValueError, ArithmeticError, RecursionError, MemoryError):
        return None
    return value if math.isfinite(value) else None


def evaluated(node):
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -evaluated(node.operand)
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
        return OPERATIONS[type(node.op)](evaluated(node.left), evaluated(node.right))
    raise ValueError


def words_in(text):
    return set(re.findall(r"[^\W\d_]{2,}", text.lower()))


def spoken(text):
    return " " + " ".join(re.findall(r"[^\W_]+", text.lower())) + " "


def is_reason(why, page, others):
    """Whether words behind `because` can be a reason: several, of what the lab is about (`page`: the text of its page, or None), but none of
    its sentences, and not those of another prediction (`others`)."""
    words, known = words_in(why), words_in(page or "")
    about = page is None or len([w for w in words if len(w) > 3 and (w in known or w.rstrip("s") in known)]) >= FEWEST_OF_LAB
    copied = page is not None and spoken(why) in spoken(page)
    return len(words) >= FEWEST_WORDS and about and not copied and all(words != words_in(other) for other in others)


def read_answers(path, name, page=None):
    """{"predictions": {id: number}, "bugs": {id: number}, "reasons": {id: what stands behind `because`}}, and what is wrong with the file, or None. Each line is read by
    itself, so that a slip costs one answer. `page`: the text of the lab's page."""
    answers = {"predictions": {}, "bugs": {}, "reasons": {}}
    try:
        if path.stat().st_size > MOST_BYTES:
            return answers, f"{name}: larger than {MOST_BYTES >> 10} KiB"
        lines = path.read_bytes().decode("utf-8", "replace").splitlines()
    except OSError:
        return answers, f"{name}: no such file"
    section, fault = None, None
    for at, line in enumerate(lines, 1):
        line = line.split("#")[0].strip()
        header = re.fullmatch(r"\[\s*(\w+)\s*\]", line)
        entry = re.fullmatch(r"[\"']?([\w-]+)[\"']?\s*=\s*(.*)", line)
        if header:
            section = answers.get(header.group(1)) if header.group(1) in ("predictions", "bugs") else None
        elif entry and section is not None:
            said, _, why = entry.group(2).partition("because")
            said = said.rstrip(" ,")
            value = number(said)
            if value is not None:
                section[entry.group(1)] = value
                if section is answers["predictions"] and is_reason(why, page, answers["reasons"].values()):
                    answers["reasons"][entry.group(1)] = why.strip()
            elif said.strip("'\" "):
                fault = fault or f"{name}: line {at}: '{said[:40]}' is no number"
        elif line:
            fault = fault or f"{name}: line {at}: '{line[:40]}' is neither [section] nor name = number"
    return answers, fault
