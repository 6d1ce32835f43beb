"""Options about how changes are looked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from steelyard.cli.history.track_options import ChoiceOptions
from steelyard.cli.options.option_groups import option
from steelyard.core.quantity import parse_ratio

if TYPE_CHECKING:
    from steelyard.app.history.check import HistoryQuestion


@dataclass(frozen=True, kw_only=True)
class DetectionOptions:
    """How changes are looked for."""

    detector: str | None = option(
        "--detector",
        metavar="DETECTOR",
        help="How changes are found (default: weighed).",
    )
    false_alarms: str | None = option(
        "--false-alarms",
        metavar="RATIO",
        help="Changes found by chance, as a share of values (default: 0.0001).",
    )
    least_change: str | None = option(
        "--least-change",
        metavar="SHARE",
        help="Leave smaller changes out, such as 1% (default: 0).",
    )
    least_deviations: float | None = option(
        "--least-deviations",
        type=click.FloatRange(0.0, 1000.0),
        metavar="N",
        help="Leave steps out that are less than N standard deviations of the values (default: 1).",
    )
    newest: int = option(
        "--newest",
        type=click.IntRange(1, 100000),
        default=5,
        show_default=True,
        metavar="N",
        help="A change is new if it begins among this many newest values of its track.",
    )
    link: str | None = option(
        "--link",
        metavar="URL",
        help="Address of a commit with {revision} in it (default: from the repository's origin).",
    )

    def question(self, choice: ChoiceOptions, *, keep_points: bool = False) -> HistoryQuestion:
        """What is asked, for use cases."""
        from steelyard.app.history.check import HistoryQuestion
        from steelyard.app.history.commit_links import checked_template
        from steelyard.app.history.find_changes import asked_question

        rate = None
        if self.false_alarms is not None:
            rate = parse_ratio(self.false_alarms, "--false-alarms")
        least = 0.0
        if self.least_change is not None:
            least = parse_ratio(self.least_change, "--least-change")
        question = asked_question(
            self.detector,
            rate,
            self.newest,
            least_ratio=least,
            least_deviations=self.least_deviations,
            keep_points=keep_points,
        )
        return HistoryQuestion(choice.chosen(), question, checked_template(self.link))
