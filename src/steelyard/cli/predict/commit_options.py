"""The options that questions about commits share."""

from __future__ import annotations

from dataclasses import dataclass

import click

from steelyard.app.predict.commit_pairs import PairOptions
from steelyard.cli.options.option_groups import option
from steelyard.core.errors import UsageError
from steelyard.core.quantity import parse_ratio


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


def hit_rate_of(text: str) -> float:
    """The wanted hit rate; raises `UsageError` where it is none."""
    found = parse_ratio(text, "--hit-rate")
    if not 0 < found < 1:
        raise UsageError(f"--hit-rate {text}: want a share between 0 and 1.", field="--hit-rate")
    return found
