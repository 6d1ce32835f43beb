"""A plan as text for people."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Protocol

from steelyard.core.experiment_spec import NuisanceFactor, Variant
from steelyard.core.units import format_duration
from steelyard.design.design import Design
from steelyard.report.texts.readable import one_line

_SHOWN = 12


def nuisance_text(factor: NuisanceFactor) -> str:
    """What a nuisance factor draws from."""
    if factor.levels:
        return f"one of {', '.join(map(one_line, factor.levels))}"
    options = ", ".join(f"{name} {value}" for name, value in factor.options)
    return f"at random ({options})" if options else "at random"


def design_lines(design: Design | None) -> list[str]:
    """The kind of the design, and which effects it cannot tell from one another."""
    if design is not None and design.efficiency_ratio is not None:
        return [f"design     {design.kind}: {_chosen(design)}"]
    if design is None or not design.aliases:
        return [] if design is None else [f"design     {design.kind}"]
    resolution = "" if design.resolution is None else f", resolution {design.resolution}"
    lines = [f"design     {design.kind}{resolution}: {'; '.join(design.generators)}".rstrip(": ")]
    for alias in design.aliases[:_SHOWN]:
        others = " ".join(
            _signed(name, weight) for name, weight in zip(alias.others, alias.weights, strict=True)
        )
        lines.append(f"aliased    {alias.effect} with {others}")
    if len(design.aliases) > _SHOWN:
        lines.append(f"aliased    {len(design.aliases) - _SHOWN} more effects (--json has all)")
    return lines


def _chosen(design: Design) -> str:
    """How many points were chosen, for which effects, and how much they tell."""
    order = design.model_order or 1
    effects = "main effects" if order == 1 else f"interactions of up to {order} factors"
    return (
        f"{len(design.points)} combinations for {effects} alone, "
        f"D-efficiency {100 * (design.efficiency_ratio or 0.0):.1f} %"
    )


class Power(Protocol):
    """What a number of runs was chosen for."""

    @property
    def effect(self) -> str: ...
    @property
    def change_ratio(self) -> float: ...
    @property
    def variation_ratio(self) -> float: ...
    @property
    def power(self) -> float: ...
    @property
    def runs(self) -> int: ...


def power_lines(power: Power | None) -> list[str]:
    """Why so many runs."""
    if power is None:
        return []
    return [
        f"power      {power.runs} runs find a change of {100 * power.change_ratio:.3g}% between "
        f"levels of {one_line(power.effect)} in {100 * power.power:.0f}% of experiments, if a "
        f"trial varies by {100 * power.variation_ratio:.3g}%"
    ]


def refusal_lines(messages: Sequence[str]) -> list[str]:
    """Why a run would be refused on this machine."""
    return [f"refused    {one_line(message)}" for message in messages]


def _signed(name: str, weight: float) -> str:
    size = "" if abs(weight) == 1 else f"{abs(weight):.2g} "
    return f"{'+' if weight > 0 else '-'} {size}{name}"


def plan_lines(
    factors: Mapping[str, Sequence[str]],
    nuisance: Sequence[NuisanceFactor],
    skipped: Sequence[str],
    setup_each: str,
) -> list[str]:
    """What is varied, what is randomised, what is left out."""
    lines = [
        f"varied     {one_line(name)}: {', '.join(map(one_line, levels))}"
        for name, levels in factors.items()
    ]
    lines += [
        f"randomised {one_line(f.name)}: {nuisance_text(f)}, for each {setup_each}"
        for f in nuisance
    ]
    lines += [f"left out   {one_line(item)}" for item in skipped[:_SHOWN]]
    if len(skipped) > _SHOWN:
        lines.append(f"left out   {len(skipped) - _SHOWN} more")
    return lines


def size_line(
    block_count: int | None, block_trials: int, variants: int, estimated_s: float | None
) -> str:
    """How many trials, and for how long."""
    if block_count is None:
        size = f"blocks of {block_trials} trials until it is precise"
    else:
        size = f"{block_count * block_trials} trials: {block_count} blocks of {block_trials}"
    time = "not known (give each benchmark expected_s)"
    if estimated_s is not None:
        time = f"about {format_duration(estimated_s)}"
    return f"{size}; {variants} combinations; time {time}"


def command_line(variant: Variant) -> str:
    """What a trial of a variant runs, and what builds it."""
    run = shlex.join(variant.launch.argv)
    if variant.build is None:
        return f"{one_line(variant.name)}: {one_line(run)}"
    flags = " ".join(f"{n}={shlex.quote(v or '')}" for n, v in variant.build.environment)
    compilers = " ".join(f"{n}={shlex.quote(v)}" for n, v in variant.build.compilers)
    build = " ".join(filter(None, (flags, compilers, shlex.join(variant.build.argv))))
    return f"{one_line(variant.name)}: {one_line(build)} && {one_line(run)}"
