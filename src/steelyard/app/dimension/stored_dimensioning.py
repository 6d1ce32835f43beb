"""Stored dimensionings: kept when an initial experiment was answered, used for later counts."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from steelyard.app.dimension.dimensioning_key import DimensioningKey, changes, dimensioning_key
from steelyard.app.dimension.initial_command import dimension_command
from steelyard.core.errors import UsageError
from steelyard.core.experiment_results import Experiment
from steelyard.core.experiment_spec import ExperimentSpec
from steelyard.core.json_codec import to_json
from steelyard.core.repetition import DimensionedBy, MeanSquare, RepetitionLevel

if TYPE_CHECKING:
    from steelyard.app.dimension.dimension_data import Dimensioned, Question
    from steelyard.app.results.library import Library

# Kalibera and Jones, ISMM 2013, section 11: fewer "could hardly be used to get the variance right".
FEWEST_TOP_REPETITIONS = 5
ITERATION_LEVEL = "iteration"


@dataclass(frozen=True)
class Counts:
    """What an initial experiment of a variant has said.

    `counts` are those of the levels below `top_level`.
    """

    top_level: str
    counts: Mapping[str, int]
    by: DimensionedBy


def dimension_stored(
    library: Library,
    experiment: Experiment,
    variant: str | None,
    metric: str | None,
    question: Question,
) -> Dimensioned:
    """`dimension_experiment`, and the answer is kept in the store for later experiments."""
    from steelyard.app.dimension.dimension_data import dimension_experiment

    found = dimension_experiment(experiment, variant, metric, question)
    return replace(found, kept=keep_dimensioning(library, found, experiment))


def keep_dimensioning(library: Library, found: Dimensioned, experiment: Experiment) -> bool:
    """Keep an answer for later experiments of the same benchmark; whether there is one to keep.

    One about the iterations of a single execution is not: executions are always repeated.
    """
    from steelyard.analysis.dimensioning.dimensioning_agreement import mean_squares
    from steelyard.store.database import StoredDimensioning

    answer = found.answer
    names = [variant.name for variant in experiment.spec.variants]
    index = names.index(found.variant or "")
    key = dimensioning_key(experiment.spec, index, experiment.provenance)
    mean = answer.components.mean.estimate
    if key is None or not mean or answer.top_level in (None, ITERATION_LEVEL):
        return False
    if answer.counts_from != "optimum":
        return False
    result = {
        "experiment": experiment.spec.identifier,
        "variant": found.variant,
        "top_level": answer.top_level,
        "counts": _whole_counts(found),
        "costs_s": {p.level: p.cost_s for p in answer.plans if p.cost_s is not None},
        "squares": to_json(mean_squares(answer.components.levels, mean)),
    }
    library.store.save_dimensioning(
        StoredDimensioning(
            **key.digests(),
            metric=found.metric.name,
            created_unix_s=time.time(),
            identity=to_json(key.parts()),
            result=result,
        )
    )
    return True


def _whole_counts(found: Dimensioned) -> dict[str, int]:
    """The counts of all levels below the top one, also of those that were not repeated."""
    names = [level.level for level in found.answer.components.levels]
    below = names[names.index(found.answer.top_level or names[0]) + 1 :]
    return {name: found.answer.counts.get(name, 1) for name in below}


def dimensioned_spec(
    spec: ExperimentSpec, provenance: Mapping[str, Any], library: Library
) -> ExperimentSpec:
    """`spec` with the counts that initial experiments of its variants have found best.

    Each baseline must have been dimensioned; counts that are best for one system are best for
    the ratio of two alike (Kalibera and Jones, ISMM 2013, section 10.2). Where several variants
    were, the largest count of each level is taken.

    Raises
    ------
    UsageError
        There is none, or what it was about has changed: the message says what, and how to make
        it.
    """
    found: list[Counts] = []
    baselines = {group[0] for group in spec.groups()}
    for index in range(len(spec.variants)):
        key = dimensioning_key(spec, index, provenance)
        if key is None:
            continue
        counts = _stored_counts(spec, index, key, library)
        if counts is not None:
            found.append(counts)
        elif index in baselines:
            raise _missing(spec, index, key, library)
    top = spec.levels[0].name if spec.levels else "execution"
    for counts in found:
        if counts.top_level != top:
            raise UsageError(
                f"The initial experiment {counts.by.experiment} repeated {counts.top_level} at its "
                f"highest level, and this one repeats {top}. Dimension it with {top} repeated.",
                field="--dimensioned",
            )
    best = {
        name: max(counts.counts.get(name, 1) for counts in found)
        for name in dict.fromkeys(name for counts in found for name in counts.counts)
    }
    minimum = replace(spec.stopping, minimum_blocks=FEWEST_TOP_REPETITIONS)
    return replace(
        spec,
        levels=tuple(_counted(level, top, best) for level in spec.levels),
        iterations=spec.iterations
        and replace(spec.iterations, count=best.get(ITERATION_LEVEL, spec.iterations.count)),
        stopping=minimum if spec.stopping.runs is None else spec.stopping,
        dimensioned=tuple(counts.by for counts in found),
    )


def _counted(level: RepetitionLevel, top: str, best: Mapping[str, int]) -> RepetitionLevel:
    return level if level.name == top else replace(level, count=best.get(level.name, 1))


def _stored_counts(
    spec: ExperimentSpec, index: int, key: DimensioningKey, library: Library
) -> Counts | None:
    """The counts of one variant; None if it was not dimensioned as it is now."""
    digests = key.digests()
    stored = library.store.dimensionings(digests["benchmark"], spec.primary_metric.name)
    for item in stored:
        if all(getattr(item, name) == digest for name, digest in digests.items()):
            return _counts(spec.variants[index].name, item.result)
    return None


def _missing(
    spec: ExperimentSpec, index: int, key: DimensioningKey, library: Library
) -> UsageError:
    """That there are no counts for a variant, or what has changed since there were."""
    stored = library.store.dimensionings(key.digests()["benchmark"], spec.primary_metric.name)
    name = spec.variants[index].name
    command = dimension_command(spec, index)
    if not stored:
        return UsageError(
            f"No initial experiment of {name!r} ({spec.primary_metric.name}) is in the store, so "
            f"that its counts are not known. Make it first: `{command}`.",
            field="--dimensioned",
        )
    what = "; ".join(changes(stored[0].identity, key))
    return UsageError(
        f"The initial experiment {stored[0].result['experiment']} of {name!r} does not hold any "
        f"more: {what}. Make it anew: `{command}`.",
        field="--dimensioned",
    )


def _counts(variant: str, result: Mapping[str, Any]) -> Counts:
    squares = tuple(MeanSquare(**square) for square in result["squares"])
    by = DimensionedBy(variant, result["experiment"], squares)
    return Counts(result["top_level"], result["counts"], by)
