"""House rules that no other linter knows: first lines, unfinished marks, machine paths, registry hosts, file sizes."""

import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE = {".cpp", ".hpp", ".py", ".sh"}
# Put together so that this file does not match itself.
UNFINISHED = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "X" + "XX"]) + r")\b(?!\")")
FOREIGN = re.compile(r"(^|[^a-z0-9_.-])/(wo" + r"rk|fa" + r"rm)/|https?://[a-z0-9.-]*(pypi|npmjs|debian|crates|golang)[a-z0-9.-]*", re.I)
PLACEHOLDER = re.compile("@" + "@[A-Z]+@" + "@")
# GCC 12 runs a co_await on the right of ||, && or ? even where the left side decides; a statement of its own is right.
SHORT_CUT = re.compile(r"\|\||(?<!auto)&&|\?")
TOKEN = re.compile(r"[();{}]|\bco_await\b")
LONGEST = 500  # lines; files aim at 120 and rarely pass 400


def tracked() -> list[pathlib.Path]:
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True).stdout.decode().split("\0")
    return [ROOT / name for name in names if name and (ROOT / name).is_file()]


def awaits_behind_short_cuts(code: str) -> list[int]:
    """The lines (from 1) of a short cut with a co_await inside the same parentheses of the same statement."""
    lines = []
    for cut in SHORT_CUT.finditer(code):
        depth = 0
        for token in TOKEN.finditer(code, cut.end()):
            depth += {"(": 1, ")": -1}.get(token.group(), 0)
            if depth < 0 or token.group() in ";{}":
                break
            if token.group() == "co_await":
                lines.append(code.count("\n", 0, cut.start()) + 1)
                break
    return lines


def check_text(path: pathlib.Path, text: str) -> list[str]:
    name = path.relative_to(ROOT)
    problems = []
    lines = text.splitlines()
    if path.suffix in SOURCE and lines:
        first = lines[1] if lines[0].startswith("#!") and len(lines) > 1 else lines[0]
        if not first.startswith(("//", "#", '"""')):
            problems.append(f"{name}: the first line must say what the file is for")
        if len(lines) > LONGEST:
            problems.append(f"{name}: {len(lines)} lines; is there one idea in it?")
        problems += [f"{name}:{n}: unfinished mark" for n, line in enumerate(lines, 1) if UNFINISHED.search(line)]
    problems += [f"{name}:{n}: a place to be filled in" for n, line in enumerate(lines, 1) if PLACEHOLDER.search(line)]
    problems += [f"{name}:{n}: machine path or registry host" for n, line in enumerate(lines, 1) if FOREIGN.search(line)]
    if path.suffix in {".cpp", ".hpp"}:
        problems += [f"{name}:{n}: co_await behind ||, && or ?: give it a statement of its own"
                     for n in awaits_behind_short_cuts(re.sub(r"//[^\n]*", "", text))]
    return problems


def main() -> int:
    problems = []
    for path in tracked():
        data = path.read_bytes()
        if len(data) > 1_000_000:
            problems.append(f"{path.relative_to(ROOT)}: over 1 MB")
            continue
        try:
            text = data.decode()
        except UnicodeDecodeError:
            continue
        problems += check_text(path, text)
        if path.suffix == ".json":
            try:
                json.loads(text)
            except ValueError as error:
                problems.append(f"{path.relative_to(ROOT)}: not JSON: {error}")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
