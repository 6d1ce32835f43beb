"""The options that questions about commits share."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from steelyard.app.predict.commit_pairs import PairOptions
from steelyard.cli.options.option_groups import option
from steelyard.core.errors import UsageError
from steelyard.core.quantity import parse_ratio

if TYPE_CHECKING:
    from steelyard.app.predict.commit_code import Programs
    from steelyard.app.predict.commit_questions import PairNames


class CommitModelName(click.ParamType[str]):
    """The name of a commit model; the list of them is only made where it is shown."""

    name = "model"

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        from steelyard.app.predict.commit_questions import CHOSEN, commit_model_names

        return f"[{'|'.join([CHOSEN, *commit_model_names()])}]"


@dataclass(frozen=True, kw_only=True)
class ReadPairsOptions:
    """How a file of pairs is read."""

    indicators: tuple[str, ...] = option(
        "--indicator",
        metavar="NAME",
        multiple=True,
        help="A column that is an indicator. Repeatable (default: every other one of numbers).",
    )
    drop: tuple[str, ...] = option(
        "--drop", metavar="NAME", multiple=True, help="A column that is none. Repeatable."
    )

    def options(self) -> PairOptions:
        """How the file is read."""
        return PairOptions(self.indicators, self.drop)


@dataclass(frozen=True, kw_only=True)
class ProgramsOptions:
    """Two versions of a program, and what benchmarks do in the old one."""

    old: str | None = option("--old", metavar="FILE", help="The program whose times are known.")
    new: str | None = option("--new", metavar="FILE", help="The program that is asked about.")
    uses: tuple[str, ...] = option(
        "--use",
        metavar="NAME=FILE",
        multiple=True,
        help="A benchmark and its profile in the old program, of callgrind. Repeatable.",
    )
    changed_before: str | None = option(
        "--changed-before",
        metavar="FILE",
        help="CSV with function and count: changes of time that its changes came with.",
    )
    known: str = option("--known", metavar="REVISION", default="", help="Of the old program.")
    unknown: str = option("--unknown", metavar="REVISION", default="", help="Of the new program.")

    repository: str | None = option(
        "--repository",
        metavar="DIR",
        help="Where git knows --known and --unknown: which sources differ, and how far.",
    )

    def programs(self) -> Programs | None:
        """The programs; None where none is named."""
        from steelyard.app.predict.commit_code import Programs

        if self.old is None and self.new is None:
            return None
        if self.old is None or self.new is None:
            missing = "--old" if self.old is None else "--new"
            raise UsageError(
                f"{missing} FILE is missing: two programs are compared.", field=missing
            )
        for name, revision in (("--known", self.known), ("--unknown", self.unknown)):
            if self.repository is not None and not revision:
                raise UsageError(
                    f"{name} REVISION is missing: --repository is asked about it.", field=name
                )
        return Programs(self.old, self.new, self.uses, self.changed_before, self.repository)

    def refuse_idle(self) -> None:
        """Refuse what only a comparison of programs reads."""
        for name, given in (
            ("--use", self.uses),
            ("--changed-before", self.changed_before),
            ("--known", self.known),
            ("--unknown", self.unknown),
            ("--repository", self.repository),
        ):
            if given:
                raise UsageError(f"{name} is about --old FILE --new FILE.", field=name)

    def names(
        self, project: str = "", order: float | None = None, distance: float | None = None
    ) -> PairNames:
        """What the pair is called."""
        from steelyard.app.predict.commit_questions import PairNames

        nan = float("nan")
        return PairNames(
            self.known or os.path.basename(self.old or ""),
            self.unknown or os.path.basename(self.new or ""),
            project,
            nan if order is None else order,
            nan if distance is None else distance,
        )


def hit_rate_of(text: str) -> float:
    """The wanted hit rate; raises `UsageError` where it is none."""
    found = parse_ratio(text, "--hit-rate")
    if not 0 < found < 1:
        raise UsageError(f"--hit-rate {text}: want a share between 0 and 1.", field="--hit-rate")
    return found


def commands_of(given: tuple[str, ...]) -> dict[str, str]:
    """The commands of ``NAME=CMD`` options; raises `UsageError` where one is of another form."""
    found: dict[str, str] = {}
    for text in given:
        name, equals, command = text.partition("=")
        if not (name and equals and "{program}" in command):
            raise UsageError(
                f"--command {text}: want NAME=CMD with {{program}} in it.", field="--command"
            )
        found[name] = command
    return found
