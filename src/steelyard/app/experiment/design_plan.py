"""From an experiment file to an experiment's specification, and to what it will take."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from steelyard.app.experiment.asked_analysis import asked_text, check_asked
from steelyard.app.experiment.benchmark_request import benchmark_experiment, benchmark_request
from steelyard.app.experiment.design_points import experiment_design, point_text, skipped_points
from steelyard.app.experiment.experiment_entries import BenchmarkEntry, ExperimentFile, FactorEntry
from steelyard.app.experiment.experiment_repetition import PowerPlan, repetition
from steelyard.app.experiment.file_factors import checked_factor, nuisance_factor
from steelyard.app.experiment.level_share import drawn_levels, refuse_constrained
from steelyard.app.request.experiment_request import build_metrics
from steelyard.core.errors import UsageError
from steelyard.core.experiment_spec import ExperimentSpec, NuisanceFactor, Variant
from steelyard.core.identifier import new_identifier
from steelyard.core.quantity import parse_ratio
from steelyard.core.repetition import BUILD_LEVEL, EXECUTION_LEVEL, RepetitionLevel
from steelyard.core.rng import fresh_seed
from steelyard.design.design import Design
from steelyard.factors.kinds import FACTORS
from steelyard.factors.randomised_setups import BENCHMARK, at_setup, drawn_setup

if TYPE_CHECKING:
    from steelyard.app.suite.suite_program import Workshop


@dataclass(frozen=True)
class Plan:
    """What an experiment will do.

    Parameters
    ----------
    spec : ExperimentSpec
    factors : mapping of name to levels
        Those that are compared, with the benchmarks where there are several.
    nuisance : tuple of NuisanceFactor
    block_trial_count : int
        Trials in a block.
    block_count : int or None
        None: until the rule to stop is met.
    estimated_s : float or None
        None where no benchmark says what a trial takes.
    skipped : tuple of str
        Combinations that constraints forbid.
    design : Design or None
        With what it mixes up; None where nothing is varied.
    power : PowerPlan or None
        What the number of blocks was chosen for, where it was chosen for that.
    """

    spec: ExperimentSpec
    factors: Mapping[str, tuple[str, ...]]
    nuisance: tuple[NuisanceFactor, ...]
    block_trial_count: int
    block_count: int | None
    estimated_s: float | None
    skipped: tuple[str, ...]
    design: Design | None = None
    power: PowerPlan | None = None

    @property
    def trial_count(self) -> int | None:
        """Trials in all; None where the rule to stop decides."""
        return None if self.block_count is None else self.block_count * self.block_trial_count


def experiment_plan(file: ExperimentFile, workshop: Workshop | None = None) -> Plan:
    """The plan of an experiment file, whose programs of the suite `workshop` makes ready.

    Raises
    ------
    UsageError, UnknownNameError
        A factor, level, metric or program is none; the message names it.
    """
    seed = int(file.settings["seed"]) if "seed" in file.settings else fresh_seed()
    factors = tuple(drawn_levels(checked_factor(entry), seed) for entry in file.factors)
    drawn = (entry for entry in factors if entry.share is not None)
    held = {entry.name: entry.levels[0] for entry in drawn if len(entry.levels) == 1}
    compared = tuple(entry for entry in factors if entry.name not in held)
    nuisance = tuple(nuisance_factor(entry) for entry in file.nuisance)
    _check_names(file, factors)
    builds = any(FACTORS.get(f.factor).part == "build" for f in (*factors, *nuisance))
    draws_builds = any(FACTORS.get(f.factor).part == "build" for f in nuisance)
    design = experiment_design(file, compared, seed)
    points = [{}] if design is None else [design.levels_of(n) for n in range(len(design.points))]
    bases = [_alone(file, entry, workshop, builds=builds) for entry in file.benchmarks]
    variants: list[Variant] = []
    for entry, base in zip(file.benchmarks, bases, strict=True):
        for variant in (replace(each, setup=base.setup) for each in base.variants):
            name = variant.name if len(base.variants) > 1 else entry.name
            at_levels = replace(_at(variant, factors, held), name=name)
            variants += _variants(at_levels, held, compared, points, len(file.benchmarks))
    first = bases[0]
    if any(base.iterations != first.iterations for base in bases):
        # Harnesses that are not alike: whole executions are what all of them have.
        metrics = build_metrics(file.settings.get("metrics", ()))
        first = replace(first, iterations=None, metrics=metrics)
    levels = _factor_levels(file, compared)
    stopping, power = repetition(file.settings, compared, len(points))
    spec = _spec(file, first, variants, nuisance, draws_builds=draws_builds)
    varied = tuple(levels.items())
    spec = replace(spec, seed=seed, varied=varied, stopping=stopping, asked=asked_text(file))
    _check_effect(file, spec)
    check_asked(file, spec)
    for variant in spec.variants if draws_builds else ():
        at_setup(variant, spec, drawn_setup(spec, 0, 0), "build")  # Refuses what is not built.
    return Plan(
        spec=spec,
        factors=levels,
        nuisance=nuisance,
        block_trial_count=len(variants) * spec.trials_of_variant,
        block_count=spec.stopping.runs,
        estimated_s=_estimate(file, spec, len(variants) // max(1, len(file.benchmarks))),
        skipped=skipped_points(file, compared, design),
        design=design,
        power=power,
    )


def _alone(
    file: ExperimentFile, entry: BenchmarkEntry, workshop: Workshop | None, *, builds: bool
) -> ExperimentSpec:
    """The experiment of one benchmark, with nothing varied."""
    if entry.package:
        from steelyard.app.experiment.packaged_benchmark import packaged_experiment

        return packaged_experiment(file, entry)
    return benchmark_experiment(benchmark_request(file, entry, builds=builds), entry, workshop)


def _check_effect(file: ExperimentFile, spec: ExperimentSpec) -> None:
    """Refuse an effect to stop by that the design does not have."""
    if not spec.stopping.effect:
        return
    if file.constraints:
        raise UsageError(
            f"{file.path}: with constraints the levels of {spec.stopping.effect!r} do not go with "
            "the same levels of the others, so that its ratio mixes effects. Leave out `effect`.",
            field="experiment.effect",
        )
    from steelyard.analysis.comparison.named_effect import effect_sides

    effect_sides(spec, spec.groups()[0], spec.stopping.effect)


def _check_names(file: ExperimentFile, factors: Sequence[FactorEntry]) -> None:
    names = [entry.name for entry in (*factors, *file.nuisance)]
    for name in names:
        if names.count(name) > 1 or name == BENCHMARK:
            raise UsageError(f"{file.path}: the factor {name!r} is named twice.", field="factor")
    benchmarks = [entry.name for entry in file.benchmarks]
    for name in benchmarks:
        if benchmarks.count(name) > 1:
            raise UsageError(
                f"{file.path}: two benchmarks are called {name!r}. Give each a `name` of its own.",
                field="benchmark",
            )
    refuse_constrained(file.path, factors, file.constraints)
    for constraint in file.constraints:
        for name in (*constraint.when, *constraint.forbid):
            if name not in [entry.name for entry in factors]:
                raise UsageError(
                    f"{file.path}: a constraint names {name!r}, which is no factor. Factors: "
                    f"{', '.join(entry.name for entry in factors)}.",
                    field="constraint",
                )


def _at(base: Variant, factors: Sequence[FactorEntry], levels: Mapping[str, str]) -> Variant:
    """A variant where factors have levels."""
    variant = base
    for entry in factors:
        if entry.name in levels:
            kind = FACTORS.get(entry.factor)
            variant = kind.at(variant, levels[entry.name], entry.name, entry.texts)
    return variant


def _variants(
    base: Variant,
    held: Mapping[str, str],
    factors: Sequence[FactorEntry],
    points: Sequence[Mapping[str, str]],
    benchmark_count: int,
) -> Iterator[Variant]:
    """A variant for each point, which says at what level factors are held for all of them."""
    name, several = base.name, benchmark_count > 1 or bool(base.group)
    for point in points:
        parameters = (((BENCHMARK, name),) if several else ()) + tuple(point.items())
        told = {**point, **held}
        yield replace(
            _at(base, factors, point),
            name=f"{name} ({point_text(told)})" if told else name,
            parameters=parameters,
            group=name if several else "",
        )


def _spec(
    file: ExperimentFile,
    first: ExperimentSpec,
    variants: Sequence[Variant],
    nuisance: tuple[NuisanceFactor, ...],
    *,
    draws_builds: bool,
) -> ExperimentSpec:
    settings = file.settings
    return replace(
        first,
        identifier=new_identifier(time.time_ns() // 1_000_000),
        kind="comparison" if len(variants) > len({v.group for v in variants}) else "measurement",
        variants=tuple(variants),
        setup=None,  # Of each benchmark's own variants.
        warmup_count=int(settings.get("warmup", 0)),
        confidence=parse_ratio(str(settings.get("confidence", "95%")), "experiment.confidence"),
        quiet=tuple(settings.get("quiet", ())),
        note=settings.get("name", file.path),
        levels=_levels(settings, draws_builds=draws_builds),
        nuisance=nuisance,
        setup_each=settings.get("setup_each", "block"),
        order=settings.get("order", "blocks"),
    )


def _levels(settings: Mapping[str, Any], *, draws_builds: bool) -> tuple[RepetitionLevel, ...]:
    """Builds are a level where their layout is drawn; executions where they are repeated."""
    repeat = settings.get("repeat", {})
    if not isinstance(repeat, dict) or set(repeat) - {EXECUTION_LEVEL}:
        raise UsageError(
            "repeat takes executions in a block, such as {execution = 3}.", field="repeat"
        )
    executions = int(repeat.get(EXECUTION_LEVEL, 1))
    if draws_builds:
        return (RepetitionLevel(BUILD_LEVEL), RepetitionLevel(EXECUTION_LEVEL, executions))
    if executions > 1:
        # A block is a setup, within which executions are repeated.
        return (RepetitionLevel("setup"), RepetitionLevel(EXECUTION_LEVEL, executions))
    return ()


def _factor_levels(
    file: ExperimentFile, factors: Sequence[FactorEntry]
) -> dict[str, tuple[str, ...]]:
    found = {entry.name: entry.levels for entry in factors}
    if len(file.benchmarks) > 1:
        return {BENCHMARK: tuple(entry.name for entry in file.benchmarks), **found}
    return found


def _estimate(file: ExperimentFile, spec: ExperimentSpec, points: int) -> float | None:
    """Seconds for all trials, from what the benchmarks say of one."""
    times = [entry.expected_s for entry in file.benchmarks]
    blocks, budget_s = spec.stopping.runs, spec.stopping.budget_s
    known = [value for value in times if value is not None]
    if blocks is None or len(known) < len(times):
        return budget_s
    whole_s = sum(known) * points * spec.trials_of_variant * blocks
    return whole_s if budget_s is None else min(whole_s, budget_s)
