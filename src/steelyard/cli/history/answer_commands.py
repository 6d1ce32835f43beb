"""`steelyard history acknowledge` and `snooze`: somebody knows of a change."""

from __future__ import annotations

from dataclasses import dataclass

import click

from steelyard.cli.console.output import write_json, write_text
from steelyard.cli.history.track_options import ChoiceOptions
from steelyard.cli.options.option_groups import group, option, takes
from steelyard.cli.options.shared_options import json_option, store_option
from steelyard.cli.store.opened_library import opened_library
from steelyard.core.quantity import parse_duration


@dataclass(frozen=True, kw_only=True)
class AnswerOptions:
    """What both take."""

    choice: ChoiceOptions = group(ChoiceOptions)
    note: str = option("--note", metavar="TEXT", default="", help="Why; reports show it.")
    store: str | None = store_option()
    json_target: str | None = json_option()


@dataclass(frozen=True, kw_only=True)
class SnoozeOptions:
    """What snooze takes."""

    duration: str = option(
        "--for", metavar="TIME", default="7d", show_default=True, help="For how long, such as 12h."
    )
    answer: AnswerOptions = group(AnswerOptions)


@click.command("acknowledge", short_help="Say that a change is known.")
@takes(AnswerOptions)
@click.argument("revision")
def acknowledge(given: AnswerOptions, revision: str) -> None:
    """Say that the changes at REVISION are known: no check tells of them again."""
    _answer(given, revision, None)


@click.command("snooze", short_help="Put a change off for a time.")
@takes(SnoozeOptions)
@click.argument("revision")
def snooze(given: SnoozeOptions, revision: str) -> None:
    """Put the changes at REVISION off: no check tells of them until the time is over."""
    _answer(given.answer, revision, _days(given.duration))


def _days(text: str) -> float:
    """A duration that may be in days or weeks too."""
    for suffix, hours in (("d", 24), ("w", 7 * 24)):
        number = text.removesuffix(suffix)
        if number != text and number.isdecimal() and len(number) < 6:
            return parse_duration(f"{int(number) * hours}h", "--for")
    return parse_duration(text, "--for")


def _answer(given: AnswerOptions, revision: str, snooze_s: float | None) -> None:
    from steelyard.app.history.answer_alarms import answer_alarm
    from steelyard.report.kinds.changes.answered import answer_document, answer_text

    with opened_library(given.store) as library:
        done = answer_alarm(revision, given.choice.chosen(), library, given.note, snooze_s)
    told = (done.revision, done.sort, done.until_unix_s, done.tracks)
    write_json(answer_document(*told), given.json_target)
    if given.json_target != "-":
        write_text(answer_text(*told))
