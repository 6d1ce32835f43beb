"""From the options of `profile record` to what is recorded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from steelyard.core.errors import UsageError
from steelyard.core.quantity import parse_duration, parse_size
from steelyard.core.rng import fresh_seed
from steelyard.profile.sampler import Recording

# Below this the kernel raises periods, and a sample costs more than the time between two.
SHORTEST_PERIOD_S = 20e-6


def recording_from(options: Mapping[str, Any]) -> Recording:
    """The recording that the options ask for.

    Raises
    ------
    UsageError
        They do not go together, or a time is none.
    """
    argv, process = options["argv"], options["pid"]
    if bool(argv) == (process is not None):
        raise UsageError(
            "Give either a program after -- or a running process with --pid.", field="command"
        )
    if options["keep"] is not None and options["rotate"] is None:
        raise UsageError("--keep goes with --rotate.", field="--keep")
    period_s = parse_duration(options["period"], "--period")
    if period_s < SHORTEST_PERIOD_S:
        raise UsageError(
            f"--period must be at least 20 µs; it got {options['period']!r}.", field="--period"
        )
    duration, rotate = options["duration"], options["rotate"]
    return Recording(
        output=options["output"],
        argv=tuple(argv),
        process=process,
        period_ns=period_s * 1e9,
        spread=options["spread"],
        ratio=options["ratio"],
        seed=fresh_seed() if options["seed"] is None else options["seed"],
        event=options["event"],
        stacks=options["stacks"],
        threads_only=options["threads_only"],
        duration_s=None if duration is None else parse_duration(duration, "--duration"),
        rotate_bytes=0 if rotate is None else parse_size(rotate, "--rotate"),
        keep_files=options["keep"] or 0,
    )
