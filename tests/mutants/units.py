"""Writes the mutants of what no version computes: units.toml says what is changed in which file, and which unit test must fail.

usage: units.py FOLDER     writes FOLDER/NAME.c, leaves alone what is as it should be, removes others
       units.py            prints NAME, test and the test's part that must fail, one mutant a line
"""

import pathlib
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LIST = pathlib.Path(__file__).resolve().parent / "units.toml"
KEYS = {"name", "of", "changed", "test", "finds", "change"}


def fail(text):
    sys.exit(f"units.py: {LIST.relative_to(ROOT)}: {text}")


def text_of(mutant):
    text = (ROOT / mutant["of"]).read_text(encoding="utf-8")
    for old, new in mutant["change"]:
        if text.count(old) != 1:
            fail(f"{mutant['name']}: '{old}' is {text.count(old)} times in {mutant['of']}, not once")
        text = text.replace(old, new)
    return f"/* {mutant['changed']} */\n{text}"


def main():
    mutants = tomllib.loads(LIST.read_text(encoding="utf-8"))["mutant"]
    for mutant in mutants:
        if set(mutant) != KEYS:
            fail(f"{mutant.get('name', '?')}: its keys must be {', '.join(sorted(KEYS))}")
    if len(sys.argv) < 2:
        print("\n".join(f"{mutant['name']} {mutant['test']} {mutant['finds']}" for mutant in mutants))
        return
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for mutant in mutants:
        file, text = folder / f"{mutant['name']}.c", text_of(mutant)
        if not file.is_file() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
    for other in set(folder.glob("*.c")) - {folder / f"{mutant['name']}.c" for mutant in mutants}:
        other.unlink()


main()
