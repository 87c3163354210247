"""Holds a JSON document to results/schema.json, by the keywords of JSON Schema (draft 2020-12) that it uses. What `rungs
compare` and these tools may rely on stands there and nowhere else."""

import json
import math
import os
import re

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "results", "schema.json")
TYPES = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
}
LEAST = 1e-100
# What these do not cover would be believed without being checked.
KEYWORDS = {
    "description", "$ref", "anyOf", "const", "enum", "type", "pattern", "minimum", "exclusiveMinimum", "maximum",
    "required", "properties", "additionalProperties", "items",
}  # fmt: skip


class Mismatch(Exception):
    """One line: the field and what is wrong with it."""


with open(PATH, encoding="utf-8") as _file:
    DEFINITIONS = json.load(_file)["$defs"]


def shown(value):
    """A value in a message: short, and plain text whatever it holds."""
    if isinstance(value, int) and abs(value) > 10**20:
        return f"a number of {int(math.log10(abs(value))) + 1} digits"
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."


def plain(text):
    """Text for a terminal: what cannot be printed, in a file's name perhaps, is spelled out."""
    return "".join(c if c.isprintable() else "".join(f"\\x{b:02x}" for b in c.encode(errors="surrogateescape")) for c in str(text))


def _join(where, name):
    return f"{where}.{name}" if where else name


def _check_object(value, rule, where):
    for name in rule.get("required", ()):
        if name not in value:
            raise Mismatch(f"{where or 'it'} has no '{name}'")
    for name, item in value.items():
        if not name.isprintable():
            raise Mismatch(f"{_join(where, shown(name))}: a name with control characters")
        known = rule.get("properties", {}).get(name, rule.get("additionalProperties"))
        if known is not None:
            check(item, known, _join(where, name))


def check(value, rule, where=""):
    """Raises Mismatch unless the value fits the rule; `where` names it in messages."""
    if not rule.keys() <= KEYWORDS:
        raise ValueError(f"{PATH}: keywords that are not known: {', '.join(rule.keys() - KEYWORDS)}")
    if "$ref" in rule:
        check(value, DEFINITIONS[rule["$ref"].removeprefix("#/$defs/")], where)
    if "anyOf" in rule:
        # The first alternative says what was expected.
        for choice in rule["anyOf"][1:]:
            try:
                return check(value, choice, where)
            except Mismatch:
                pass
        return check(value, rule["anyOf"][0], where)
    what = f"'{where}'" if where else "it"
    # True equals 1 in Python, and is no number in JSON.
    if "const" in rule and (value != rule["const"] or isinstance(value, bool) != isinstance(rule["const"], bool)):
        raise Mismatch(f"{what} is {shown(value)}, not {shown(rule['const'])}")
    if "enum" in rule and value not in rule["enum"]:
        raise Mismatch(f"{what}: {shown(value)} is unknown")
    types = rule.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(TYPES[name](value) for name in types):
        raise Mismatch(f"{what} has the wrong type: {shown(value)} is no {' or '.join(types)}")
    if isinstance(value, str) and "pattern" in rule and not re.search(rule["pattern"].removesuffix("$") + r"\Z", value):
        raise Mismatch(f"{what}: {shown(value)} is not {rule['description']}")
    # A quotient by a number this small may be none that a float holds.
    if isinstance(value, float) and 0 < abs(value) < LEAST:
        raise Mismatch(f"{what}: {shown(value)} is closer to 0 than {LEAST:g}")
    # Compared as they are: 10**400 fits no float.
    if "minimum" in rule and not value >= rule["minimum"] or "exclusiveMinimum" in rule and not value > rule["exclusiveMinimum"]:
        least = "at least" if "minimum" in rule else "more than"
        raise Mismatch(f"{what}: {shown(value)} must be {least} {rule.get('minimum', rule.get('exclusiveMinimum')):g}")
    if "maximum" in rule and not value <= rule["maximum"]:
        raise Mismatch(f"{what}: {shown(value)} is more than {rule['maximum']:g}")
    if isinstance(value, dict):
        _check_object(value, rule, where)
    if isinstance(value, list) and "items" in rule:
        for index, item in enumerate(value):
            name = f"{where}[{index}]"
            if isinstance(item, dict) and isinstance(item.get("id"), str) and item["id"].isprintable():
                name += f" ({item['id']:.60})"
            check(item, rule["items"], name)


def require(document, name):
    """The same for a whole document and one of the definitions."""
    check(document, DEFINITIONS[name])
