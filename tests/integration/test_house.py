"""The house keeps its own rules: what is declared, what is imported, what lies where."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from steelyard.core.optional_parts import PARTS
from tools.house_table import heights, import_cycles, room_pairs, traced, upward_calls

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "steelyard"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PURE_ROOMS = {"allocation", "harness", "analysis", "design", "factors", "predict"}
# Longer is possible with a reason; then it is named here.
LONGEST_MODULE_LINES = 400
# Pairs of rooms of which one calls the other while a comparison runs (docs/adr/0021).
MOST_ROOM_PAIRS = 15


# Programs that the suite measures, and what makes their inputs: they are nobody's modules.
RECIPES = PACKAGE / "suite" / "recipes"


def modules() -> Iterator[Path]:
    for path in PACKAGE.rglob("*.py"):
        if RECIPES not in path.parents:
            yield path


def pinned(lock: str) -> dict[str, set[str]]:
    """Name and version of every requirement of a lock file."""
    found: dict[str, set[str]] = {}
    text = (ROOT / "requirements" / lock).read_text("utf-8")
    for name, version in re.findall(r"^([a-z0-9][a-z0-9.-]*)==(\S+)", text, re.MULTILINE):
        found.setdefault(name, set()).add(version)
    return found


def imported_packages(path: Path) -> Iterator[str]:
    """The top-level packages that a module imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def names_of(requirements):
    """The packages that requirements name."""
    return {normalised(re.split(r"[<>=!~ ;\[]", text)[0]) for text in requirements}


def required():
    """What the package takes, its optional parts with it."""
    project = PROJECT["project"]
    optional = [each for of in project["optional-dependencies"].values() for each in of]
    return names_of([*project["dependencies"], *optional]) - {"steelyard"}


def test_what_is_imported_is_declared_and_nothing_else():
    declared = required()
    distributions = packages_distributions()
    used = {
        normalised(distributions[package][0])
        for path in modules()
        for package in imported_packages(path)
        if package in distributions and package != "steelyard"
    }
    assert used == declared


def test_every_locked_package_has_hashes_and_no_address():
    for lock in (ROOT / "requirements").glob("*.lock"):
        entries = re.split(r"\n(?=\S)", lock.read_text("utf-8"))
        for entry in entries:
            if not entry.startswith("#"):
                assert "--hash=sha256:" in entry, entry.splitlines()[0]
                assert "://" not in entry


def test_developing_and_running_use_the_same_versions():
    dev = pinned("dev.lock")
    assert {name: dev.get(name) for name in pinned("runtime.lock")} == pinned("runtime.lock")


def test_every_dependency_is_locked():
    assert required() <= pinned("runtime.lock").keys()
    groups = PROJECT["dependency-groups"]
    names = [name for group in groups.values() for name in group if isinstance(name, str)]
    assert names_of(names) <= pinned("dev.lock").keys()


def test_every_optional_package_has_its_extra():
    extras = PROJECT["project"]["optional-dependencies"]
    parts = {package: extra for package, (extra, _) in PARTS.items()}
    brought = {
        project.replace("-", "_"): extra
        for extra, of in extras.items()
        if extra != "all"
        for project in names_of(of)
    }
    assert brought == parts
    assert extras["all"] == [f"steelyard[{','.join(sorted(set(brought.values())))}]"]


def test_every_pure_room_is_held_to_its_purity():
    contracts = {one["id"]: one for one in PROJECT["tool"]["importlinter"]["contracts"]}
    there = {f"steelyard.{room}" for room in PURE_ROOMS if (PACKAGE / room).is_dir()}
    assert set(contracts["pure"]["source_modules"]) == there


def test_modules_are_named_for_a_thing():
    vague = {"util", "utils", "helper", "helpers", "misc", "manager", "common"}
    assert not [path for path in modules() if path.stem in vague]


def test_modules_are_of_a_size_that_can_be_read():
    lengths = {path: len(path.read_bytes().splitlines()) for path in modules()}
    assert {path: n for path, n in lengths.items() if n > LONGEST_MODULE_LINES} == {}


def room_of(name: str) -> str:
    """The room of a module or package."""
    return ".".join(name.split(".")[:2])


def unit_tests() -> dict[Path, str]:
    """The files of tests of rooms, each with the package that its folder stands for."""
    root = ROOT / "tests" / "unit"
    return {
        path: ".".join(["steelyard", *path.relative_to(root).parts[:-1]])
        for path in root.glob("*/**/test_*.py")
    }


def test_unit_tests_mirror_the_rooms():
    packages = {
        "steelyard." + ".".join(path.parent.relative_to(PACKAGE).parts)
        for path in modules()
        if path.parent != PACKAGE
    }
    assert set(unit_tests().values()) - packages == set()
    tested = {room_of(package) for package in unit_tests().values()}
    assert {room_of(package) for package in packages} - tested == set()


def test_only_the_command_line_prints_or_exits():
    names = {"print", "exit", "quit"}
    loud = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in modules()
        if path.relative_to(PACKAGE).parts[0] != "cli"
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.Call)
        and (
            (isinstance(node.func, ast.Name) and node.func.id in names)
            or ast.unparse(node.func) == "sys.exit"
        )
    ]
    assert loud == []


@pytest.mark.parametrize("command", [["--help"], ["measure", "--help"], ["compare", "--help"]])
def test_the_way_of_a_measurement_loads_nothing_heavy(command):
    # Each of these takes longer to import than a whole measurement of a short program may.
    heavy = ["numpy", "scipy", "sqlalchemy", "rich", "pyarrow", "jinja2", "asyncio"]
    code = (
        "import sys\n"
        "from steelyard.cli.main import run\n"
        "run(sys.argv[2:])\n"
        "print(*[name for name in sys.argv[1].split(',') if name in sys.modules], file=sys.stderr)"
    )
    finished = subprocess.run(
        [sys.executable, "-c", code, ",".join(heavy), *command],
        capture_output=True,
        text=True,
        check=True,
    )
    assert finished.stderr.strip() == ""


def test_a_second_set_up_has_nothing_to_do():
    if not (ROOT / ".venv" / "stamps" / "command").exists():
        pytest.skip("this checkout was not set up by `make setup`")
    finished = subprocess.run(
        ["tools/setup.sh", "--dev"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        # Nothing of the network or the system is touched: there is none to be found.
        env={"PATH": "/usr/bin:/bin", "PIP_NO_INDEX": "1", "HOME": "/nonexistent"},
    )
    assert finished.stdout + finished.stderr == ""


def test_the_native_parts_pass_their_own_tests():
    build = ROOT / "build" / "native"
    if not (build / "CTestTestfile.cmake").exists() or not shutil.which("ctest"):
        pytest.skip("the native parts were not built in this checkout")
    finished = subprocess.run(
        ["ctest", "--test-dir", build, "--output-on-failure", "--no-tests=error"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr


def test_every_target_says_what_it_does():
    text = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^\.PHONY: (\S+)", text, re.MULTILINE))
    told = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert targets == {line.split()[1] for line in told.stdout.splitlines()}


def test_what_the_targets_run_is_there():
    text = (ROOT / "Makefile").read_text("utf-8")
    scripts = set(re.findall(r"@(tools/\S+\.sh)", text))
    modules = set(re.findall(r"\$\(PYTHON\) -m (benchmarks\.\S+)", text))
    paths = {ROOT / module.replace(".", "/") for module in modules}
    assert scripts
    assert modules
    assert [script for script in sorted(scripts) if not os.access(ROOT / script, os.X_OK)] == []
    assert [path for path in paths if not (path.with_suffix(".py").exists() or path.is_dir())] == []


def test_every_module_that_make_runs_can_be_loaded():
    """Some take hours, and nobody sees before that a name is gone that they import."""
    text = (ROOT / "Makefile").read_text("utf-8")
    for module in sorted(set(re.findall(r"\$\(PYTHON\) -m (benchmarks\.\S+)", text))):
        whole = (ROOT / module.replace(".", "/") / "__main__.py").exists()
        import_module(f"{module}.__main__" if whole else module)


def test_the_benchmarks_that_bench_runs_are_those_that_the_page_says():
    rule = (ROOT / "Makefile").read_text("utf-8").partition("\nbench:")[2].partition("\n\n")[0]
    page = (ROOT / "docs" / "PERFORMANCE.md").read_text("utf-8")
    told = page.partition("`make bench` runs")[2].partition("All other")[0]
    assert re.findall(r"-m (benchmarks\.\S+)", rule) == re.findall(r"`(benchmarks\.\S+)`", told)
    assert told


def test_what_documents_call_is_there():
    """Targets of make, and modules that are run."""
    targets = set(re.findall(r"^\.PHONY: (\S+)", (ROOT / "Makefile").read_text("utf-8"), re.M))
    for path in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        text = path.read_text("utf-8")
        called = re.findall(r"^ +make ([a-z][a-z-]*)|`make ([a-z][a-z-]*)`", text, re.M)
        missing = {a or b for a, b in called} - targets
        assert not missing, f"{path}: make {missing}"
        for module in set(re.findall(r"python -m (benchmarks[.\w]*\w)", text)):
            place = ROOT / module.replace(".", "/")
            assert place.with_suffix(".py").exists() or (place / "__main__.py").exists(), module


def test_the_corpus_of_the_demonstration_is_the_same_each_time(tmp_path):
    script = ROOT / "examples" / "compressors" / "make_corpus.py"
    for name in ("first", "second"):
        subprocess.run([sys.executable, script, tmp_path / name, "1"], check=True)
    first = (tmp_path / "first").read_bytes()
    assert len(first) == 10**6
    assert first == (tmp_path / "second").read_bytes()


def test_no_modules_import_each_other():
    """Not by way of others, not lazily, and not for types alone."""
    assert import_cycles(PACKAGE) == []


def test_a_comparison_crosses_few_rooms_and_none_calls_a_higher_one():
    calls = traced(ROOT)["calls"]
    layers = heights(ROOT)
    assert upward_calls(calls, layers) == []
    assert len(room_pairs(calls)) <= MOST_ROOM_PAIRS
    # The same calls, seen from below, all lead up.
    assert upward_calls(calls, {room: -height for room, height in layers.items()})
