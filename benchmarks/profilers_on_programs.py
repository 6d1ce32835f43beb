"""How far profilers agree about real programs, as Figures 3.1 to 3.6 of Mytkowicz.

Programs of the suite are run by `steelyard profile agree` under all profilers of their language:
native ones, those of the Java virtual machine and one in Python. Its documents are then taken in
together.

    .venv/bin/python -m benchmarks.profilers_on_programs --seconds 540   # until all is there
    .venv/bin/python -m benchmarks.profilers_on_programs --table
    .venv/bin/python -m benchmarks.profilers_on_programs --pages         # with the figures

What is finished is kept in build/profiler-agreement, so that it can be stopped and gone on with. A
machine with one CPU needs JAVA_TOOL_OPTIONS="-XX:+UseG1GC -XX:ActiveProcessorCount=2", without
which Java takes a collector under which loops are not stopped for a safepoint.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks import causality, causality_java
from steelyard.analysis.profiles.profile_agreement import agreement
from steelyard.core.experiment_spec import LaunchSpec
from steelyard.report.kinds.agreement.document import profiles_of
from steelyard.report.kinds.agreement.text import (
    hotness_table,
    pairs_table,
    program_label,
    relations_line,
    totals_table,
    unions_table,
)
from steelyard.report.texts.table import Table

RESULTS = Path("build/profiler-agreement")
PICTURES = Path("docs/images")
# The figures of all programs; those of each follow below. A table has a row for each program, and
# so do legends in part.
PICTURE_WIDTH, BARE_PICTURE_HEIGHT, ROW_HEIGHT = 1000, 2190, 31
STEELYARD = os.path.join(os.path.dirname(sys.executable), "steelyard")
FLAGS = "-O2"
GPROF_FLAGS = f"{FLAGS} -pg"
SEED = 1
LANGUAGES = ("jvm", "native", "python")
# Iterations of the suite's Java programs: some seconds, of which the start takes the smaller part.
JAVA_ITERATIONS = {
    "jvm-rhino": 45,
    "jvm-xalan": 50,
    "jvm-h2": 30,
    "jvm-jython": 30,
    "jvm-saxon": 24,
    "jvm-pmd": 12,
    "jvm-lucene-search": 28,
}
NATIVE = ("lua", "bzip2", "tcc", "hmmer2", "duktape", "sqlite")
# The second runtime: without the compiler that inlines and moves most.
LISTING = "listing 3.1"
FIRST_COMPILER, FIRST_COMPILER_OPTION = "C1 alone", "-XX:TieredStopAtLevel=1"
# pyperf's worker alone: cProfile looks at one process.
PYTHON_OPTIONS = ("--worker", "--loops=1", "--values=40", "--warmups=1")


@dataclass(frozen=True)
class Part:
    """A program, as it is run in one go under all of its profilers.

    Parameters
    ----------
    language, name : str
    setting : str
        What tells this runtime from another one of the program.
    """

    language: str
    name: str
    setting: str = ""

    @property
    def path(self) -> Path:
        words = "-".join(filter(None, (self.name, self.setting)))
        return RESULTS / f"{self.language}-{words.replace(' ', '-')}.json"


def parts() -> Iterator[Part]:
    """Every part, those of a second runtime last (Figure 3.6)."""
    yield Part("jvm", LISTING)
    for name in JAVA_ITERATIONS:
        yield Part("jvm", name)
    for name in NATIVE:
        yield Part("native", name)
    yield Part("python", "pyperf-queens")
    yield Part("python", "pyperf-words")
    for program in causality_java.PROGRAMS:
        yield Part("jvm", program.name, FIRST_COMPILER)


def launch_of(part: Part, iterations: int | None) -> tuple[LaunchSpec, tuple[str, ...]]:
    """How the program is run, and options of `steelyard profile agree` that it wants."""
    if part.name == LISTING:
        folder = RESULTS / "classes"
        subprocess.run(["javac", "-d", folder, str(causality_java.EXAMPLE)], check=True)
        return LaunchSpec(("java", "-cp", str(folder.absolute()), "YieldPoints", "300")), ()
    if part.language == "jvm":
        count = iterations or JAVA_ITERATIONS[part.name]
        program = causality_java.Program(part.name, count, ("", ""))
        return causality_java.launch_of(program), ()
    if part.language == "python":
        program = causality_java.Program(part.name, 0, ("", ""))
        launch = causality_java.launch_of(program)
        return replace(launch, argv=(*launch.argv[:-1], "40", *PYTHON_OPTIONS)), ()
    (program,) = (item for item in causality.PROGRAMS if item.name == part.name)
    launch = causality.launch_of(program, program.sampled, FLAGS)
    built = causality.launch_of(program, program.sampled, GPROF_FLAGS)
    # Under a simulated processor a program takes fifty times as long: it gets a smaller input.
    short = causality.launch_of(program, program.simulated, FLAGS)
    commands = {"gprof": built.argv, "callgrind": short.argv}
    return launch, tuple(
        word
        for name, argv in commands.items()
        for word in ("--command", f"{name}={shlex.join(argv)}")
    )


def environment_of(part: Part) -> dict[str, str]:
    """The environment of now, with what the part's runtime wants."""
    options = os.environ.get("JAVA_TOOL_OPTIONS", "")
    if part.setting == FIRST_COMPILER:
        return {**os.environ, "JAVA_TOOL_OPTIONS": f"{options} {FIRST_COMPILER_OPTION}".strip()}
    return dict(os.environ)


def run_part(part: Part, run_count: int, iterations: int | None) -> None:
    """Run a part, which writes what it gave."""
    part.path.parent.mkdir(parents=True, exist_ok=True)
    launch, options = launch_of(part, iterations)
    words = ["profile", "agree", "--runs", str(run_count), "--seed", str(SEED), *options]
    words += ["--name", part.name, "--setting", part.setting]
    print(f"{part.path.stem} ...", flush=True)
    begin_s = time.monotonic()
    path = part.path.absolute()
    with causality.conditions(launch):
        told = subprocess.run(
            [STEELYARD, *words, "--json", f"{path}.new", "--", *launch.argv],
            env=environment_of(part),
            stdout=subprocess.DEVNULL,
            check=False,
        )
    if told.returncode == 0:
        os.replace(f"{path}.new", path)
    print(f"{time.monotonic() - begin_s:.0f} s, status {told.returncode}", flush=True)


def documents(language: str) -> list[str]:
    """The documents that are there, of the suite's programs in one language."""
    return [
        str(part.path)
        for part in parts()
        if part.language == language and part.name != LISTING and part.path.exists()
    ]


def print_tables(language: str) -> None:
    """What the profilers of one language say, as tables of Markdown."""
    programs = [
        item for path in documents(language) for item in profiles_of(json.loads(read(path)), path)
    ]
    if not programs:
        return
    # Another runtime of a program is set beside it, and not counted with the rest.
    found = agreement([item for item in programs if not item.setting])
    print(f"\n## {language}: {relations_line(found)}\n")
    for item in found.programs:
        print(f"{program_label(item)}, runs: {min(map(len, item.profiles.runs.values()))}\n")
        print_markdown(hotness_table(item))
        print_markdown(pairs_table(item))
    print_markdown(unions_table(found.programs))
    print("mean of Union n:", ", ".join(f"{union.estimate or 0:.1f}" for union in found.unions))
    print_markdown(totals_table(found))
    beside = [item for item in programs if item.setting]
    if beside:
        other = agreement(beside)
        print(f"{FIRST_COMPILER}: {relations_line(other)}\n")
        print_markdown(unions_table(other.programs))


def read(path: str) -> str:
    """The text of a file."""
    return Path(path).read_text(encoding="utf-8")


def print_markdown(table: Table) -> None:
    """A table as Markdown shows it."""
    print("| " + " | ".join(table.headers) + " |")
    print(
        "|"
        + "|".join("---" if i in table.left else "---:" for i in range(len(table.headers)))
        + "|"
    )
    for row in table.rows:
        print("| " + " | ".join(row) + " |")
    print()


def write_pages(language: str) -> None:
    """The product's page of all programs of a language, and a picture of its figures."""
    if not documents(language):
        return
    page = (RESULTS / f"{language}.html").absolute()
    loads = [word for path in documents(language) for word in ("--load", path)]
    words = ["profile", "agree", *loads, "--html", str(page)]
    subprocess.run([STEELYARD, *words], stdout=subprocess.DEVNULL, check=True)
    print(page)
    browser = shutil.which("chromium")
    if browser is not None:
        # Its rooms stand on each other for a machine without a display and for root.
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        picture = f"--screenshot={PICTURES.absolute() / f'profiler-agreement-{language}.png'}"
        height = BARE_PICTURE_HEIGHT + ROW_HEIGHT * len(documents(language))
        size = f"--window-size={PICTURE_WIDTH},{height}"
        wait = "--virtual-time-budget=10000"
        command = [browser, *options, size, wait, picture, page.as_uri()]
        subprocess.run(command, stderr=subprocess.DEVNULL, check=True)


def main() -> None:
    """Do what was asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no part after it")
    parser.add_argument("--runs", type=int, default=10, help="under each profiler (10)")
    parser.add_argument("--iterations", type=int, help="of Java programs, a run")
    parser.add_argument("--language", choices=LANGUAGES, help="programs of this language alone")
    parser.add_argument("--program", help="this program alone")
    parser.add_argument("--table", action="store_true", help="show what is there")
    parser.add_argument("--pages", action="store_true", help="write pages of what is there")
    asked = parser.parse_args()
    chosen = [name for name in LANGUAGES if asked.language in (None, name)]
    if asked.table or asked.pages:
        for language in chosen:
            (print_tables if asked.table else write_pages)(language)
        return
    begin_s = time.monotonic()
    for part in parts():
        wanted = part.language in chosen and asked.program in (None, part.name)
        if part.path.exists() or not wanted:
            continue
        if time.monotonic() - begin_s > asked.seconds:
            print("there is more to run")
            return
        run_part(part, asked.runs, asked.iterations)
    print("all is there")


if __name__ == "__main__":
    main()
