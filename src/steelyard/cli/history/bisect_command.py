"""`steelyard history bisect`: which revision made the change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import click

from steelyard.cli.console.output import (
    refuse_nowhere,
    terminal_width,
    write_json,
    write_text,
)
from steelyard.cli.options.option_groups import option, takes
from steelyard.cli.options.shared_options import (
    json_option,
    share_option,
    store_option,
    wait_option,
)
from steelyard.cli.store.opened_library import opened_library
from steelyard.core.quantity import parse_duration, parse_ratio

if TYPE_CHECKING:
    from steelyard.app.history.bisection_request import AskedSearch

HELP = """
Find the revision that made a change, by building and running revisions between two ends.

Each test runs a revision against the good end in blocks. Which one is next, and how often it is
run, follows from what that tells a second. A search that is cut off goes on by the same call.

\b
steelyard history bisect --good v1.2 --bad HEAD --build make --run ./bench
steelyard history bisect --good HEAD~100 --run 'python3 bench.py' --confidence 99.9%
"""


@dataclass(frozen=True, kw_only=True)
class BisectOptions:
    """What bisect takes."""

    good: str = option(
        "--good", metavar="REVISION", required=True, help="The end without the change."
    )
    bad: str = option(
        "--bad", metavar="REVISION", default="HEAD", show_default=True, help="The end with it."
    )
    run: str = option(
        "--run",
        metavar="CMD",
        required=True,
        help="The benchmark's command, run in the build's directory.",
    )
    build: str | None = option(
        "--build", metavar="COMMAND", help="Builds a revision, by a shell in a copy of its files."
    )
    build_timeout: str | None = option(
        "--build-timeout", metavar="TIME", help="End a build that takes longer; it failed."
    )
    timeout: str | None = option(
        "--timeout", metavar="TIME", help="End a run that takes longer; it has failed."
    )
    measure: str | None = option(
        "--measure", metavar="METRIC", help="What is measured (default: wall_time)."
    )
    confidence: str = share_option("--confidence", "99%", "How sure the revision is to be.")
    margin: str = share_option("--margin", "1%", "The ends have to differ by more than this.")
    budget: str = option(
        "--budget",
        metavar="TIME",
        default="10m",
        show_default=True,
        help="Longest time for all tests together.",
    )
    prior: Literal["lines", "uniform"] = option(
        "--prior",
        type=click.Choice(["lines", "uniform"]),
        default="lines",
        show_default=True,
        help="Before any test: more for commits that change more lines, or all alike.",
    )
    weights: str | None = option(
        "--weights",
        metavar="FILE",
        help="How probable revisions are: a JSON object, as `predict commits plan --weights` "
        "writes it.",
    )
    adopt: str | None = option(
        "--adopt",
        metavar="BENCHMARK[:METRIC]",
        help="Take what the history's values of this track say of revisions, without a test.",
    )
    anew: bool = option("--anew", is_flag=True, help="Do not go on with a search that was cut off.")
    repository: str | None = option(
        "--repository", metavar="DIR", help="The repository (default: of the working directory)."
    )
    wait: bool = wait_option()
    store: str | None = store_option()
    json_target: str | None = json_option()


@click.command("bisect", help=HELP, short_help="Find the revision that made a change.")
@takes(BisectOptions)
def bisect(given: BisectOptions) -> int:
    """Search, show."""
    from steelyard.app.history.bisection_request import bisected
    from steelyard.cli.weigh.weighing_request import place_from
    from steelyard.report.kinds.bisection.document import bisection_document
    from steelyard.report.kinds.bisection.text import bisection_text

    refuse_nowhere(given.json_target)
    asked = _asked(given)
    with opened_library(given.store) as library:
        told = bisected(asked, library, place_from(given.store, given.wait))
    write_json(bisection_document(told), given.json_target)
    if given.json_target != "-":
        write_text(bisection_text(told, terminal_width()))
    return 0


def _asked(given: BisectOptions) -> AskedSearch:
    from steelyard.app.history.bisection_request import AskedSearch
    from steelyard.app.history.measured_revisions import RevisionCommands

    commands = RevisionCommands(
        given.run,
        given.build,
        given.measure,
        _seconds(given.timeout, "--timeout"),
        _seconds(given.build_timeout, "--build-timeout"),
    )
    return AskedSearch(
        given.good,
        given.bad,
        commands,
        parse_ratio(given.confidence, "--confidence"),
        parse_ratio(given.margin, "--margin"),
        parse_duration(given.budget, "--budget"),
        given.prior,
        given.weights,
        given.adopt,
        given.repository,
        given.anew,
    )


def _seconds(text: str | None, field: str) -> float | None:
    return None if text is None else parse_duration(text, field)
