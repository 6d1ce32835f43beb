#!/usr/bin/env python3
"""Print what the house is like: sizes, cycles, ways past a layer, what one comparison crosses.

It reads the sources of a checkout, its own or another's. `--trace` also runs one `compare` there
and follows its calls from room to room; `--coverage` takes what `coverage json` wrote, `--tests`
a file with the output of `make test`, from which the last line is taken.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import grimp

# What the command line may use beside use cases: how answers are shown, everybody's words, and the
# servers of pages, which stand above the use cases as it does.
BESIDE_APP = {"cli", "web", "app", "core", "report"}
# Programs that the suite measures are nobody's modules.
FOREIGN = ("suite/recipes/", "suite/shared/")
LONG_FILE_LINES = 300
# Below this two bodies are alike by chance.
SMALLEST_DUPLICATE_STATEMENTS = 4

TRACER = """
import os, sys
from collections import Counter
from steelyard.cli.main import run
package = os.path.dirname(sys.modules["steelyard"].__file__) + "/"
calls, order = Counter(), []

def place(frame):
    name = frame.f_code.co_filename
    return name[len(package):-3] if name.startswith(package) else None

def imports(frame):
    # What a module does when it is imported, bodies of classes with it, is no step of the way.
    while frame is not None:
        if frame.f_code.co_name == "<module>" and place(frame) not in (None, "cli/main"):
            return True
        frame = frame.f_back
    return False

def watch(frame, event, argument):
    here = place(frame) if event == "call" else None
    if here is None or imports(frame):
        return
    above = frame.f_back
    while above is not None and place(above) is None:
        above = above.f_back
    room = here.split("/")[0]
    if above is not None and place(above).split("/")[0] != room:
        calls[place(above), here] += 1
    if room != "core" and (not order or order[-1] != room):
        order.append(room)

sys.setprofile(watch)
try:
    run(sys.argv[2:])
finally:
    sys.setprofile(None)
    with open(sys.argv[1], "w") as out:
        for (above, below), count in sorted(calls.items()):
            print("call", above, below, count, file=out)
        for above, below in dict.fromkeys(zip(order, order[1:])):
            print("step", above, below, file=out)
"""


@dataclass(frozen=True)
class Module:
    """One file of the package."""

    path: Path
    name: str
    source: str
    tree: ast.Module

    @property
    def room(self) -> str:
        """The folder below the package that it lies in."""
        return ([*self.name.split("."), ""])[1]

    @property
    def line_count(self) -> int:
        """Lines of the file, empty ones too."""
        return len(self.source.splitlines())


def modules(package: Path) -> Iterator[Module]:
    """Every module of the package at this path, but programs of their own."""
    for path in sorted(package.rglob("*.py")):
        inside = path.relative_to(package).as_posix()
        if inside.startswith(FOREIGN) or "__pycache__" in inside:
            continue
        parts = [package.name, *Path(inside).with_suffix("").parts]
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        source = path.read_text("utf-8")
        yield Module(path, name, source, ast.parse(source))


def functions(module: Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Functions and methods, those within others too."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def own_imports(tree: ast.AST) -> Iterator[tuple[ast.stmt, str]]:
    """Imports of the package's own modules, with the room of each."""
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
            if node.module == "steelyard":
                names = [f"steelyard.{alias.name}" for alias in node.names]
        for name in names:
            if name.startswith("steelyard.") and isinstance(node, ast.stmt):
                yield node, name.split(".")[1]


def past_app(module: Module) -> Iterator[str]:
    """Where the command line imports from below the use cases: places in the sources."""
    for node, room in own_imports(module.tree):
        if room not in BESIDE_APP:
            yield f"{module.path.name}:{node.lineno} {room}"


def lazy_imports(module: Module) -> Iterator[ast.stmt]:
    """Import statements within functions."""
    seen: set[int] = set()
    for function in functions(module):
        for node in ast.walk(function):
            if isinstance(node, ast.Import | ast.ImportFrom) and id(node) not in seen:
                seen.add(id(node))
                yield node


def duplicates(found: Iterable[Module]) -> list[list[str]]:
    """Functions with the same body in several places, whatever they are called."""
    places: defaultdict[str, list[str]] = defaultdict(list)
    for module in found:
        for function in functions(module):
            body = function.body[1:] if ast.get_docstring(function) else function.body
            if sum(isinstance(n, ast.stmt) for b in body for n in ast.walk(b)) >= (
                SMALLEST_DUPLICATE_STATEMENTS
            ):
                digest = hashlib.sha256("".join(ast.dump(b) for b in body).encode()).hexdigest()
                places[digest].append(f"{module.name}.{function.name}")
    return sorted(group for group in places.values() if len(group) > 1)


def import_cycles(package: Path) -> list[list[str]]:
    """Groups of modules that import each other, by way of others or not, lazily or not."""
    sys.path.insert(0, str(package.parent))
    graph = grimp.build_graph(package.name, cache_dir=None)
    reach = {name: set(graph.find_modules_directly_imported_by(name)) for name in graph.modules}
    return sorted(sorted(group) for group in _strong_components(reach) if len(group) > 1)


def _strong_components(reach: dict[str, set[str]]) -> Iterator[set[str]]:
    """Tarjan's, without recursion."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    for start in sorted(reach):
        if start in order:
            continue
        work = [(start, iter(sorted(reach[start])))]
        order[start] = low[start] = len(order)
        stack.append(start)
        while work:
            name, rest = work[-1]
            for following in rest:
                if following not in order:
                    order[following] = low[following] = len(order)
                    stack.append(following)
                    work.append((following, iter(sorted(reach[following]))))
                    break
                if following in stack:
                    low[name] = min(low[name], order[following])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[name])
                if low[name] == order[name]:
                    at = stack.index(name)
                    yield set(stack[at:])
                    del stack[at:]


def unvisited(root: Path, found: list[Module]) -> list[str]:
    """Modules with functions or classes that no test imports by name."""
    imported: set[str] = set()
    for path in (root / "tests").rglob("*.py"):
        text = path.read_text("utf-8")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and node.module:
                imported |= {node.module, *(f"{node.module}.{a.name}" for a in node.names)}
            elif isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names}
    return [
        module.name
        for module in found
        if module.name not in imported
        and any(
            isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            for n in module.tree.body
        )
    ]


def traced(root: Path) -> dict[str, list[tuple[str, str]]]:
    """What one `compare` crosses: calls from a module to one of another room, steps of rooms."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "rooms")
        places = {f"XDG_{kind}_HOME": folder for kind in ("DATA", "STATE", "CACHE", "CONFIG")}
        environment = {**os.environ, **places, "PYTHONPATH": str(root / "src")}
        environment["STEELYARD_LOCK"] = f"{folder}/lock"
        words = ["compare", "true", "sleep 0.001", "--runs", "5"]
        subprocess.run(
            [sys.executable, "-c", TRACER, str(out), *words],
            env=environment,
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        lines = [line.split() for line in out.read_text().splitlines()]
    return {
        "calls": [(a, b) for kind, a, b, *_ in lines if kind == "call"],
        "steps": [(a, b) for kind, a, b, *_ in lines if kind == "step"],
    }


def room_pairs(calls: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Which rooms call which, without `core`, which all call."""
    pairs = {(a.split("/")[0], b.split("/")[0]) for a, b in calls}
    return sorted(pair for pair in pairs if "core" not in pair)


def upward_calls(calls: Iterable[tuple[str, str]], layers: dict[str, int]) -> list[tuple[str, str]]:
    """Calls of a module in a higher room, by whatever was handed down."""
    return [(a, b) for a, b in calls if layers[b.split("/")[0]] > layers[a.split("/")[0]]]


def crossings(root: Path, layers: dict[str, int]) -> dict[str, str]:
    """How one `compare` goes: which rooms call which, and how often a lower calls a higher."""
    way = traced(root)
    calls, steps = way["calls"], way["steps"]
    climbs = [(a, b) for a, b in steps if layers[b] > layers[a]]
    rooms = {room for step in steps for room in step}
    return {
        "rooms that one compare goes through, but core": f"{len(rooms)}",
        "steps from room to room in it, each pair once; of these up, returns too": (
            f"{len(steps)}, {len(climbs)}"
        ),
        "pairs of rooms of which one calls the other in it, but core; calls of a higher room": (
            f"{len(room_pairs(calls))}; {len(upward_calls(calls, layers))}"
        ),
        "modules that call into another room in it": f"{len(calls)}",
    }


def heights(root: Path) -> dict[str, int]:
    """From a room to the number of its line among the layers, the lowest 1."""
    import tomllib

    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    contracts = {one["id"]: one for one in project["tool"]["importlinter"]["contracts"]}
    lines = contracts["layers"]["layers"]
    return {
        room.strip(" ()"): len(lines) - at
        for at, line in enumerate(lines)
        for room in line.split("|")
    }


def sizes(found: list[Module]) -> dict[str, str]:
    """Files, lines and functions."""
    lengths = sorted((f.end_lineno or f.lineno) - f.lineno + 1 for m in found for f in functions(m))
    long = [m for m in found if m.line_count > LONG_FILE_LINES]
    tenths = statistics.quantiles(lengths, n=10)
    return {
        "files of Python in src": f"{len(found)}",
        "lines": f"{sum(m.line_count for m in found)}",
        "functions": f"{len(lengths)}",
        "lines of a function: median, 90th percentile, largest": (
            f"{statistics.median(lengths):.0f}, {tenths[-1]:.0f}, {lengths[-1]}"
        ),
        f"files of more than {LONG_FILE_LINES} lines": f"{len(long)}",
    }


def shape(root: Path, found: list[Module]) -> dict[str, str]:
    """Cycles, ways past the use cases, lazy imports, duplicates, modules without tests."""
    cycles = import_cycles(root / "src" / "steelyard")
    past = [place for m in found if m.room == "cli" for place in past_app(m)]
    lazy = [node for m in found for node in lazy_imports(m)]
    same = duplicates(found)
    return {
        "import cycles (modules in them)": f"{len(cycles)} ({sum(map(len, cycles))})",
        "imports of cli past app": f"{len(past)}",
        "imports within functions": f"{len(lazy)}",
        "groups of functions with the same body": f"{len(same)}",
        "modules that no test imports": f"{len(unvisited(root, found))}",
    }


def test_run(log: Path) -> dict[str, str]:
    """The closing line of pytest."""
    lines = log.read_text("utf-8", "replace").splitlines()
    closing = [line for line in lines if re.search(r"\d+ passed.* in \d", line)]
    return {"make test": closing[-1].strip("= ") if closing else "no closing line"}


def coverage(report: Path) -> dict[str, str]:
    """Lines and branches, from what `coverage json` wrote."""
    found = json.loads(report.read_text("utf-8"))
    totals = found["totals"]
    lines = 100 * totals["covered_lines"] / totals["num_statements"]
    branches = 100 * totals["covered_branches"] / (totals["num_branches"] or 1)
    little = [
        path
        for path, file in found["files"].items()
        if 2 * file["summary"]["covered_lines"] < file["summary"]["num_statements"]
    ]
    return {
        "coverage of Python": f"{lines:.1f} % of lines, {branches:.1f} % of branches",
        "modules of which tests run less than half of the lines": f"{len(little)}",
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[1])
    parser.add_argument("--trace", action="store_true", help="run one compare and follow its calls")
    parser.add_argument("--coverage", type=Path, help="the file of `coverage json`")
    parser.add_argument("--tests", type=Path, help="a file with the output of `make test`")
    parser.add_argument("--list", action="store_true", help="name cycles, ways past app, modules")
    asked = parser.parse_args()
    root = asked.root.resolve()
    found = list(modules(root / "src" / "steelyard"))
    rows = {**sizes(found), **shape(root, found)}
    if asked.trace:
        rows |= crossings(root, heights(root))
    if asked.coverage:
        rows |= coverage(asked.coverage)
    if asked.tests:
        rows |= test_run(asked.tests)
    print("| what | value |\n|---|---|")
    for what, value in rows.items():
        print(f"| {what} | {value} |")
    if asked.list:
        name_them(root, found)


def name_them(root: Path, found: list[Module]) -> None:
    """Each cycle, way past the use cases, duplicate and module without a test, one a line."""
    for cycle in import_cycles(root / "src" / "steelyard"):
        print("cycle:", *cycle)
    for module in found:
        if module.room == "cli":
            for place in past_app(module):
                print("past app:", place)
    for group in duplicates(found):
        print("same body:", *group)
    for name in unvisited(root, found):
        print("no test imports:", name)


if __name__ == "__main__":
    main()
