"""How well and how fast does `steelyard predict commits` find the benchmarks that a commit needs?

    .venv/bin/python -m benchmarks.commit_pairs [--part made|history|planted|speed]
        [--repository PROJECT=CLONE ...] [--old FILE --new FILE]

Parts: made (280 pairs made on purpose; wants gcc, clang and valgrind), history (revisions of lz4,
libdeflate, pugixml, cjson, tinyxml2, each from a clone), planted (slow-downs
in functions of the same projects), speed (reading and comparing two programs).
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.commit_pairs.history import (
    DISTANCES,
    Version,
    costs,
    make_versions,
    pairs,
    synthetic_pairs,
    write_pairs,
)
from benchmarks.commit_pairs.made import SETTINGS, made_pairs, wrong_answers, wrongly_blamed
from benchmarks.commit_pairs.made_programs import PROGRAMS
from benchmarks.commit_pairs.planted_slowdowns import planted_rows
from benchmarks.commit_pairs.projects import PROJECTS, Project
from benchmarks.commit_pairs.savings import savings
from steelyard.app.predict.commit_pairs import PairOptions, read_pairs
from steelyard.binary import code_reader
from steelyard.predict.commits.code_change import compare_programs
from steelyard.predict.commits.evaluation_design import EvaluationDesign
from steelyard.predict.commits.predictor_evaluation import evaluate_table
from steelyard.report.kinds.commits.text import evaluation_text

# Of pairs of all versions with all others: versions are left out, which would take hours.
_EVERY = 4
_MOST_PLANTS = 24


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the parts asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=("made", "history", "planted", "speed"), action="append")
    parser.add_argument("--repository", action="append", default=[], help="PROJECT=CLONE")
    parser.add_argument("--folder", type=Path, default=Path("build/commit-pairs"))
    parser.add_argument("--old", default=sys.executable)
    parser.add_argument("--new", default=sys.executable)
    given = parser.parse_args(arguments)
    parts = given.part or ["made", "speed", *(["history"] if given.repository else [])]
    if "made" in parts:
        made()
    if "speed" in parts:
        speed(given.old, given.new)
    if "history" in parts:
        if not given.repository:
            parser.error("--part history wants --repository PROJECT=CLONE")
        histories(dict(one.split("=", 1) for one in given.repository), given.folder.resolve())
    if "planted" in parts:
        for one in given.repository:
            name, _, clone = one.partition("=")
            folder = given.folder.resolve() / name
            print(planted_rows(Path(clone), folder, PROJECTS[name], _MOST_PLANTS))
    return 0


def made() -> None:
    """Pairs made on purpose, by kind."""
    with tempfile.TemporaryDirectory() as folder:
        pairs = list(made_pairs(Path(folder), PROGRAMS, SETTINGS))
    wrong, blamed = wrong_answers(pairs), wrongly_blamed(pairs)
    kinds = Counter(pair.edit.kind for pair in pairs)
    mistaken = Counter(pair.edit.kind for pair in wrong)
    misnamed = Counter(pair.edit.kind for pair in blamed)
    changing = {pair.edit.kind: pair.edit.changes for pair in pairs}
    named = sum(1 for pair in pairs if pair.edit.function)
    print("| kind | can change the time | pairs | wrong | another function named first |")
    print("|---|---|---|---|---|")
    for kind, count in kinds.items():
        can = "yes" if changing[kind] else "no"
        print(f"| {kind} | {can} | {count} | {mistaken[kind]} | {misnamed[kind]} |")
    print(f"\n{len(wrong)} of {len(pairs)} wrong, {len(blamed)} of {named} misnamed\n")


def speed(old: str, new: str) -> None:
    """Reading and comparing two programs: neither kept, the old one kept, both kept."""
    print("| kept before | functions | wall time | time of the processor |")
    print("|---|---|---|---|")
    with tempfile.TemporaryDirectory() as cache:
        import os

        os.environ["XDG_CACHE_HOME"] = cache
        for kept in ("none", "the old one", "both"):
            spent: list[tuple[float, float]] = []
            sizes = ""
            for _ in range(9):
                _forget(cache, kept, old, new)
                begin, used = time.perf_counter(), _used_s()
                change = compare_programs(*code_reader.read_two(old, new))
                spent.append((time.perf_counter() - begin, _used_s() - used))
                sizes = f"{len(change.old)}, {len(change.new)}"
            wall, used = (sorted(column)[4] for column in zip(*spent, strict=True))
            print(f"| {kept} | {sizes} | {1000 * wall:.0f} ms | {1000 * used:.0f} ms |")
    largest = [
        resource.getrusage(who).ru_maxrss / 1024
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    ]
    print(f"\nMost memory: Python {largest[0]:.0f} MiB, the reader {largest[1]:.0f} MiB\n")


def _forget(cache: str, kept: str, old: str, new: str) -> None:
    for path in Path(cache).rglob("*.json"):
        path.unlink()
    if kept != "none":
        code_reader.read_code(old)
    if kept == "both":
        code_reader.read_code(new)


def _used_s() -> float:
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def histories(clones: Mapping[str, str], folder: Path) -> None:
    """Histories of projects, each by itself, and one from another."""
    for name, clone in clones.items():
        history(PROJECTS[name], Path(clone), folder / name)
    if len(clones) > 1:
        together = folder / "together.csv"
        tables = [(folder / name / "pairs-1.csv").read_text().splitlines(True) for name in clones]
        lines = [*tables[0][:1], *(line for table in tables for line in table[1:])]
        together.write_text("".join(lines))
        show(together, ("across-projects",))


def history(project: Project, repository: Path, folder: Path) -> None:
    """A history commit by commit, and at distances."""
    versions = make_versions(repository, folder, project)
    print(f"{len(versions)} of {project.count} revisions of {project.name} were built and run\n")
    everything = folder / "distances.csv"
    everything.unlink(missing_ok=True)
    for distance in DISTANCES:
        path = folder / f"pairs-{distance}.csv"
        path.unlink(missing_ok=True)
        chosen = list(pairs(versions, distance))
        seconds = write_pairs(project.name, chosen, distance, path)
        write_pairs(project.name, chosen, distance, everything)
        print(f"distance {distance}: {1000 * seconds:.0f} ms a pair, all benchmarks")
    show(folder / "pairs-1.csv", EvaluationDesign().designs)
    show(everything, ("chronological", "distance"))
    saved(folder / "pairs-1.csv", versions)
    synthetic = folder / "synthetic.csv"
    synthetic.unlink(missing_ok=True)
    write_pairs(project.name, list(synthetic_pairs(versions, _EVERY)), _EVERY, synthetic)
    show(synthetic, ("folds",))


def saved(path: Path, versions: Mapping[int, Version]) -> None:
    """What strategies cost that see changes as soon, and what the predictor does."""
    table = read_pairs(str(path), PairOptions())
    found = savings(table, costs(versions, table))
    print(
        f"\n{found.changes} changes; the predictor runs {100 * found.predicted.cost:.1f} % of the "
        f"instructions, sees {100 * found.predicted.at_once:.1f} % of the changes at once, and a "
        f"change {found.predicted.regret:.2f} revisions late. As late on average: every n-th "
        f"revision for {100 * found.every_nth:.1f} %, random runs for "
        f"{100 * found.at_random:.1f} %.\n"
    )


def show(path: Path, designs: tuple[str, ...]) -> None:
    """The rates of designs on one table."""
    table = read_pairs(str(path), PairOptions())
    print(evaluation_text(evaluate_table(table, EvaluationDesign(designs)), 160))


if __name__ == "__main__":
    sys.exit(main())
