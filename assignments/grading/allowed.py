"""What a version may use: allowed.toml lists it, a lab adds to it, and all else is refused before it runs, with the name and its line.

Three looks, none of which the file can tell apart from any other compilation. Its tokens, as the compiler's first phases leave them:
no spelling of a name, no digraph and no joined line hides one, and only names that are written out can be made by a macro. The symbols
that its object needs, compiled so that each call stays one (-fno-builtin). And what the compiler wrote down behind its
instrumentation: calls, of which the function is known."""

import functools
import re
import subprocess
import tomllib

from grading.lab import ROOT
from grading.objects import bare, symbols
from grading.unseen import PLACE, call_of, functions_of

SEPARATOR = r"'\w|"  # in numbers of C++; in C it begins a character
# A comment or a text without its end is one token as well: tried anew at each of its letters, a megabyte of them would take hours.
TOKEN = {suffix: re.compile(r"""(?P<space>[ \t\r\f\v\n]+|//[^\n]*|/\*.*?(?:\*/|\Z))|(?P<word>[A-Za-z_]\w*)|(?P<number>\.?\d(?:[eEpP][+-]|""" + separator +
                            r"""[\w.])*)|(?P<text>"(?:\\.|[^"\\\n])*(?P<end>"?)|'(?:\\.|[^'\\\n])*(?P<ends>'?))|"""
                            r"""(?P<sign>%:%:|<<<|>>>|\#\#|<:|:>|<%|%>|%:|::|->|\S)""", re.S | re.A)
         for suffix, separator in ((".c", ""), (".cu", SEPARATOR))}
DIGRAPHS = {"<:": "[", ":>": "]", "<%": "{", "%>": "}", "%:": "#", "%:%:": "##"}
DIRECTIVES = {"include", "define", "undef", "if", "ifdef", "ifndef", "elif", "else", "endif", "error", "warning", "pragma"}
FEATURES = {"_GNU_SOURCE", "_DEFAULT_SOURCE", "_POSIX_C_SOURCE", "_XOPEN_SOURCE", "_ISOC11_SOURCE"}  # macros before headers, for them
COMPILERS = re.compile(r"_\w*|asm|gnu|clang|no_sanitize\w*|(?i:emulated\w*)|GOMP_\w*|GOACC_\w*|RUNGS_\w*")  # names that are not a version's
OURS = re.compile(r"RUNGS_\w*VERSION\w*")
COUNTS = re.compile(r"%[-+ #'\d.*hlLjzt$]*n")
CALLBACKS = {"qsort": 3, "bsearch": 4, "pthread_create": 2, "pthread_once": 1, "thrd_create": 1, "call_once": 1}  # where the function stands


class Token:
    def __init__(self, kind, text, line):
        self.kind, self.text, self.line = kind, text, line


class Refused(Exception):
    """What is not on the list, in words that name it and its line."""


@functools.cache
def pattern_of(names):
    """One regular expression for patterns of allowed.toml."""
    parts = []
    for name in names:
        text = re.sub(r"\{([\w,]*)\}", lambda m: "(?:" + m.group(1).replace(",", "|") + ")", name.replace(".", r"\."))
        parts.append(text.replace("*", r"[\w./]*"))
    return re.compile("|".join(parts) or r"(?!)")


@functools.cache
def base_list():
    return tomllib.loads((ROOT / "assignments/grading/allowed.toml").read_text(encoding="utf-8"))


class Allowed:
    """The list of a version in C or CUDA: the base and what its lab adds."""

    def __init__(self, suffix, added):
        base = base_list()[suffix.lstrip(".")]
        self.is_c = suffix == ".c"
        self.names = {key: tuple(base.get(key, ())) + tuple(added.get(key, ())) for key in {*base, *added}}

    def has(self, key, name):
        return pattern_of(self.names.get(key, ())).fullmatch(name) is not None


def tokens_of(text, suffix):
    """Tokens, and directives as lists of tokens, each with its line: [(is_directive, [Token])]."""
    for at, letter in enumerate(text.removeprefix("\ufeff")):
        if not letter.isprintable() and letter not in "\t\n\r\f\v":
            raise Refused(f"line {text.count(chr(10), 0, at) + 1} has a character that is no text")
    text = text.removeprefix("\ufeff")
    trigraph = re.search(r"\?\?[=/'()!<>-]", text)
    if trigraph:
        raise Refused(f"line {text.count(chr(10), 0, trigraph.start()) + 1} has a trigraph, {trigraph.group(0)}: write the character itself")
    joined = re.compile(r"\\[ \t\r\f\v]*\n")
    lines, parts, line, begin = [], [], 1, 0
    for found in [*joined.finditer(text), None]:
        part = text[begin:found.start() if found else len(text)]
        for letter in part:
            lines.append(line)
            line += letter == "\n"
        parts.append(part)
        line += found is not None
        begin = found.end() if found else begin
    text = "".join(parts)
    at, fresh, inside, result = 0, True, False, []
    while at < len(text):
        found = TOKEN[suffix].match(text, at)
        at = found.end()
        kind, word, line = found.lastgroup, found.group(0), lines[found.start()]
        if kind == "text" and not (found.group("end") or found.group("ends")):
            kind, word = "sign", word[0]
        if kind == "space":
            if word.startswith("/*") and (len(word) < 4 or not word.endswith("*/")):
                raise Refused(f"line {line} begins a comment that has no end")
            if "\n" in word and not word.startswith("/*"):
                fresh, inside = True, False
            continue
        word = DIGRAPHS.get(word, word)
        if fresh and word == "#":
            inside = True
            result.append((True, []))
        elif inside:
            result[-1][1].append(Token(kind, word, line))
        else:
            if not result or result[-1][0]:
                result.append((False, []))
            result[-1][1].append(Token(kind, word, line))
        fresh = False
    return result


@functools.cache
def names_of_cuda():
    """CUDA's own names that begin with __ and functions that begin with cuda, as the emulator's headers have them."""
    text = " ".join(p.read_text(encoding="utf-8") for p in sorted((ROOT / "common/emulator/include").glob("*.h")))
    return {word for word in re.findall(r"\b(?:__|cuda)\w+", text)
            if not re.match(r"__(?:builtin|atomic|sync_|FILE__|extension|asm|typeof|thread$|has_|INCLUDE|COUNTER|OPTIMIZE|SANITIZE)", word)}


def check_name(token, allowed):
    name = token.text
    if not COMPILERS.fullmatch(name) or OURS.fullmatch(name) or allowed.has("names", name):
        return
    instruction = re.fullmatch(r"_mm(?:256|512)?_(?:mask[z23]?_(?!store))?(\w+)", name)
    if instruction and allowed.has("instructions", instruction.group(1)):
        return
    if not allowed.is_c and name in names_of_cuda():
        return
    raise Refused(f"line {token.line} names {name}, which is not on the list of what versions may use")


def check_tokens(tokens, allowed, macros):
    """Of a directive, or of code between two."""
    for at, token in enumerate(tokens):
        behind = [t.text for t in tokens[at + 1:at + 4]]
        if token.kind == "word":
            check_name(token, allowed)
            if token.text == "__attribute__":
                check_attributes(tokens, at + 1, ["(", "("], allowed)
            if token.text in ("R", "LR", "uR", "UR", "u8R") and at + 1 < len(tokens) and tokens[at + 1].kind == "text":
                raise Refused(f"line {token.line} has a raw string: write an ordinary one")
            if token.text == "goto" and (at + 1 == len(tokens) or tokens[at + 1].kind != "word" or behind[0] in macros):
                raise Refused(f"line {token.line} has a goto to what is no label")
            if token.text == "std" and not allowed.is_c and not (behind[:1] == ["::"] and len(behind) > 1 and allowed.has("std", behind[1])):
                raise Refused(f"line {token.line} names {'::'.join(['std', *behind[1:2]])}, which is not on the list of what versions may use")
        elif token.kind == "text" and COUNTS.search(token.text):
            raise Refused(f"line {token.line} has %n in a text, by which printf() writes where nobody watches")
        elif token.text == "[" and behind[:1] == ["["]:
            check_attributes(tokens, at, ["[", "["], allowed)
        elif token.text in ("\\", "'", '"'):
            raise Refused(f"line {token.line} has {token.text} outside of a text")
        elif token.kind == "sign" and not token.text.isascii():
            raise Refused(f"line {token.line} has {token.text} in a name: write it in ASCII")


def check_attributes(tokens, at, opening, allowed):
    line = tokens[at - 1].line
    if [t.text for t in tokens[at:at + 2]] != opening:
        raise Refused(f"line {line} has an __attribute__ without (( behind it")
    depth, at = 0, at + 2
    while at < len(tokens):
        token = tokens[at]
        if depth == 0 and token.text in (")", "]"):
            return
        if depth == 0 and token.text not in ",(":
            name = token.text.strip("_")
            if token.kind != "word" or not allowed.has("attributes", name):
                raise Refused(f"line {token.line} has the attribute {token.text}, which is not on the list of what versions may use")
        depth += (token.text in ("(", "[")) - (token.text in (")", "]"))
        at += 1
    raise Refused(f"line {line} has an attribute without an end")


def check_pasting(tokens, allowed):
    """`name ## parameter` begins as it is written, so that it is none of the compiler's; all else that ## makes cannot be seen."""
    for at, token in enumerate(tokens):
        if token.text != "##":
            continue
        before = tokens[at - 1] if at > 0 else None
        parameters = {t.text for t in parameters_of(tokens)}
        if not before or before.kind != "word" or before.text in parameters or before.text.startswith("_") or \
                any(word.startswith(before.text) for word in ("asm", "gnu", "clang", "no_sanitize", "emulated", "EMULATED", "GOMP_", "GOACC_", "RUNGS_", "std")):
            raise Refused(f"line {token.line} pastes tokens by ##, which may make any name: write the name's beginning out, or the names")


def parameters_of(tokens):
    """Of the tokens behind #define: a macro's parameters, where ( follows its name."""
    if len(tokens) < 3 or tokens[2].text != "(":
        return []
    end = next((i for i, t in enumerate(tokens) if t.text == ")"), len(tokens))
    return [t for t in tokens[3:end] if t.kind == "word"]


def check_source(text, allowed, may_include):
    """The line of each name, by the name; Refused where something is not on the list. `may_include(name)`: headers besides the list's."""
    parts = tokens_of(text, ".c" if allowed.is_c else ".cu")
    macros, defined = {d[1].text for is_directive, d in parts if is_directive and len(d) > 1 and d[0].text == "define"}, None
    for is_directive, tokens in parts:
        if not is_directive:
            check_tokens(tokens, allowed, macros)
            continue
        if not tokens:
            continue
        what = tokens[0].text
        if what not in DIRECTIVES:
            raise Refused(f"line {tokens[0].line} has #{what}, which is not on the list of what versions may use")
        if what == "include":
            check_include(tokens, allowed, may_include, defined)
            continue
        if what == "pragma":
            check_pragma(tokens, allowed, macros)
        if what in ("define", "undef") and len(tokens) > 1:
            name = tokens[1].text
            if name in KEYWORDS or allowed.has("functions", name) or allowed.has("attributes", name) or name in names_of_cuda():
                raise Refused(f"line {tokens[1].line} makes a macro of {name}, which has a meaning already")
            if what == "define" and name not in FEATURES:
                defined = defined or tokens[1]
        if what not in ("error", "warning"):
            check_tokens(tokens[1:], allowed, macros)
        check_pasting(tokens, allowed)
    lines = {}
    for _, tokens in parts:
        for token in tokens:
            if token.kind == "word":
                lines.setdefault(token.text, token.line)
    return lines


KEYWORDS = set("""alignas auto bool break case catch char class const constexpr continue default defined delete do double else enum extern false
float for goto if inline int long namespace new nullptr operator private protected public register restrict return short signed sizeof static
static_assert struct switch template this throw true try typedef typename union unsigned using virtual void volatile while omp GCC unroll""".split())


def check_include(tokens, allowed, may_include, defined):
    name = "".join(t.text for t in tokens[1:]).strip('<>"')
    line = tokens[0].line
    if not (len(tokens) > 1 and (tokens[1].text == "<" or tokens[1].kind == "text")):
        raise Refused(f"line {line} includes what a macro names: write the header's name")
    if defined:
        raise Refused(f"line {line} includes {name} behind the macro {defined.text} of line {defined.line}, which could change it: include first")
    if ".." in name.split("/") or not (allowed.has("headers", name) or may_include(name)):
        raise Refused(f"line {line} includes {name}, which is not on the list of what versions may use")


def check_pragma(tokens, allowed, macros):
    words = [t.text for t in tokens[1:3]]
    if not words or words[0] in macros or not any(" ".join(words[:len(known.split())]) == known for known in allowed.names["pragmas"]):
        raise Refused(f"line {tokens[0].line} has #pragma {' '.join(words)}, which is not on the list of what versions may use")


def check_symbols(file, lines, allowed, headers):
    """What the object needs: functions of the list that the file names, of the contract's headers, and what its compiler brings."""
    of_headers = set(re.findall(r"\w+", " ".join((ROOT / h).read_text(encoding="utf-8") for h in headers)))
    for symbol, kind in symbols(file):
        name = bare(symbol)
        known = allowed.has("functions", name) or name in of_headers or not allowed.is_c and name in names_of_cuda()
        if kind not in "Uwv" or known or name not in lines and allowed.has("brought", symbol):
            continue
        where = f"line {lines[name]} uses" if name in lines else "needs"
        raise Refused(f"{where} {name}, which is not on the list of what versions may use")


def check_calls(source, written, file, allowed):
    """That whatever is called is a function which the file names: no pointer that is made of data leads out of the list."""
    if not written.is_file():
        return
    functions = list(functions_of(written.read_text(encoding="utf-8", errors="replace")))
    own = {name for name, _, _ in functions} | {bare(name) for name, _ in symbols(file)}
    for _, _, statements in functions:
        for line in statements.splitlines():
            place = PLACE.search(line)
            if not place or not place.group(1).endswith(source.name):
                continue
            call = call_of(PLACE.sub("", line).strip())
            if not call:
                continue
            _, name, words = call
            # Of C++ names have more to them than symbols do; a pointer's is that of a value.
            named = name in own or (name.startswith(("__builtin_", "__atomic_", "__sync_", ".")) if allowed.is_c
                                    else not re.fullmatch(r"\*?(?:[A-Za-z]\w*)?_\d+(?:\(D\))?", name))
            if not named:
                raise Refused(f"line {place.group(2)} calls what a pointer points to: call a function by its name")
            given = words[CALLBACKS[name]] if len(words) > CALLBACKS.get(name, 99) else ""
            if given and PLACE.sub("", given).lstrip("&") not in own:
                raise Refused(f"line {place.group(2)} hands {name}() a pointer in the place of a function: name the function")


def stack_is_code(file):
    output = subprocess.run(["readelf", "-SW", file], capture_output=True, text=True, errors="replace", cwd=ROOT).stdout
    return re.search(r"\.note\.GNU-stack\s.*\bX\b", output) is not None


def fault_of_list(source, object_file, written, added, headers, may_include):
    """What is wrong with a version, or "". `object_file`: of it, with all calls left calls, and `written` what the compiler wrote down of
    it; "" where there are none, as before it is compiled and on a GPU; `added`: what its lab allows besides; `headers`: whose functions it
    may call."""
    allowed = Allowed(source.suffix, added)
    try:
        lines = check_source(source.read_bytes().decode("utf-8", "replace"), allowed, may_include)
        if object_file:
            check_symbols(object_file, lines, allowed, headers)
            check_calls(source, written, object_file, allowed)
            if stack_is_code(object_file):
                raise Refused("has a function within a function that is handed over by a pointer, which needs a stack that can be run")
    except Refused as refused:
        return str(refused)
    return ""
