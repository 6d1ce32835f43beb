"""Options about tracks that several commands of the history take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from steelyard.cli.options.option_groups import option

if TYPE_CHECKING:
    from steelyard.app.history.stored_tracks import Chosen


@dataclass(frozen=True, kw_only=True)
class ChoiceOptions:
    """Which tracks."""

    benchmarks: tuple[str, ...] = option(
        "--benchmark",
        metavar="PATTERN",
        multiple=True,
        help="Take these benchmarks alone, such as 'sort*'. Repeatable.",
    )
    metrics: tuple[str, ...] = option(
        "--metric", metavar="PATTERN", multiple=True, help="Take these metrics alone. Repeatable."
    )
    hosts: tuple[str, ...] = option(
        "--host", metavar="PATTERN", multiple=True, help="Take these hosts alone. Repeatable."
    )
    branch: str | None = option("--branch", metavar="NAME", help="Take this branch alone.")

    def chosen(self) -> Chosen:
        """The choice for use cases."""
        from steelyard.app.history.stored_tracks import Chosen

        return Chosen(self.benchmarks, self.metrics, self.hosts, self.branch)
