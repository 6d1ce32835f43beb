"""From the options of `profile record` to what is recorded."""

from __future__ import annotations

from steelyard.app.profile.event_recording import EventsAsked
from steelyard.app.profile.record_profile import Recording
from steelyard.cli.options.idle_options import all_but, refuse_idle
from steelyard.cli.profile.record_options import RecordOptions
from steelyard.core.errors import UsageError
from steelyard.core.quantity import parse_duration, parse_size
from steelyard.core.rng import fresh_seed
from steelyard.core.sampled_events import SOFTWARE_EVENTS

# Below this the kernel raises periods, and a sample costs more than the time between two.
SHORTEST_PERIOD_NS = 20_000
# The kernel takes no times of centuries; nobody waits for a sample so long as this.
LONGEST_PERIOD_NS = 3600 * 10**9
# What says when samples fall, where they are not events.
_OF_TIMES = {"period", "spread", "ratio", "seed", "threads_only"}
# What a file's length can be.
_LARGEST_FILE_BYTES = 2**63 - 1


def recording_from(given: RecordOptions, argv: tuple[str, ...]) -> Recording:
    """The recording that the options ask for.

    Raises
    ------
    UsageError
        They do not go together, or a time is none.
    """
    process = given.pid
    if bool(argv) == (process is not None):
        raise UsageError(
            "Give either a program after -- or a running process with --pid.", field="command"
        )
    if given.keep is not None and given.rotate is None:
        raise UsageError("--keep goes with --rotate.", field="--keep")
    if given.spread != "uniform":
        refuse_idle("to --spread but uniform", all_but({"ratio"}))
    if asked_events(given) is not None:
        refuse_idle("to samples of events", all_but(_OF_TIMES))
    elif given.every is not None:
        raise UsageError(
            "--every goes with events: --at-call, --at-probe or --event "
            f"{', '.join(SOFTWARE_EVENTS)}.",
            field="--every",
        )
    if not given.output:
        raise UsageError("--output is empty: name the file of the profile.", field="--output")
    return Recording(
        output=given.output,
        argv=argv,
        process=process,
        period_ns=_period_ns(given.period),
        spread=given.spread,
        ratio=given.ratio,
        seed=fresh_seed() if given.seed is None else given.seed,
        event="cycles" if given.event == "cycles" else "cpu-clock",
        stacks=given.stacks,
        threads_only=given.threads_only,
        duration_s=None if given.duration is None else parse_duration(given.duration, "--duration"),
        rotate_bytes=_rotate_bytes(given.rotate),
        keep_files=given.keep or 0,
    )


def asked_events(given: RecordOptions) -> EventsAsked | None:
    """The events that are samples; None: looks at times are.

    Raises
    ------
    UsageError
        Both are asked for, or events that do not go with another option.
    """
    software = tuple(name for name in (given.event,) if name in SOFTWARE_EVENTS)
    if not (software or given.at_call or given.at_probe):
        return None
    if given.event == "cycles":
        raise UsageError(
            "--event cycles takes samples by cycles: record those, or events, but not both.",
            field="--event",
        )
    if given.paths == "auto":
        raise UsageError(
            "--paths auto learns from samples by time. Learn a map with `steelyard profile paths "
            "learn`, and give that.",
            field="--paths",
        )
    return EventsAsked(software, given.at_call, given.at_probe, given.every or 1)


def _period_ns(text: str) -> float:
    # 20us is a little less than 20e-6 seconds: whole nanoseconds are compared.
    period_ns = parse_duration(text, "--period") * 1e9
    if not SHORTEST_PERIOD_NS - 0.5 <= period_ns <= LONGEST_PERIOD_NS:
        raise UsageError(
            f"--period must be at least 20 µs and at most 1 h; it got {text!r}.", field="--period"
        )
    return float(round(period_ns))


def _rotate_bytes(text: str | None) -> int:
    if text is None:
        return 0
    size_bytes = parse_size(text, "--rotate")
    if size_bytes > _LARGEST_FILE_BYTES:
        raise UsageError(f"--rotate is more than a file can hold: {text!r}.", field="--rotate")
    return size_bytes
