"""Options about how changes are looked for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from steelyard.cli.history.track_options import ChoiceOptions
from steelyard.cli.options.finite_range import FiniteRange
from steelyard.cli.options.option_groups import option
from steelyard.core.errors import UsageError
from steelyard.core.quantity import parse_ratio

if TYPE_CHECKING:
    from steelyard.app.history.find_changes import AlarmLimits
    from steelyard.app.history.history_check import HistoryQuestion


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
        type=FiniteRange(0.0, 1000.0),
        metavar="N",
        help="Leave out steps smaller than N standard deviations of the values (default: 1).",
    )
    alarms_a_week: float | None = option(
        "--alarms-a-week",
        type=FiniteRange(0.0, 1e6, min_open=True),
        metavar="N",
        help="Accept N false alarms a week over all tracks (in place of --false-alarms).",
    )
    false_discoveries: str | None = option(
        "--false-discoveries",
        metavar="SHARE",
        help="Report only changes of which at most this share is false, such as 5%.",
    )
    references: tuple[str, ...] = option(
        "--reference",
        metavar="BENCHMARK",
        multiple=True,
        help="A benchmark that no revision changes; if it moves, the host changed. Repeatable.",
    )
    recent: int | None = option(
        "--recent",
        type=click.IntRange(50, 10**9),
        metavar="N",
        help="Look for changes in the newest N values of each track (default: all).",
    )
    newest: int = option(
        "--newest",
        type=click.IntRange(1, 100000),
        default=5,
        show_default=True,
        metavar="N",
        help="A change is new if it is detected only with the newest N values.",
    )
    link: str | None = option(
        "--link",
        metavar="URL",
        help="Address of a commit with {revision} in it (default: from the repository's origin).",
    )

    def question(self, choice: ChoiceOptions, *, keep_points: bool = False) -> HistoryQuestion:
        """What is asked, for use cases."""
        from steelyard.app.history.commit_links import checked_template
        from steelyard.app.history.find_changes import asked_question
        from steelyard.app.history.history_check import HistoryQuestion

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
        question = replace(question, limits=self._limits(), recent_count=self.recent)
        return HistoryQuestion(choice.chosen(), question, checked_template(self.link))

    def _limits(self) -> AlarmLimits:
        from steelyard.app.history.find_changes import AlarmLimits

        if self.alarms_a_week is not None and self.false_alarms is not None:
            raise UsageError(
                "Give either --alarms-a-week or --false-alarms.", field="--alarms-a-week"
            )
        share = None
        if self.false_discoveries is not None:
            share = parse_ratio(self.false_discoveries, "--false-discoveries")
            if not 0.0 < share < 1.0:
                raise UsageError(
                    f"{self.false_discoveries} is no share between 0 and 1, such as 5%.",
                    field="--false-discoveries",
                )
        return AlarmLimits(self.references, self.alarms_a_week, share)
