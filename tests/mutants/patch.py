"""Writes the mutants that are a few changed words of a version: tests/mutants/mutants.toml says what is changed in which
files and what `rungs check` must say of the result.

usage: patch.py FOLDER     writes FOLDER/ALGORITHM/NAME.c or .cu, leaves alone what is as it should be, removes others

A mutant is of one or more files, the version last: what comes before it is a helper of the ladder, whose functions get names
of the mutant's own, so that the healthy helper can be linked beside it, and its constants names that end with it.
"""

import pathlib
import re
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LIST = pathlib.Path(__file__).resolve().parent / "mutants.toml"
KEYS = {"name", "of", "changed", "says", "case", "change"}


def fail(text):
    sys.exit(f"patch.py: {LIST.relative_to(ROOT)}: {text}")


def body_of(path):
    """A version or helper without the comments before its first line of code."""
    text = path.read_text(encoding="utf-8")
    while text.startswith("/*"):
        text = text[text.index("*/") + 2:].lstrip("\n")
    return text


def functions_of(text):
    """Names of the functions that a helper gives to others."""
    heads = re.findall(r"^(?!static|typedef|#|enum \{)[a-z][\w ]*[ *](\w+)\([^;{]*\)\n\{", text, re.M)
    return list(dict.fromkeys(heads))


def with_own_constants(text):
    """The constants of a helper mean nothing to the version that follows."""
    names = [re.match(r"\w+", part.strip())[0] for body in re.findall(r"^enum \{(.*?)\}", text, re.M | re.S)
             for part in re.sub(r"/\*.*?\*/", "", body, flags=re.S).split(",")]
    begin = text.index("\n", text.rindex("#include")) + 1
    return (text[:begin] + "".join(f"#define {name} HELPER_{name}\n" for name in names) + text[begin:]
            + "".join(f"#undef {name}\n" for name in names))


def mutant_text(mutant):
    helpers, bodies = [], []
    for name in mutant["of"]:
        body = body_of(ROOT / name)
        if name is not mutant["of"][-1]:
            helpers += functions_of(body)
            body = with_own_constants(body)
        bodies.append(f"/* {name} */\n" + body)
    text = "\n".join(bodies)
    for old, new in mutant["change"]:
        if text.count(old) != 1:
            fail(f"{mutant['name']}: '{old}' is {text.count(old)} times in {' and '.join(mutant['of'])}, not once")
        text = text.replace(old, new)
    own = "".join(f"#define {name} {mutant['name']}_{name}\n" for name in helpers)
    return (f"/*\n * Idea:     that of {mutant['of'][-1]}.\n * Changed:  {mutant['changed']}\n"
            f" * Expect:   {mutant['says']}\n * Case:     {mutant['case']}\n"
            + (" * Option:   --thorough\n" if mutant.get("thorough") else "") + f" */\n{own}{text}")


def main():
    folder = pathlib.Path(sys.argv[1])
    mutants = tomllib.loads(LIST.read_text(encoding="utf-8"))["mutant"]
    written = set()
    for mutant in mutants:
        if set(mutant) - {"thorough", "always"} != KEYS:
            fail(f"{mutant.get('name', '?')}: its keys must be thorough and always or not, and {', '.join(sorted(KEYS))}")
        version = pathlib.Path(mutant["of"][-1])
        file = folder / version.parts[1] / (mutant["name"] + version.suffix)
        text = mutant_text(mutant)
        written.add(file)
        if not file.is_file() or file.read_text(encoding="utf-8") != text:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    for other in set(folder.glob("*/*.c*")) - written:
        other.unlink()


main()
