"""Checks that what code cites by author and year has its title in docs/sources.md or README.md: check_sources.py [FOLDER].

A citation is a name, "Name and Name", "Name, Name" or "Name et al." with a year behind it. Prints each that neither page has in one
line with its year; exit status 1 then, and 2 when there was no citation at all."""

import glob
import os
import re
import sys
import unicodedata

FILES = ("cpu/**/*", "cuda/**/*", "peers/**/*", "common/**/*", "studies/*")
KINDS = (".c", ".h", ".cu", ".cuh", ".cpp", ".py", ".toml")
CITATION = re.compile(
    r"\b([A-Z][a-z]+)(?:(?: and |, )[A-Z][a-z]+(?: [A-Z][a-z]+)?| et al\.| and others)? ((?:19[5-9]|20[0-4])\d)\b(?!x|\d|-)"
)


def plain(path):
    """Its text without accents, and without the breaks of lines within a comment."""
    with open(path, encoding="utf-8") as file:
        text = unicodedata.normalize("NFD", file.read()).encode("ascii", "ignore").decode()
    return re.sub(r"\n ?\*? +", " ", text)


os.chdir(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
titles = (plain("docs/sources.md") + plain("README.md")).split("\n")
found, missing = 0, []
for pattern in FILES:
    for path in sorted(glob.glob(pattern, recursive=True)):
        if not path.endswith(KINDS):
            continue
        for match in CITATION.finditer(plain(path)):
            found += 1
            if not any(match.group(1) in line and match.group(2) in line for line in titles):
                missing.append(f"{path}: {match.group()}: docs/sources.md has no such title")
print("\n".join(sorted(set(missing))) or f"{found} citations, each with its title")
sys.exit(1 if missing else 0 if found else 2)
