"""`steelyard host`: what makes this machine noisy, making it quiet, and undoing that."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import click

from steelyard.cli.console.output import write_json, write_note, write_text
from steelyard.cli.host.study_command import study
from steelyard.cli.options.idle_options import all_but, refuse_idle
from steelyard.cli.options.option_groups import option, takes
from steelyard.cli.options.shared_options import json_option, store_option
from steelyard.core.errors import HostError, UsageError


def _cpus_option() -> str | None:
    return option(
        "--cpus",
        metavar="LIST",
        help="The CPUs to measure on, such as 2 or 2-3,6 (see each command).",
    )


@dataclass(frozen=True, kw_only=True)
class StatusOptions:
    """What status takes."""

    cpus: str | None = _cpus_option()
    store: str | None = store_option()
    json_target: str | None = json_option("Write JSON to FILE (- is standard output).")


@dataclass(frozen=True, kw_only=True)
class QuietOptions:
    """What quiet takes."""

    knobs: tuple[str, ...] = option(
        "--knob", metavar="NAME", multiple=True, help="Set this knob. Repeatable."
    )
    every: bool = option("--all", is_flag=True, help="Set every knob that can be set.")
    cpus: str | None = _cpus_option()
    services: tuple[str, ...] = option(
        "--stop-service",
        metavar="NAME",
        multiple=True,
        help="Stop this service meanwhile. Repeatable.",
    )
    realtime_priority: int = option(
        "--realtime-priority",
        type=click.IntRange(1, 99),
        default=10,
        show_default=True,
        help="For the knob realtime-priority.",
    )


@dataclass(frozen=True, kw_only=True)
class RestoreOptions:
    """What restore takes."""

    json_target: str | None = json_option("Write JSON to FILE (- is standard output).")


@click.group("host", short_help="What makes this machine noisy; making it quiet; undoing that.")
def command() -> None:
    """What makes this machine noisy, making it quiet, and undoing that."""


command.add_command(study)


@command.command("status")
@takes(StatusOptions)
def status(given: StatusOptions) -> None:
    """List what is known to disturb measurements here, how bad it is, and how to mend it."""
    from steelyard.app.host.host_state import host_state
    from steelyard.report.kinds.host.status_document import host_status_document
    from steelyard.report.kinds.host.text import plain_status, print_status, study_lines

    found = host_state(given.cpus, given.store)
    if given.json_target is not None:
        document = host_status_document(found.findings, found.facts, found.cpus, found.study)
        write_json(document, given.json_target)
    if given.json_target == "-":
        return
    if sys.stdout.isatty():
        from rich.console import Console

        print_status(found.findings, Console())
    else:
        write_text(plain_status(found.findings))
    if found.study is not None:
        write_text("\n" + "\n".join(study_lines(found.study)) + "\n")


@command.command("quiet")
@takes(QuietOptions)
@click.argument("argv", metavar="-- CMD...", nargs=-1, required=True, type=click.UNPROCESSED)
def quiet(given: QuietOptions, argv: tuple[str, ...]) -> int:
    """Run CMD on a quiet machine, then put the machine back as it was.

    Without --knob the knobs are those that help and cannot do harm. The exit status is that of
    CMD.
    """
    from steelyard.app.host.quiet_command import QuietRequest, run_quietly

    names = _names(given)
    if given.every and given.knobs:
        raise UsageError("--all sets every knob; it does not go with --knob.", field="--all")
    if not {"all", "realtime-priority"} & set(names):
        refuse_idle("without --knob realtime-priority", all_but({"realtime_priority"}))
    asked = QuietRequest(names, given.cpus, given.services, given.realtime_priority)
    # Standard output belongs to the program.
    return run_quietly(argv, asked, write_note)


@command.command("restore")
@takes(RestoreOptions)
def restore(given: RestoreOptions) -> int:
    """Put back what a session that was killed, or a power cut, left changed."""
    from steelyard.app.host.quiet_command import restore_machine
    from steelyard.report.kinds.host.restore_document import host_restore_document
    from steelyard.report.kinds.host.text import restored_lines

    restored, journal = restore_machine()
    write_json(host_restore_document(restored), given.json_target)
    if given.json_target != "-":
        write_text("\n".join(restored_lines(restored)) + "\n")
    if not restored.failures:
        return 0
    write_note(f"what could not be put back stays in {journal}")
    return HostError.exit_status


def _names(given: QuietOptions) -> tuple[str, ...]:
    chosen = ("all",) if given.every else given.knobs or ("default",)
    return (*chosen, "services") if given.services else chosen
