"""Fails on an include that a module's DEPS (src/*/CMakeLists.txt) do not allow, and on leaks of third-party types.

The layers are the architecture: base <- stats <- capacity <- artifact are pure; only apps wires everything together.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SRC = ROOT / "src"
PURE = {"stats", "capacity", "artifact"}
IMPURE_HEADERS = {"<thread>", "<mutex>", "<fstream>", "<iostream>", "<filesystem>", "<condition_variable>", "<sys/socket.h>"}
# A header that includes one of these is internal to its module: no other module may include it.
THIRD_PARTY = re.compile(r"<(boost/|openvino/|onnxruntime|aws/|nlohmann/json\.hpp|spdlog/|prometheus/|toml\+\+|CLI/|re2/)")
INCLUDE = re.compile(r'\s*#include\s+(<[^>]+>|"([^"]+)")')


def deps_of(module: pathlib.Path) -> set[str]:
    text = (module / "CMakeLists.txt").read_text()
    match = re.search(r"\bDEPS\s+([a-z_\s]+?)(?:\bLIBS\b|\bSOURCES\b|\bTESTS\b|\bTEST_LIBS\b|\))", text)
    return set(match.group(1).split()) if match else set()


def closure(name: str, direct: dict[str, set[str]]) -> set[str]:
    seen: set[str] = set()
    todo = list(direct.get(name, ()))
    while todo:
        dep = todo.pop()
        if dep not in seen:
            seen.add(dep)
            todo.extend(direct.get(dep, ()))
    return seen


def internal_headers() -> set[str]:
    """Headers that show third-party types, directly or through another header of ours."""
    includes = {}
    for path in SRC.rglob("*.hpp"):
        found = [m.groups() for m in map(INCLUDE.match, path.read_text().splitlines()) if m]
        includes[str(path.relative_to(SRC))] = found
    internal = {name for name, found in includes.items() if any(THIRD_PARTY.match(raw) for raw, _ in found)}
    while True:
        more = {name for name, found in includes.items() if any(ours in internal for _, ours in found)} - internal
        if not more:
            return internal
        internal |= more


def check_file(path: pathlib.Path, module: str, allowed: set[str], internal: set[str]) -> list[str]:
    problems = []
    is_test = path.name.endswith("_test.cpp")
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        where = f"{path.relative_to(ROOT)}:{number}"
        ours = match.group(2)
        if ours and "/" in ours and ours.split("/")[0] != module:
            other = ours.split("/")[0]
            if other not in allowed:
                problems.append(f"{where}: {module} may not include {ours}; add '{other}' to DEPS or move the code")
            if ours in internal:
                problems.append(f"{where}: {ours} shows third-party types and is internal to {other}")
        if module in PURE and not is_test and match.group(1) in IMPURE_HEADERS:
            problems.append(f"{where}: {module} is pure and may not include {match.group(1)}")
    return problems


def main() -> int:
    modules = {p.parent.name: p.parent for p in SRC.glob("*/CMakeLists.txt") if p.parent.name != "apps"}
    direct = {name: deps_of(path) for name, path in modules.items()}
    internal = internal_headers()
    problems = []
    for name, folder in sorted(modules.items()):
        reached = closure(name, direct)
        if name in reached:
            problems.append(f"src/{name}: the dependencies form a circle")
        for path in sorted(folder.rglob("*.[ch]pp")):
            problems += check_file(path, name, reached, internal)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
