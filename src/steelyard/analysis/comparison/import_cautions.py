"""What a reader must know of measurements that were made apart and then matched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from steelyard.core.experiment_results import Caution, Experiment

# Under which keys of the provenance an experiment keeps how it was matched.
MATCHED = "matched"
ONE_EXECUTION = "one_execution"
UNMATCHED = "unmatched"
HOSTS = "hosts"
# And which benchmarks of executions that ran several have no match.
LEFT_OUT = "benchmarks_left_out"
_SHOWN = 4


def matched_of(experiment: Experiment) -> Mapping[str, Any]:
    """How the experiment was matched from several files or experiments; empty if it was not."""
    found = experiment.provenance.get(MATCHED)
    return cast("Mapping[str, Any]", found) if isinstance(found, Mapping) else {}


def is_matched(experiment: Experiment) -> bool:
    """Whether its sides were measured apart and matched later."""
    return bool(matched_of(experiment))


def import_cautions(experiment: Experiment) -> Iterable[Caution]:
    """That sides were measured apart, on other hosts or in one execution, and what has no match."""
    missing = _texts(experiment.provenance.get(LEFT_OUT))
    if missing:
        yield _unmatched(missing, "program")
    matched = matched_of(experiment)
    if not matched:
        return
    yield Caution(
        "measured-apart",
        "The sides were measured at different times, so that a change of the machine cannot be "
        "told from a difference between them. `steelyard compare` runs both in blocks.",
    )
    hosts = _texts(matched.get(HOSTS))
    if len(set(hosts)) > 1:
        yield Caution(
            "other-host",
            f"The sides were measured on different machines: {', '.join(dict.fromkeys(hosts))}.",
        )
    single = _texts(matched.get(ONE_EXECUTION))
    if single:
        yield Caution(
            "one-execution",
            f"There is one execution of {_some(single)} on some side, so that intervals are made "
            "from its iterations. They hold for these executions; another start of the same "
            "program may be faster or slower. Name several files for each side.",
        )
    missing = _texts(matched.get(UNMATCHED))
    if missing:
        yield _unmatched(missing, "side")


def _unmatched(names: Sequence[str], of: str) -> Caution:
    verb = "is" if len(names) == 1 else "are"
    told = f"{_some(names)} {verb} left out, for not every {of} has {_it(names)}."
    return Caution("unmatched", told)


def _it(names: Sequence[str]) -> str:
    return "it" if len(names) == 1 else "them"


def _some(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    more = len(names) - _SHOWN
    shown = ", ".join(names[:_SHOWN])
    return shown if more <= 0 else f"{shown} and {more} more"


def _texts(value: Any) -> list[str]:
    items = cast("Sequence[Any]", value) if isinstance(value, list | tuple) else ()
    return [item for item in items if isinstance(item, str)]
