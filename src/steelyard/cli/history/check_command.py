"""`steelyard history check`: what is new, confirmed by a run, with a gate for CI."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from steelyard.cli.console.output import (
    refuse_nowhere,
    shown_text,
    terminal_width,
    write_data,
    write_json,
    write_note,
    write_text,
)
from steelyard.cli.history.detection_options import DetectionOptions
from steelyard.cli.history.track_options import ChoiceOptions
from steelyard.cli.options.option_groups import group, option, takes
from steelyard.cli.options.shared_options import json_option, store_option, wait_option
from steelyard.cli.store.opened_library import opened_library, warn
from steelyard.core.errors import UsageError
from steelyard.core.quantity import parse_duration, parse_ratio

if TYPE_CHECKING:
    from steelyard.app.history.history_check import FoundChanges, HistoryGate
    from steelyard.app.results.library import Library

GATE_STATUS = 1
DIRECTIONS = {
    "worse": "worse",
    "better": "better",
    "any": "any",
    "slower": "worse",
    "faster": "better",
}
HELP = """
Report changes, and fail where a new one is what --fail-if says.

An alarm is confirmed before anyone is told of it: the revision is built and run against the last
one without the change, in blocks. --run and --build say how; --no-confirm leaves that out.

\b
steelyard history check --build make --run ./bench --fail-if worse:2%
steelyard history check --no-confirm --fail-if worse
steelyard history check --import results.csv --json -
"""


@dataclass(frozen=True, kw_only=True)
class ConfirmOptions:
    """How alarms are confirmed."""

    run: str | None = option(
        "--run", metavar="CMD", help="The benchmark's command, run in the build's directory."
    )
    build: str | None = option(
        "--build", metavar="COMMAND", help="Builds a revision, by a shell in a copy of its files."
    )
    measure: str | None = option(
        "--measure",
        metavar="METRIC",
        help="What is measured of it (default: the track's metric, else wall_time).",
    )
    budget: str | None = option(
        "--budget", metavar="TIME", help="Longest run for one alarm (default: 2m)."
    )
    repository: str | None = option(
        "--repository", metavar="DIR", help="The repository (default: of the working directory)."
    )
    parallel: bool = option(
        "--parallel",
        is_flag=True,
        help="Run both revisions at the same time, each on CPUs of its own.",
    )
    wait: bool = wait_option()
    no_confirm: bool = option(
        "--no-confirm", is_flag=True, help="Tell of alarms that no run has confirmed."
    )


@dataclass(frozen=True, kw_only=True)
class CheckOptions:
    """What check takes."""

    choice: ChoiceOptions = group(ChoiceOptions)
    detection: DetectionOptions = group(DetectionOptions)
    confirm: ConfirmOptions = group(ConfirmOptions)
    imported: tuple[str, ...] = option(
        "--import",
        metavar="FILE",
        multiple=True,
        help="Look at the tracks of this file alone, without the store or a run. Repeatable.",
    )
    format_name: str | None = option(
        "--format", metavar="NAME", help="The format of imported files (default: by content)."
    )
    fail_if: str | None = option(
        "--fail-if",
        metavar="worse[:SHARE]",
        help="Exit with status 1 where a new alarm is worse, better or any; by more than SHARE.",
    )
    digest: str | None = option(
        "--digest", metavar="FILE", help="Write alarms that were not told before as Markdown."
    )
    webhook: str | None = option(
        "--webhook", metavar="URL", help="Post alarms that were not told before to this address."
    )
    store: str | None = store_option()
    json_target: str | None = json_option()


@click.command("check", help=HELP, short_help="Report what is new; fail if asked to.")
@takes(CheckOptions)
def check(given: CheckOptions) -> int:
    """Find, confirm, tell, show, judge."""
    from steelyard.app.history.history_check import (
        changes_of_files,
        changes_of_library,
        gate_says_no,
    )

    gate = _gate(given.fail_if)
    _refuse_idle(given)
    refuse_nowhere(given.json_target, given.digest)
    asked = given.detection.question(given.choice)
    if given.imported:
        found = changes_of_files(given.imported, given.format_name, asked)
        _show(found, given)
        return GATE_STATUS if gate and gate_says_no(gate, found, confirmed_only=False) else 0
    confirms = given.confirm.run is not None
    with opened_library(given.store) as library:
        found = changes_of_library(asked, library)
        if confirms:
            found = _confirmed(found, given, library)
        _show(found, given)
        _tell(found, given, library, confirmed_only=confirms)
    return GATE_STATUS if gate and gate_says_no(gate, found, confirmed_only=confirms) else 0


def _refuse_idle(given: CheckOptions) -> None:
    """Refuse options that would do nothing, and telling of alarms that nothing confirms."""
    confirm = given.confirm
    if given.imported:
        for name, value in (
            *(("--run", confirm.run), ("--build", confirm.build), ("--digest", given.digest)),
            *(("--webhook", given.webhook), ("--store", given.store)),
            *(("--repository", confirm.repository), ("--measure", confirm.measure)),
            *(("--budget", confirm.budget), ("--wait", confirm.wait or None)),
            ("--parallel", confirm.parallel or None),
            ("--no-confirm", confirm.no_confirm or None),
        ):
            if value is not None:
                raise UsageError(f"{name} does not go with --import.", field=name)
        return
    if given.format_name is not None:
        raise UsageError("--format goes with --import only.", field="--format")
    if confirm.no_confirm and confirm.run is not None:
        raise UsageError("--no-confirm does not go with --run.", field="--no-confirm")
    tells = given.fail_if or given.digest or given.webhook
    if confirm.run is None and not confirm.no_confirm and tells:
        raise UsageError(
            "Alarms are confirmed by a run before anyone is told. Say how: --run CMD (and --build "
            "COMMAND), or --no-confirm.",
            field="--run",
        )
    if confirm.run is None:
        for name, value in (
            *(("--build", confirm.build), ("--measure", confirm.measure)),
            *(("--budget", confirm.budget), ("--repository", confirm.repository)),
            *(("--wait", confirm.wait or None), ("--parallel", confirm.parallel or None)),
        ):
            if value is not None:
                raise UsageError(f"{name} goes with --run only.", field=name)


def _gate(text: str | None) -> HistoryGate | None:
    from steelyard.app.history.history_check import HistoryGate

    if text is None:
        return None
    direction, separator, share = text.partition(":")
    if direction not in DIRECTIONS:
        raise UsageError(
            f"--fail-if takes {', '.join(DIRECTIONS)}, or worse:2%; it got {text!r}.",
            field="--fail-if",
        )
    beyond = parse_ratio(share, "--fail-if") if separator else 0.0
    return HistoryGate(DIRECTIONS[direction], beyond)


def _confirmed(found: FoundChanges, given: CheckOptions, library: Library) -> FoundChanges:
    from steelyard.app.history.history_check import (
        Confirming,
        confirming_repository,
        with_confirmations,
    )
    from steelyard.app.history.measured_revisions import RevisionCommands
    from steelyard.cli.weigh.weighing_request import place_from

    confirm = given.confirm
    budget_s = parse_duration(confirm.budget or "2m", "--budget")
    commands = RevisionCommands(
        confirm.run or "", confirm.build, confirm.measure, parallel=confirm.parallel
    )
    asked = Confirming(
        commands,
        confirming_repository(confirm.repository, found),
        place_from(given.store, confirm.wait),
        budget_s,
    )
    return with_confirmations(found, asked, library, write_note)


def _tell(
    found: FoundChanges, given: CheckOptions, library: Library, *, confirmed_only: bool
) -> None:
    """Write the digest and post to the webhook; both tell the same alarms, once."""
    if given.digest is None and given.webhook is None:
        return
    from steelyard.app.history.history_check import told_alarms
    from steelyard.app.history.tell_alarms import checked_address, keep_told, post, untold_alarms
    from steelyard.report.kinds.changes.document import changes_document
    from steelyard.report.kinds.changes.text import changes_markdown

    address = None if given.webhook is None else checked_address(given.webhook)
    alarms = untold_alarms(told_alarms(found, confirmed_only=confirmed_only), found, library)
    text = shown_text(changes_markdown(found, alarms))
    if given.digest is not None:
        write_data(text.encode("utf-8", "replace"), given.digest)
    if alarms and address is not None:
        post(address, text, changes_document(replace(found, alarms=tuple(alarms))))
    keep_told(alarms, found, library)


def _show(found: FoundChanges, given: CheckOptions) -> None:
    from steelyard.report.kinds.changes.document import changes_document
    from steelyard.report.kinds.changes.text import changes_text

    warn(found.cautions)
    write_json(changes_document(found), given.json_target)
    if given.json_target != "-" and given.digest != "-":
        write_text(changes_text(found, terminal_width()))
