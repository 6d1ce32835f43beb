"""`steelyard predict commits indicators`: what two versions of a program differ in."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import click

from steelyard.cli.console.output import terminal_width, write_json, write_text
from steelyard.cli.options.finite_range import FiniteRange
from steelyard.cli.options.option_groups import group, option, takes
from steelyard.cli.options.shared_options import json_option
from steelyard.cli.predict.commit_options import ProgramsOptions
from steelyard.core.errors import UsageError


@dataclass(frozen=True, kw_only=True)
class IndicatorsOptions:
    """What indicators takes."""

    programs: ProgramsOptions = group(ProgramsOptions)
    order: float | None = option(
        "--order",
        type=FiniteRange(min=-1e15, max=1e15),
        help="Rises with the age of the new revision.",
    )
    distance: float | None = option(
        "--distance", type=FiniteRange(min=0, max=1e9), help="Commits between the revisions."
    )
    changed: str | None = option(
        "--changed", type=click.Choice(["yes", "no"]), help="Whether the times changed."
    )
    verdicts: tuple[str, ...] = option(
        "--verdict",
        metavar="NAME=FILE",
        multiple=True,
        help="A benchmark, and what compare --json wrote of it in both programs. Repeatable.",
    )
    project: str = option("--project", metavar="NAME", default="", help="The program.")
    append: str | None = option("--append", metavar="PAIRS", help="Add the rows to this CSV file.")
    json_target: str | None = json_option()

    def labels(self, benchmarks: Collection[str]) -> dict[str, str]:
        """Whether the times of benchmarks changed, as far as it is told."""
        from steelyard.app.predict.commit_verdicts import read_verdicts

        for name, told in (("--changed", self.changed), ("--verdict", self.verdicts)):
            if told and self.append is None:
                raise UsageError(f"{name} is about --append PAIRS.", field=name)
        if self.changed is not None and self.verdicts:
            raise UsageError("--changed and --verdict both say it: name one.", field="--verdict")
        if self.changed is not None:
            return dict.fromkeys(benchmarks, self.changed)
        return read_verdicts(self.verdicts, benchmarks)


@click.command("indicators")
@takes(IndicatorsOptions)
def indicators_command(given: IndicatorsOptions) -> None:
    """Compare two versions of a program by what benchmarks reach of what changed."""
    from steelyard.app.predict.commit_code import append_pairs, compare_code
    from steelyard.report.kinds.commits.document import indicators_document
    from steelyard.report.kinds.commits.text import indicators_text

    programs = given.programs.programs()
    if programs is None:
        raise UsageError("No programs are named. Want --old FILE --new FILE.", field="--old")
    names = given.programs.names(given.project, given.order, given.distance)
    found = compare_code(programs, names)
    labels = given.labels(found.table.benchmarks)
    if given.append is not None:
        append_pairs(given.append, found.table, labels)
    write_json(indicators_document(found), given.json_target)
    if given.json_target != "-":
        write_text(indicators_text(found, terminal_width()))
