"""Every command of the README and the docs runs, in its page's order, on small programs and files.

What cannot run here is in NOT_RUN, with the reason. Few runs are put in by rule
(tests/documents/lines.py, and a default budget), never by hand.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest

from tests.documents import folder as files
from tests.documents.lines import IDENTIFIER, PAGES, ROOT, Line, blocks, lines
from tests.integration.conftest import User
from tests.integration.event_studies import why_not_traced
from tests.integration.host_sandbox import only_changer
from tests.needs import need
from tests.packages import why_not_contained
from tests.patience import PATIENCE_S

# A part of a line, its beginning with ^, and why no test runs it. A test that does what the line
# does is named.
USAGE = "a usage"
NOT_RUN = {
    "^git clone ": "it fetches this repository; what follows runs in it",
    "^make ": "the set-up, the tests, the demo of this checkout: what runs this test ran them",
    "^tools/fuzz.sh": "minutes; tests/slow/test_fuzz.py",
    "^.venv/bin/python -m pytest": "these tests run beside this one",
    "^pipx ": "it fetches packages; tests/integration/test_small_core.py installs the wheel",
    "suite:": "it fetches and builds a program; tests/slow/test_documentation_runs.py",
    "suite fetch": "it fetches programs; tests/slow/test_documentation_runs.py",
    "suite build": "it fetches programs; tests/slow/test_documentation_runs.py",
    "examples/events/minimap2.toml": (
        "it fetches and builds a program; tests/slow/test_documentation_runs.py"
    ),
    "examples/studies/": "it fetches programs and takes hours; planned by a test below",
    "examples/paths/": "minutes; tests/integration/test_profile_paths.py makes its programs",
    "host quiet": "it changes the whole machine; tests/integration/test_host_quiet.py",
    "host study -- ./bench": "minutes; tests/integration/test_host_study.py",
    "^steelyard serve": "it serves until Ctrl-C; tests/integration/test_serve.py",
    "^steelyard submit": "it takes a service that runs; tests/integration/test_service.py",
    "^steelyard worker": "it runs until Ctrl-C; tests/integration/test_service.py",
    "^steelyard import https://": "it takes a service; tests/integration/test_service_people.py",
    "^steelyard import trials.json": "it takes an archive of a service; test_experiment_archive.py",
    "package run bad": "a folder with faults; tests/integration/test_packages.py",
    "package run examples": "it builds programs; tests/integration/test_packages.py",
    "package init FOLDER": USAGE,
    "profile agree": "minutes; tests/slow/test_documentation_runs.py",
    "profile record --paths d.paths": "root alone may; test_profile_record_events.py",
    "^steelyard: alert": USAGE,
    "profile report d.profile": "the line before it makes the file",
    "profile paths crash": "it takes a core file; tests/integration/test_profile_paths.py",
    "profile check": "minutes; tests/slow/test_documentation_runs.py",
    "steelyard delete 01": "it asks a person; the line below it says --yes",
    "resume EXPERIMENT": USAGE,
    "plan FILE.toml": USAGE,
}
# What a page's commands need besides what all have.
PREPARED: dict[str, Callable[[Path], None]] = {
    "docs/commands/history.md": files.history,
    "docs/commands/predict.md": files.predictions,
    "docs/commands/profile.md": files.paths,
    "docs/commands/layout.md": files.layout,
    "docs/layout.md": files.layout,
    "docs/commands/import.md": files.go,
    "docs/project-file.md": files.project_file,
    "docs/commands/package.md": files.package,
}


def reason_not_to_run(line: Line) -> str | None:
    if line.is_usage:
        return USAGE
    return next((why for part, why in NOT_RUN.items() if part in f"^{line.text}"), None)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that all pages name, made once."""
    need("gcc", "javac", "valgrind")
    folder = tmp_path_factory.mktemp("filled")
    files.fill(folder)
    return folder


def commands(folder: Path) -> None:
    """The programs that pages call by name alone."""
    folder.mkdir()
    python, own = files.CONSUMERS / "python" / "bin" / "python", sys.executable
    calls = {
        "steelyard": f'PYTHONWARNINGS=error exec "{own}" -m steelyard.cli.main "$@"',
        "python": f'exec "{python}" "$@"',
        "compare.py": f'exec "{own}" /usr/share/benchmark/compare.py "$@"',
    }
    for name, call in calls.items():
        (folder / name).write_text(f"#!/bin/sh\n{call}\n")
        (folder / name).chmod(0o755)


@pytest.fixture
def reader(user: User, filled: Path) -> User:
    """Who reads a page and types what it says, with a store that has two comparisons."""
    shutil.copytree(filled, user.home, dirs_exist_ok=True, symlinks=True)
    commands(user.home / "bin")
    (user.home / "small.toml").write_text('[defaults]\nbudget = "16runs"\n')
    environment = {k: v for k, v in user.environment.items() if k != "PYTHONWARNINGS"}
    environment |= {
        "PATH": f"{user.home}/bin:{environment['PATH']}",
        "STEELYARD_CONFIG": str(user.home / "small.toml"),
        "WALK_BUDGET": "16runs",
        "GOFLAGS": "-benchtime=1ms",
        "GOCACHE": str(ROOT / "build" / "go-cache"),
        # rustc may be rustup's, which looks for its toolchains in a home.
        "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", os.path.expanduser("~/.rustup")),
    }
    reader = User(user.home, environment)
    metrics = ("--metric", "wall_time", "--metric", "max_rss")
    for names in (("old", "new"), ("base", "head")):
        named = [word for name in names for word in ("--name", name)]
        told = reader.types("compare", *metrics, *named, "./old", "./new")
        assert told.status == 0, told.err
    return reader


def statuses_here(line: Line, folder: Path) -> set[int]:
    """How a line may end on this machine: where nobody may record events, or make a container,
    that is refused."""
    contained = "package run" in line.text or "package check --execute" in line.text
    if contained and why_not_contained(str(folder)):
        return {4}
    records = "experiment events" in line.text and "--log" not in line.text
    return {4} if records and why_not_traced() is not None else line.statuses


def with_identifiers(text: str, known: list[str], taken: dict[str, str]) -> str:
    """The line with identifiers of experiments that there are in place of the page's."""
    for written in IDENTIFIER.findall(text):
        if written not in taken:
            taken[written] = known[len(taken) % len(known)]
        text = text.replace(written, taken[written])
    return text


def experiments(reader: User) -> list[str]:
    document = reader.types("list", "--json", "-").document()
    return [each["experiment"] for each in document["experiments"]]


def runs(reader: User, text: str, where: Path) -> tuple[subprocess.CompletedProcess[str], Path]:
    """What a line ended with, and the directory that it left the shell in."""
    after = reader.home / "where"
    done = subprocess.run(
        ["bash", "-c", f"{text}\nstatus=$?; pwd > {after}; exit $status"],
        cwd=where,
        env=reader.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    return done, Path(after.read_text().strip())


PAGES_WITH_COMMANDS = [
    page for page in PAGES if any(reason_not_to_run(line) is None for line in lines(page))
]


@pytest.mark.parametrize("page", PAGES_WITH_COMMANDS, ids=str)
def test_every_command_of_a_page_ends_as_the_page_says(reader: User, page: Path) -> None:
    if str(page) in PREPARED:
        PREPARED[str(page)](reader.home)
    if str(page) == "docs/project-file.md":
        reader = User(reader.home, {**reader.environment, "STEELYARD_CONFIG": "steelyard.toml"})
    known, taken, where, wrong = experiments(reader), {}, reader.home, []
    # Some commands change the machine, and none may measure meanwhile.
    texts = " ".join(line.text for line in lines(page))
    changes = re.search(r"steelyard (experiment|host)", texts) is not None
    if "pyperf" in texts and not (files.CONSUMERS / "python" / "bin" / "pyperf").exists():
        pytest.skip("there is no pyperf: make setup-dev gets it")
    with only_changer() if changes else nullcontext():
        for line in lines(page):
            if reason_not_to_run(line) is not None:
                continue
            text = with_identifiers(line.small, known, taken)
            done, where = runs(reader, text, where)
            if (
                done.returncode not in statuses_here(line, reader.home)
                or "Traceback" in done.stderr
            ):
                wrong.append(f"$ {text}\nstatus {done.returncode}\n{done.stderr[-1500:]}")
    assert not wrong, "\n\n".join(wrong)


def test_each_reason_not_to_run_a_command_is_still_needed() -> None:
    texts = [f"^{line.text}" for page in PAGES for line in lines(page)]
    assert [part for part in NOT_RUN if not any(part in text for text in texts)] == []


def test_most_commands_of_the_pages_are_run() -> None:
    found = [line for page in PAGES for line in lines(page) if reason_not_to_run(line) != USAGE]
    run = [line for line in found if reason_not_to_run(line) is None]
    assert len(run) > 110
    assert len(run) > 0.75 * len(found)


def test_every_experiment_file_of_the_examples_can_be_planned(reader: User) -> None:
    found = sorted(Path(reader.home, "examples").rglob("*.toml"))
    assert len(found) > 5
    for path in found:
        told = reader.types("experiment", "plan", str(path))
        lacking = told.status == 4 and "takes what is not installed" in told.err
        assert told.status == 0 or lacking, f"{path}: {told.err}"


def test_the_first_experiment_file_of_the_page_about_experiments_can_be_planned(
    reader: User,
) -> None:
    (reader.home / "page.toml").write_text(
        next(blocks(Path("docs/commands/experiment.md"), "toml"))
    )
    told = reader.types("experiment", "plan", "page.toml")
    assert told.status == 0, told.err


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_every_block_of_toml_and_json_of_a_page_is_that(page: Path) -> None:
    for block in blocks(page, "toml"):
        tomllib.loads(block)
    for block in blocks(page, "json"):
        json.loads(re.sub(r"…", "", block))


def test_the_program_of_the_page_about_python_prints_what_it_says(reader: User) -> None:
    program = next(blocks(Path("docs/python.md"), "python"))
    (reader.home / "page.py").write_text(program.replace("20s", "16runs"))
    done, _ = runs(reader, f"{sys.executable} page.py", reader.home)
    assert done.returncode == 0, done.stderr
    assert re.match(
        r"\{'by text': '\w+'\}\nRatio\(baseline='by number', candidate='by text'", done.stdout
    )


def test_the_c_of_the_page_about_adapters_is_compiled(reader: User) -> None:
    block = next(blocks(Path("docs/ADAPTERS.md"), "c"))
    include, _, body = block.partition("\n")
    program = f"{include}\nstatic void work(void) {{}}\nint main(void) {{\n{body}\nreturn 0;\n}}\n"
    (reader.home / "page.c").write_text(program)
    done, _ = runs(
        reader, f"gcc -Wall -Wextra -Werror -I {ROOT}/native/iterations page.c -o page", reader.home
    )
    assert done.returncode == 0, done.stderr
