"""The suite's programs, and what came of fetching, building and running them, as tables."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.core.units import format_duration
from steelyard.report.texts.plain_table import plain_table
from steelyard.report.texts.table import Table
from steelyard.suite.generator import Generator
from steelyard.suite.outcomes import BuildOutcome, FetchOutcome, Need, RunOutcome
from steelyard.suite.recipe import Recipe

NOTHING = "-"
CHECKED = "ok"


def table_text(table: Table, width: int | None = None) -> str:
    """A table that ends with a newline."""
    return "\n".join(plain_table(table, width)) + "\n"


def markdown(table: Table) -> str:
    """A table in Markdown, ending with a newline."""
    ruler = ["---" if column in table.left else "---:" for column in range(len(table.headers))]
    lines = [
        "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"
        for row in (table.headers, tuple(ruler), *table.rows)
    ]
    return "\n".join(lines) + "\n"


def programs_table(recipes: Sequence[Recipe]) -> Table:
    """What programs there are."""
    rows = tuple(
        (
            recipe.name,
            ", ".join(recipe.groups),
            ", ".join(recipe.languages),
            recipe.source.kind,
            recipe.versions[0],
            recipe.spec or NOTHING,
            ", ".join(recipe.traits) or NOTHING,
            recipe.title,
        )
        for recipe in recipes
    )
    headers = ("program", "groups", "languages", "source", "version", "stands for", "traits", "")
    return Table(headers, rows, frozenset(range(8)), spare=(6, 4, 3))


def generators_table(generators: Sequence[Generator]) -> Table:
    """What makes inputs, with the parameters and their defaults."""
    rows = tuple(
        (
            generator.name,
            ", ".join(f"{name}={value}" for name, value in generator.parameters.items()),
            generator.description,
        )
        for generator in generators
    )
    return Table(("generator", "parameters", ""), rows, frozenset({0, 1, 2}))


def fetch_table(outcomes: Sequence[FetchOutcome]) -> Table:
    """What was fetched."""
    rows = tuple(
        (
            outcome.recipe.name,
            outcome.version or NOTHING,
            size_text(outcome.fetched_bytes) if outcome.fetched_bytes else NOTHING,
            _fetch_state(outcome),
        )
        for outcome in outcomes
    )
    return Table(("program", "version", "fetched", ""), rows, frozenset({0, 1, 3}))


def _fetch_state(outcome: FetchOutcome) -> str:
    if outcome.version is None:
        return "failed"
    return "fetched" if outcome.fetched_bytes else "in the cache"


def build_table(outcomes: Sequence[BuildOutcome]) -> Table:
    """What was built, and what building took when it was built."""
    rows = tuple(
        (
            outcome.recipe.name,
            outcome.toolchain.label() or NOTHING,
            _optional_duration(outcome.cost_s),
            size_text(outcome.program_bytes),
            "failed" if outcome.problem else outcome.directory or "runs from its source",
        )
        for outcome in outcomes
    )
    headers = ("program", "built with", "took", "program size", "")
    return Table(headers, rows, frozenset({0, 1, 4}))


def run_table(outcomes: Sequence[RunOutcome]) -> Table:
    """How long programs ran, and whether what they wrote is what it must be."""
    rows = tuple(_run_row(outcome) for outcome in outcomes)
    headers = ("program", "built with", "size", "runs", "wall time", "CoV", "user time", "")
    return Table(headers, rows, frozenset({0, 1, 2, 7}))


def _run_row(outcome: RunOutcome) -> tuple[str, ...]:
    variation = outcome.variation("wall_time")
    failed = "missing" if outcome.missing else "failed"
    return (
        outcome.recipe.name,
        outcome.toolchain.label() or NOTHING,
        outcome.size,
        str(len(outcome.values("wall_time"))),
        _optional_duration(outcome.mean("wall_time")),
        NOTHING if variation is None else f"{100 * variation:.1f} %",
        _optional_duration(outcome.mean("user_time")),
        failed if outcome.problem else CHECKED,
    )


def _optional_duration(time_s: float | None) -> str:
    return NOTHING if time_s is None else format_duration(time_s)


def needs_table(needs: Sequence[Need]) -> Table:
    """What the programs need of the system."""
    rows = tuple(
        (
            need.requirement.package,
            f"{need.requirement.probe} {need.requirement.wanted}",
            "there" if need.available else "missing",
            _programs_text(need.programs),
        )
        for need in needs
    )
    return Table(("package", "for", "", "programs"), rows, frozenset(range(4)))


def _programs_text(programs: Sequence[str]) -> str:
    shown = ", ".join(programs[:4])
    return shown if len(programs) <= 4 else f"{shown} and {len(programs) - 4} more"


def size_text(size_bytes: int | None) -> str:
    """A size in a unit that people read."""
    if size_bytes is None:
        return NOTHING
    value, unit = float(size_bytes), "B"
    for larger in ("KiB", "MiB", "GiB"):
        if value < 1024:
            break
        value, unit = value / 1024, larger
    return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
