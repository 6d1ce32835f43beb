"""One variant of an experiment alone, for tools that compare file with file."""

from __future__ import annotations

from dataclasses import replace

from steelyard.core.errors import UsageError
from steelyard.core.experiment_results import Experiment

ALONE = "benchmark"


def one_side(experiment: Experiment, name: str) -> Experiment:
    """The experiment with the variants of one name alone, each called as its benchmark is.

    The files of two variants then have the same names in them, by which other tools match.

    Parameters
    ----------
    name : str
        Of a variant; beside its benchmark where there are several.

    Raises
    ------
    UsageError
        There is none of that name.
    """
    spec = experiment.spec
    chosen = [i for i, v in enumerate(spec.variants) if name in (v.side, v.name)]
    if not chosen:
        known = ", ".join(dict.fromkeys(repr(variant.side) for variant in spec.variants))
        raise UsageError(
            f"The experiment has no variant {name!r}. It has: {known}.", field="--variant"
        )
    places = {index: place for place, index in enumerate(chosen)}
    variants = [spec.variants[index] for index in chosen]
    names = [variant.benchmark or variant.group or ALONE for variant in variants]
    if len(set(names)) < len(names):
        names = [variant.name for variant in variants]
    return replace(
        experiment,
        spec=replace(
            spec,
            kind="measurement",
            variants=tuple(
                replace(variant, name=own, group=own, benchmark=own if len(names) > 1 else "")
                for variant, own in zip(variants, names, strict=True)
            ),
            gates=(),
        ),
        trials=tuple(
            replace(trial, variant=places[trial.variant])
            for trial in experiment.trials
            if trial.variant in places
        ),
    )
