"""Run a program on a quiet machine, and put back what a quiet session left changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from steelyard.core.errors import HostError

if TYPE_CHECKING:
    from steelyard.host.restore import Restored


@dataclass(frozen=True)
class QuietRequest:
    """How the machine is to be quiet.

    Parameters
    ----------
    knobs : tuple of str
        Those to set; ``all`` and ``default`` stand for several.
    cpus : str or None
        Those to measure on, as the kernel lists CPUs; None: all.
    services : tuple of str
        Those to stop meanwhile.
    realtime_priority : int
        For the knob of that name.
    """

    knobs: tuple[str, ...]
    cpus: str | None = None
    services: tuple[str, ...] = ()
    realtime_priority: int = 10


def run_quietly(argv: Sequence[str], asked: QuietRequest, say: Callable[[str], None]) -> int:
    """Run `argv` on a quiet machine, put the machine back, and give the program's exit status.

    Raises
    ------
    UsageError
        A knob is unknown, or `cpus` is no list of CPUs.
    HostError
        A knob cannot be set, or could not be put back.
    """
    from steelyard.host.cpu_list import parse_cpu_list
    from steelyard.host.knob import Request
    from steelyard.host.quiet import quiet
    from steelyard.host.quiet_launch import run_command
    from steelyard.report.kinds.host.text import quiet_lines

    request = Request(
        cpus=None if asked.cpus is None else parse_cpu_list(asked.cpus),
        services=asked.services,
        realtime_priority=asked.realtime_priority,
    )
    with quiet(asked.knobs, request) as state:
        for line in quiet_lines(state):
            say(line)
        exit_status = run_command(argv, state.launch_changes)
    if state.restored is not None and state.restored.failures:
        name, reason = state.restored.failures[0]
        raise HostError(
            f"The knob {name} could not be put back: {reason}. It stays in the journal; mend "
            "the cause and run `steelyard host restore`."
        )
    return exit_status


def restore_machine() -> tuple[Restored, str]:
    """Put back what a session left changed; also the journal that holds what stays."""
    from steelyard.host.host_journal import default_journal_path
    from steelyard.host.restore import restore_host

    return restore_host(), default_journal_path()
