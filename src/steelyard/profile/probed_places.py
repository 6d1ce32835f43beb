"""Places of a program at which samples are taken: calls of functions, and static probes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from steelyard.core.errors import MissingCapabilityError, UsageError
from steelyard.core.sampled_events import SampledEvent
from steelyard.profile.symbols.function_lookup import file_of, find_function, split_place
from steelyard.profile.symbols.static_probes import static_probes

_Found = TypeVar("_Found")
_PROBE_TYPE_FILE = "/sys/bus/event_source/devices/uprobe/type"
# Where the kernel counts who listens to a static probe: 32 bits above the other flags.
_SEMAPHORE_SHIFT, _MOST_SEMAPHORE = 32, 2**32 - 1


def call_event(
    text: str, program: str, environment: Mapping[str, str | None] | None = None
) -> SampledEvent:
    """Calls of a function.

    Parameters
    ----------
    text : str
        As `find_function` takes it.
    program : str
        Its file.
    environment : mapping, optional
        What of the environment is changed for it.

    Raises
    ------
    UsageError
        There is no such function, or several.
    MissingCapabilityError
        The kernel has no probes in programs.
    """
    place = _of("--at-call", lambda: find_function(text, program, environment))
    return SampledEvent(
        f"calls of {split_place(text)[1]}", _probe_type("--at-call"), 0, place.path, place.offset
    )


def probe_event(
    text: str, program: str, environment: Mapping[str, str | None] | None = None
) -> SampledEvent:
    """Passes of a static probe, ``PROVIDER:NAME`` of the program or ``FILE:PROVIDER:NAME``.

    Raises
    ------
    UsageError
        There is no such probe.
    MissingCapabilityError
        The kernel has no probes in programs.
    """
    parts = text.split(":")
    if len(parts) not in (2, 3) or not all(parts):
        raise UsageError(
            f"A probe is PROVIDER:NAME or FILE:PROVIDER:NAME; it got {text!r}.", field="--at-probe"
        )
    path = program
    if len(parts) == 3:
        path = _of("--at-probe", lambda: file_of(parts[0], text, program, environment))
    known = static_probes(path)
    name = ":".join(parts[-2:])
    for probe in known:
        if probe.name != name:
            continue
        if probe.semaphore_offset > _MOST_SEMAPHORE:
            raise UsageError(
                f"The semaphore of {name} is behind the first 4 GiB of {path}: the kernel cannot "
                "switch that probe on.",
                field="--at-probe",
            )
        config = probe.semaphore_offset << _SEMAPHORE_SHIFT
        return SampledEvent(f"probe {name}", _probe_type("--at-probe"), config, path, probe.offset)
    names = ", ".join(dict.fromkeys(probe.name for probe in known)) or "none"
    raise UsageError(f"{path} has no probe {name!r}. It has: {names}.", field="--at-probe")


def _probe_type(option: str) -> int:
    """The kernel's number of probes in programs."""
    try:
        with open(_PROBE_TYPE_FILE, encoding="ascii") as file:
            return int(file.read())
    except (OSError, ValueError):
        raise MissingCapabilityError(
            "This kernel has no probes in programs (CONFIG_UPROBE_EVENTS), or a container hides "
            f"/sys: {option} needs them.\nRecord by time (without {option}) instead.",
            field=option,
        ) from None


def _of(option: str, look_up: Callable[[], _Found]) -> _Found:
    """What is looked up; a refusal names this option."""
    try:
        return look_up()
    except UsageError as error:
        raise UsageError(error.message, field=option) from None
