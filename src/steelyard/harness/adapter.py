"""What an iteration adapter is: from a harness's text to iterations by benchmark and metric."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from steelyard.core.decoding import decoding
from steelyard.core.errors import DataError
from steelyard.core.experiment_spec import Direction
from steelyard.core.registry import Registry
from steelyard.core.units import LARGEST_VALUE

ITERATION_TIME = "iteration_time"
HEAD_CHARACTERS = 65536


@dataclass(frozen=True)
class Series:
    """The iterations of one benchmark and one metric in one execution, in their order.

    Parameters
    ----------
    benchmark : str
        As the harness names it, with its parameters; empty where it has no name.
    metric : str
        ``iteration_time`` for the time of an iteration, in seconds; else the harness's own
        name of what it measures.
    unit : str
        ``"s"``, ``"bytes"``, ``"count"`` or the harness's own.
    values : tuple of float
        All of them, those of the warm-up first.
    warmup_count : int
        How many at the start the harness itself calls warm-up.
    direction : str
        Whether ``"lower"`` or ``"higher"`` is better.
    execution : int
        Which process of the harness they come from, from 0: a fork of JMH, a run of pyperf.
    error : str or None
        What went wrong, where the harness says that this benchmark failed; the values are
        those before it.
    fault : str or None
        Why this metric alone has no values that can be used: those who ask for it are told so,
        and the others lose nothing.
    """

    benchmark: str
    metric: str
    unit: str
    values: tuple[float, ...]
    warmup_count: int = 0
    direction: Direction = "lower"
    execution: int = 0
    error: str | None = None
    fault: str | None = None


@dataclass(frozen=True)
class Source:
    """What is to be read.

    Parameters
    ----------
    text : str
        All that the harness wrote.
    name : str
        Of the file, for messages.
    pattern : str or None
        What the user gave to an adapter that takes a pattern.
    """

    text: str
    name: str
    pattern: str | None = None


def text_of(data: bytes) -> str:
    """What a harness wrote, as text, without the byte order mark that some programs put first."""
    return data.decode("utf-8-sig", "replace")


@dataclass(frozen=True)
class Metric:
    """A metric that an adapter gives under a fixed name."""

    name: str
    unit: str
    direction: Direction = "lower"


@dataclass(frozen=True)
class Adapter:
    """A way in which some harness writes its iterations.

    Parameters
    ----------
    name : str
        What ``--iterations`` takes.
    harness : str
        Whose output it is, as a person says it.
    description : str
        What exactly is read, in one sentence.
    recognises : callable
        Whether the first `HEAD_CHARACTERS` of a text look like it. Narrow: it is asked of every
        other tool's output too.
    read : callable
        Gives the series of a `Source`, at least one. Raises DataError that names the file and
        the field or line.
    metrics : tuple of Metric
        Those that need no unit from the user, the usual one first.
    one_execution : str
        How the harness is told to run one process only; empty where it never runs several.
    takes_pattern : bool
        Whether ``--iterations NAME:`` is followed by a pattern and not by a file.
    """

    name: str
    harness: str
    description: str
    recognises: Callable[[str], bool]
    read: Callable[[Source], tuple[Series, ...]]
    metrics: tuple[Metric, ...] = (Metric(ITERATION_TIME, "s"),)
    one_execution: str = ""
    takes_pattern: bool = False


def read_series(adapter: Adapter, source: Source, others: Registry[Adapter]) -> tuple[Series, ...]:
    """What `adapter` finds in `source`.

    Parameters
    ----------
    others : Registry
        Adapters whose output it could be instead, for the message.

    Raises
    ------
    DataError
        The text is empty, or not what the harness writes; the message names the file, the field
        and the harness that the text looks like.
    """
    if not source.text.strip():
        raise DataError(f"{source.name} is empty, so it holds no iterations.", field="file")
    try:
        with decoding(f"{source.name} is not what {adapter.harness} writes"):
            series = adapter.read(source)
        for item in series:
            _check_values(item, source.name)
        return series
    except DataError as error:
        found = recognised(source.text, others)
        if not found or found == adapter.name or adapter.recognises(source.text[:HEAD_CHARACTERS]):
            raise
        looks = others.get(found)
        raise DataError(
            f"{error.message} It looks like the output of {looks.harness}: try the adapter "
            f"{looks.name!r}.",
            field=error.field,
        ) from None


def _check_values(item: Series, source: str) -> None:
    """Refuse values that are too large to be reckoned with, in our units, and negative times."""
    largest = max(map(abs, item.values), default=0.0)
    if largest > LARGEST_VALUE:
        raise DataError(
            f"{source}: a value of {item.metric} must be at most {LARGEST_VALUE:.0e} {item.unit} "
            f"to be plausible, not {largest:g}.",
            field=item.metric,
        )
    smallest = min(item.values, default=0.0)
    if item.unit == "s" and smallest < 0:
        raise DataError(
            f"{source}: a value of {item.metric} must be 0 or above, as a time, not {smallest:g}.",
            field=item.metric,
        )


def recognised(text: str, adapters: Registry[Adapter]) -> str | None:
    """The name of the adapter whose harness's output `text` looks like."""
    head = text[:HEAD_CHARACTERS]
    return next((adapter.name for adapter in adapters if adapter.recognises(head)), None)


def select(series: Sequence[Series], benchmark: str | None, source: str) -> list[Series]:
    """The series of one benchmark.

    Raises
    ------
    DataError
        `benchmark` is not there, or is not given and there are several.
    """
    names = list(dict.fromkeys(item.benchmark for item in series))
    shown = ", ".join(map(repr, names))
    if benchmark is None and len(names) > 1:
        raise DataError(
            f"{source} holds several benchmarks: {shown}. Name one with --benchmark.",
            field="--benchmark",
        )
    chosen = names[0] if benchmark is None else benchmark
    if chosen not in names:
        raise DataError(
            f"{source} holds no benchmark {benchmark!r}, but {shown}.", field="--benchmark"
        )
    return [item for item in series if item.benchmark == chosen]
