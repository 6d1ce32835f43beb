"""`steelyard profile`: where a program spends its time, by samples at random times."""

from __future__ import annotations

import click

from steelyard.cli.console.output import (
    terminal_width,
    write_data,
    write_json,
    write_note,
    write_page,
    write_text,
)
from steelyard.cli.options.idle_options import all_but, refuse_idle
from steelyard.cli.options.option_groups import takes
from steelyard.cli.profile.agree_command import agree
from steelyard.cli.profile.check_command import check
from steelyard.cli.profile.paths_command import paths
from steelyard.cli.profile.record_options import (
    DEFAULT_OUTPUT,
    ProfileReportOptions,
    RecordOptions,
    most_named,
)
from steelyard.core.errors import UsageError


@click.group("profile", short_help="Where a program spends its time, by samples at random times.")
def command() -> None:
    """Where a program spends its time, by samples at random times."""


@command.command("record")
@takes(RecordOptions)
@click.argument("argv", metavar="[-- CMD...]", nargs=-1, type=click.UNPROCESSED)
def record(given: RecordOptions, argv: tuple[str, ...]) -> int:
    """Record where CMD, or a process that runs already, spends its time.

    The exit status is that of CMD.
    """
    from steelyard.app.profile.record_profile import record_profile
    from steelyard.cli.profile.path_alerts import shown_alerts
    from steelyard.cli.profile.record_request import asked_events, recording_from

    recording = recording_from(given, argv)
    if (events := asked_events(given)) is not None:
        from steelyard.app.profile.event_recording import with_events

        recording = with_events(recording, events)
    with shown_alerts(given) as told:
        if given.paths is None:
            summary = record_profile(recording, write_note, given.java)
        else:
            from steelyard.app.profile.path_recording import PathsAsked, record_paths

            asked = PathsAsked(
                given.paths,
                given.library_frames,
                given.walk_ambiguous,
                watch=told.tell if given.watch else None,
            )
            summary = record_paths(recording, asked, write_note, given.java)
    write_note(
        f"{summary['samples']} samples in {recording.output}; "
        f"`steelyard profile report {recording.output}` shows them."
    )
    status = 128 + summary["signal"] if "signal" in summary else summary.get("exit_code", 0)
    return status or int(told.count > 0)


@command.command("report")
@takes(ProfileReportOptions)
@click.argument("path", metavar="[FILE]", default=DEFAULT_OUTPUT)
def report(given: ProfileReportOptions, path: str) -> None:
    """Show a profile: each function's share of the time with its interval, and whether the samples
    came at random times.
    """
    from steelyard.app.profile.path_profile import is_path_profile
    from steelyard.app.profile.record_profile import exported_profile, read_answer

    format_name, output, json_target = given.format_name, given.output, given.json_target
    if (format_name is None) != (output is None):
        raise UsageError("--format and --output go together.", field="--format")
    if output == json_target == "-":
        raise UsageError("Only one of -o and --json can be standard output.", field="--json")
    most_named(given)
    if given.path_map is not None or is_path_profile(path):
        from steelyard.cli.profile.path_report import report_paths

        report_paths(path, given)
        return
    refuse_idle("to a profile without --paths", all_but({"static", "candidates"}))
    answer = read_answer(path, given.confidence, given.apart)
    if format_name is not None and output is not None:
        write_data(exported_profile(answer, format_name), output)
    if given.html_target is not None:
        from steelyard.report.kinds.profile.page import profile_page

        write_page(profile_page(answer), given.html_target)
    if json_target is not None:
        from steelyard.report.kinds.profile.document import profile_document

        write_json(profile_document(answer), json_target)
    if "-" in (output, json_target):
        return
    from steelyard.report.kinds.profile.text import profile_text

    write_text(profile_text(answer, terminal_width()))


command.add_command(agree)
command.add_command(check)
command.add_command(paths)
