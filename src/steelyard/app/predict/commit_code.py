"""Pairs of programs: read both, find what changed, and what benchmarks reach of it."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING

from steelyard.core.decoding import regular_opener
from steelyard.core.errors import DataError, UsageError

if TYPE_CHECKING:
    from steelyard.predict.commits.benchmark_use import BenchmarkUse
    from steelyard.predict.commits.body_steps import StepEdits
    from steelyard.predict.commits.code_change import CodeChange
    from steelyard.predict.commits.commit_answers import CommitAnswer
    from steelyard.predict.commits.indicator import WrittenIn
    from steelyard.predict.commits.pair_rows import ComparedPair, PairNames
    from steelyard.predict.commits.pair_table import PairTable
    from steelyard.predict.commits.predictor import Predictor


@dataclass(frozen=True)
class Programs:
    """Two versions of a program, and profiles of benchmarks in the old one.

    Parameters
    ----------
    old, new : str
        Paths.
    uses : tuple of str
        ``NAME=FILE``.
    changed_before : str or None
        A CSV file with the columns function and count.
    repository : str or None
        Where the revisions that the pair is called by are.
    """

    old: str
    new: str
    uses: tuple[str, ...]
    changed_before: str | None = None
    repository: str | None = None


def compare_code(programs: Programs, names: PairNames) -> ComparedPair:
    """The indicators of two versions for each benchmark."""
    from steelyard.app.predict.benchmark_uses import read_uses
    from steelyard.app.predict.commit_sources import changed_sources
    from steelyard.binary.code_reader import read_two
    from steelyard.predict.commits.code_change import compare_programs

    if not programs.uses:
        raise UsageError(
            "No benchmark is named. --use NAME=FILE gives one and its profile.", field="--use"
        )
    sources = None
    if programs.repository is not None:
        sources, names = changed_sources(programs.repository, names)
    old, new = read_two(programs.old, programs.new)
    uses = read_uses(programs.uses, old)
    before = None if programs.changed_before is None else _counts(programs.changed_before)
    found = compare_uses(compare_programs(old, new), uses, names, before)
    return found if sources is None else found.with_sources(sources)


def compare_uses(
    change: CodeChange,
    uses: Sequence[BenchmarkUse],
    names: PairNames,
    changed_before: Mapping[str, float] | None = None,
) -> ComparedPair:
    """The indicators of what changed, for each benchmark."""
    from steelyard.predict.commits.pair_rows import compare_pair

    edits = _edits(change, uses)
    return compare_pair(change, uses, names, changed_before, edits, _written_in(change, edits))


def _readable(name: str) -> str:
    from steelyard.profile.symbols.demangling import readable_name

    return readable_name(name.encode("utf-8", "surrogateescape"))


def _written_in(change: CodeChange, edits: Mapping[int, StepEdits]) -> WrittenIn:
    """By debugging information which functions were inlined where instructions differ."""
    from steelyard.predict.commits.indicator import WrittenIn

    old = {address for one in edits.values() for address in (*one.removed, *one.altered)}
    new = {address for one in edits.values() for run in one.added for address in run.addresses}
    here, there = _names_at(change.old.source, old), _names_at(change.new.source, new)
    return WrittenIn(here, there, _readable)


def _names_at(path: str, addresses: set[int]) -> dict[int, str]:
    from steelyard.profile.symbols.inlined_code import described_functions

    rising = sorted(addresses)
    chains = zip(rising, described_functions(path, rising), strict=True)
    return {address: chain[0].linkage_name or chain[0].name for address, chain in chains if chain}


def _edits(change: CodeChange, uses: Sequence[BenchmarkUse]) -> dict[int, StepEdits]:
    """Which instructions differ in changed functions that a benchmark reaches, or newly may.

    Of benchmarks alone whose instructions were counted one by one.
    """
    from steelyard.binary.code_reader import read_steps
    from steelyard.predict.commits.benchmark_use import reach
    from steelyard.predict.commits.body_steps import step_edits
    from steelyard.predict.commits.code_change import same_references

    reached: set[int] = set()
    for use in uses:
        if use.at_addresses:
            reached.update(reach(use, change.old).instructions)
    places = sorted((reached | _called_by(change, reached)) & change.changed)
    old = read_steps(change.old.source, places)
    new = read_steps(change.new.source, [change.partner[place] for place in places])
    return {
        place: step_edits(before, after, same_references(change, place))
        for place, before, after in zip(places, old, new, strict=True)
    }


def _called_by(change: CodeChange, reached: set[int]) -> set[int]:
    """What the new versions of changed functions refer to, by its old version."""
    callees = {
        callee
        for place in reached & change.changed
        for callee in change.new.callees(change.partner[place])
    }
    return {place for place, other in enumerate(change.partner) if other in callees}


def ask_code(predictor: Predictor, pair: ComparedPair) -> CommitAnswer:
    """Answer for a compared pair, with what changed as reasons."""
    from dataclasses import replace

    from steelyard.predict.commits.commit_answers import ask_predictor

    found = ask_predictor(predictor, pair.table, dict(enumerate(pair.reasons)))
    return replace(found, cautions=(*found.cautions, *pair.cautions))


def _counts(path: str) -> dict[str, float]:
    from steelyard.store.data_table import read_data_table

    table = read_data_table(path)
    names = table.texts("function", "--changed-before")
    counts = table.numbers("count", "--changed-before").tolist()
    return {name: count for name, count in zip(names, counts, strict=True) if count > 0}


def append_pairs(path: str, table: PairTable, labels: Mapping[str, str]) -> None:
    """Add the rows of a table to a CSV file, which is made where it is not there.

    Parameters
    ----------
    path : str
    table : PairTable
    labels : mapping of str to str
        Whether the time changed, by benchmark.

    Raises
    ------
    DataError
        The file cannot be written, or has other columns.
    """
    from steelyard.store.whole_file import file_errors

    header = [
        *("project", "benchmark", "known", "unknown", "order", "distance", "changed"),
        *table.indicators,
    ]
    with file_errors(path, "write"):
        is_new = not os.path.lexists(path) or _is_empty(path)
        if not is_new:
            _check_header(path, header)
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        if is_new:
            writer.writerow(header)
        writer.writerows(_cells(table, labels))
        with open(path, "a", encoding="utf-8") as file:
            file.write(text.getvalue())


def _is_empty(path: str) -> bool:
    """Whether a regular file is; nobody waits for the reader of a pipe."""
    with open(path, "rb", opener=regular_opener) as file:
        return os.fstat(file.fileno()).st_size == 0


def _check_header(path: str, header: Sequence[str]) -> None:
    with open(path, encoding="utf-8", newline="", opener=regular_opener) as file:
        found = next(csv.reader(file), [])
    if found != list(header):
        lacks = ", ".join([name for name in header if name not in found][:5]) or "none"
        raise DataError(
            f"{path} has other columns than these pairs: it lacks {lacks}.\nName another file.",
            field="--append",
        )


def _cells(table: PairTable, labels: Mapping[str, str]) -> list[list[str]]:
    rows: list[list[str]] = []
    for row in range(len(table)):
        numbers = [float(table.order[row]), float(table.distance[row])]
        rows.append(
            [
                table.projects[row],
                table.benchmarks[row],
                table.known[row],
                table.unknown[row],
                *(_cell(number) for number in numbers),
                labels.get(table.benchmarks[row], ""),
                *(_cell(float(value)) for value in table.values[row]),
            ]
        )
    return rows


def _cell(number: float) -> str:
    return "" if isnan(number) else f"{number:.9g}"
