"""The lines of the DaCapo harness, which it writes to its standard error.

``===== DaCapo VERSION NAME completed warmup N in T msec =====`` and, for the last iteration,
``PASSED in T msec`` or ``FAILED``; the 2006 release has neither version nor number. As printed
by org.dacapo.harness.Callback of dacapobench/dacapobench.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from steelyard.core.errors import DataError
from steelyard.harness.adapter import ITERATION_TIME, Adapter, Series, Source

MARK = "===== DaCapo "


@dataclass
class _Execution:
    """The lines of one process so far."""

    benchmark: str
    number: int
    warmups_s: list[float] = field(default_factory=list)

    def ended(self, times_s: list[float], error: str | None = None) -> Series:
        return Series(
            self.benchmark,
            ITERATION_TIME,
            "s",
            (*self.warmups_s, *times_s),
            warmup_count=len(self.warmups_s),
            execution=self.number,
            error=error,
        )


def recognises(text: str) -> bool:
    """Whether any line is the harness's."""
    return MARK in text


def read(source: Source) -> tuple[Series, ...]:
    """Each sequence of warm-ups with the iteration that ends it is one execution."""
    line_of = re.compile(
        r"^===== DaCapo (?:\S+ )?(?P<name>\S+)"
        r"(?: completed (?P<warmup>warmup)(?: \d+)?| PASSED| (?P<failed>FAILED)(?: warmup)?)"
        r"(?: in (?P<ms>[0-9]{1,15}) msec)? =====",
        re.MULTILINE,
    )
    open_ones: dict[str, _Execution] = {}
    counts: dict[str, int] = {}
    series: list[Series] = []
    for match in line_of.finditer(source.text):
        name = match["name"]
        if name not in open_ones:
            open_ones[name] = _Execution(name, counts.get(name, 0))
            counts[name] = counts.get(name, 0) + 1
        execution = open_ones[name]
        if match["failed"]:
            number = len(execution.warmups_s) + 1
            series.append(execution.ended([], f"iteration {number} of {name} FAILED"))
            del open_ones[name]
        elif match["ms"] is None:
            raise DataError(
                f"{source.name}: the line {match[0]!r} has no time.", field="DaCapo's line"
            )
        elif match["warmup"]:
            execution.warmups_s.append(int(match["ms"]) / 1e3)
        else:
            series.append(execution.ended([int(match["ms"]) / 1e3]))
            del open_ones[name]
    series += [
        execution.ended([], f"{name} has no last iteration (PASSED): its output is cut off")
        for name, execution in open_ones.items()
    ]
    if not series:
        raise DataError(
            f"{source.name} has no line such as '{MARK}fop PASSED in 300 msec ====='. The harness "
            "writes them to standard error: run it with --shell and 2>&1.",
            field="DaCapo's lines",
        )
    return tuple(series)


EXTENSION = Adapter(
    name="dacapo",
    harness="the DaCapo harness",
    description="Its lines on standard error; all iterations but the last are its warm-up.",
    recognises=recognises,
    read=read,
)
