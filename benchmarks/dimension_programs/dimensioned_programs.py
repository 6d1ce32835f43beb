"""The programs of the suite that are dimensioned, and what their harnesses do by themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Default:
    """What a harness does unless told otherwise.

    Parameters
    ----------
    says : str
        In its words.
    execution_count, value_count : int
        Processes, and values in each.
    value_s : float or None
        How long the harness makes one value by repeating the benchmark inside it; None: once.
    warmup_s : float or None
        The warm-up of each process; None: the one that is used here.
    """

    says: str
    execution_count: int
    value_count: int
    value_s: float | None = None
    warmup_s: float | None = None


@dataclass(frozen=True)
class Program:
    """A program of the suite, with iterations as long as harnesses make them.

    The suite's own iterations take a few milliseconds, so that its sizes fit; those of the paper
    1.7 to 35.5 s (Kalibera and Jones, ISMM 2013, table 5). Here most take about half a second: by a
    larger text, or another word of the command. An iteration is dropped as warm-up where the first
    ones take longer by more than their interval: those that first make their memory grow do.

    Parameters
    ----------
    name, adapter : str
    default : Default
        Its harness's own design.
    text_count : int
        How often the text that it reads is repeated.
    words : mapping of int to str
        Words of its command that are other ones, by their place.
    warmup_count : int or None
        Iterations dropped; None: those that the harness calls warm-up.
    """

    name: str
    adapter: str
    default: Default
    text_count: int = 1
    words: Mapping[int, str] = field(default_factory=dict)
    warmup_count: int | None = None


# One kind of program keeps its data in the first caches, the other one does not; the latter share
# the last cache and the memory with whatever else the machine does.
PROGRAMS = (
    Program(
        "nbody",
        "json-lines",
        Default("1 execution of 450 iterations", 1, 450),
        words={3: "48000"},
        warmup_count=0,
    ),
    Program(
        "gbench-rays",
        "google-benchmark",
        Default("1 execution of 0.5 s, one value", 1, 1, 0.5, 0.0),
        words={2: "1350"},
        warmup_count=0,
    ),
    Program(
        "pyperf-queens",
        "pyperf",
        Default("20 processes of 3 values of 0.1 s, 1 warm-up", 20, 3, 0.1, 0.1),
        words={3: "13"},
    ),
    Program(
        "jvm-rhino",
        "json-lines",
        Default("1 execution of 45 iterations", 1, 45),
        words={8: "80"},
        warmup_count=5,
    ),
    Program(
        "hash-join",
        "json-lines",
        Default("1 execution of 500 iterations", 1, 500),
        words={2: "600000"},
        warmup_count=1,
    ),
    Program(
        "gbench-words",
        "google-benchmark",
        Default("1 execution of 0.5 s, one value", 1, 1, 0.5, 0.0),
        text_count=200,
        warmup_count=1,
    ),
    Program(
        "pyperf-words",
        "pyperf",
        Default("20 processes of 3 values of 0.1 s, 1 warm-up", 20, 3, 0.1, 0.1),
        text_count=210,
    ),
    Program(
        "jvm-xalan",
        "json-lines",
        Default("1 execution of 50 iterations", 1, 50),
        words={8: "20"},
        warmup_count=15,
    ),
)
