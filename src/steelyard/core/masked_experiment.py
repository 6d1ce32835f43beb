"""An experiment as it may be shown: without what the user and the environment keep secret."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, cast

from steelyard.core.build_spec import BuildSpec
from steelyard.core.experiment_results import Experiment
from steelyard.core.experiment_spec import ExperimentSpec, LaunchSpec, Variant
from steelyard.core.masking import (
    MASK,
    looks_random,
    mask_environment,
    mask_text,
    mask_value,
    mask_words,
    worth_hiding,
)
from steelyard.core.recorded_names import explains_result, names_secret
from steelyard.core.trial_table import TrialTable

# In the provenance of an experiment whose specification is not all there any more.
MASKED = "secrets_masked"


def masked_experiment(experiment: Experiment, values: Sequence[str] = ()) -> Experiment:
    """The experiment for pages and exports.

    Values of variables that do not explain the result are masked, and what looks like a secret
    in commands, names, notes, provenance and what failed trials wrote (`masking`), where `values`
    are masked too.
    """
    hidden = (*given_values(experiment.spec), *values)
    masks = _Masks(secret_values(experiment.spec))
    spec = masks.spec(experiment.spec)
    provenance = _provenance(experiment.provenance, experiment.spec, hidden)
    if spec != experiment.spec:
        provenance[MASKED] = True
    return replace(
        experiment,
        spec=spec,
        provenance=provenance,
        trials=TrialTable.of(experiment.trials).mapped(_realised(masks), _details(hidden)),
    )


def masked_spec(spec: ExperimentSpec) -> ExperimentSpec:
    """A specification with its secrets masked. It cannot be run any more."""
    return _Masks(secret_values(spec)).spec(spec)


def given_values(spec: ExperimentSpec) -> tuple[str, ...]:
    """The values of variables that the user gave and that are not shown, and the secrets of
    commands, the longest first."""
    found: set[str] = set()
    for variant in spec.variants:
        build = variant.build.environment if variant.build is not None else ()
        for name, value in (*variant.launch.environment, *build):
            if value is not None and worth_hiding(value) and not explains_result(name):
                found.add(value)
    return tuple(sorted({*found, *_tokens(spec)}, key=len, reverse=True))


def _tokens(spec: ExperimentSpec) -> set[str]:
    """Parts of commands that are masked there, or made like tokens, whatever they stand behind."""
    commands = [spec.setup]
    for variant in spec.variants:
        commands += [variant.launch.argv, variant.prepare, variant.cleanup, variant.setup]
        commands += [variant.build.argv] if variant.build is not None else []
    words = " ".join(word for command in commands for word in command or ())
    found = set(filter(looks_random, re.split(r"[\s=:,;\"'@|&<>()]+", words)))
    for command in filter(None, set(commands)):
        masked = mask_words(command)
        # A secret in quotation marks that go over several words makes them one.
        if len(masked) == len(command):
            parts = map(_masked_parts, command, masked)
            found.update(filter(worth_hiding, chain.from_iterable(parts)))
    return found


def _masked_parts(word: str, masked: str) -> Iterator[str]:
    """What ``***`` stands for in the masked form of a word."""
    begin, *kept = masked.split(MASK)
    start = len(begin)
    for number, part in enumerate(kept, start=1):
        is_last = number == len(kept)
        end = len(word) - len(part) if is_last else word.find(part, start + 1) if part else start
        if end > start:
            yield word[start:end]
            start = end + len(part)


def secret_values(spec: ExperimentSpec) -> tuple[str, ...]:
    """Those of `given_values` whose names speak of a secret: they are masked in commands too,
    where another value may be a common word."""
    given = set(given_values(spec))
    environments = [variant.launch.environment for variant in spec.variants]
    environments += [variant.build.environment for variant in spec.variants if variant.build]
    named = {value for pairs in environments for name, value in pairs if names_secret(name)}
    named |= _tokens(spec)
    return tuple(sorted(given & named, key=len, reverse=True))


class _Masks:
    """How the texts of one experiment are masked: what was different stays different."""

    def __init__(self, hidden: Sequence[str]) -> None:
        self._hidden = hidden
        self._given: dict[tuple[str, str], str] = {}
        self._taken: set[tuple[str, str]] = set()

    def name(self, text: str, owner: str = "") -> str:
        """The masked form of a name of a variant, or of a level of the factor `owner`."""
        if (owner, text) not in self._given:
            masked = MASK if names_secret(owner) else mask_text(text, self._hidden)
            unique, number = masked, 1
            while (owner, unique) in self._taken:
                number += 1
                unique = f"{masked} #{number}"
            self._taken.add((owner, unique))
            self._given[owner, text] = unique
        return self._given[owner, text]

    def words(self, argv: tuple[str, ...] | None) -> tuple[str, ...] | None:
        """A command, if there is one."""
        return None if argv is None else mask_words(argv, self._hidden)

    def texts(self, pairs: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
        """Texts by their names."""
        return tuple((name, mask_text(text, self._hidden)) for name, text in pairs)

    def levels(self, owner: str, levels: Sequence[str]) -> tuple[str, ...]:
        """The levels of a factor."""
        return tuple(self.name(level, owner) for level in levels)

    def spec(self, spec: ExperimentSpec) -> ExperimentSpec:
        """The whole specification."""
        return replace(
            spec,
            variants=tuple(map(self._variant, spec.variants)),
            setup=self.words(spec.setup),
            note=mask_text(spec.note, self._hidden),
            asked=mask_text(spec.asked, self._hidden),
            levels=tuple(
                replace(level, command=self.words(level.command)) for level in spec.levels
            ),
            varied=tuple((name, self.levels(name, levels)) for name, levels in spec.varied),
            nuisance=tuple(
                replace(
                    factor,
                    levels=self.levels(factor.name, factor.levels),
                    texts=self.texts(factor.texts),
                )
                for factor in spec.nuisance
            ),
        )

    def _variant(self, variant: Variant) -> Variant:
        return replace(
            variant,
            name=self.name(variant.name),
            group=mask_text(variant.group, self._hidden),
            benchmark=mask_text(variant.benchmark, self._hidden),
            launch=self._launch(variant.launch),
            prepare=self.words(variant.prepare),
            cleanup=self.words(variant.cleanup),
            setup=self.words(variant.setup),
            parameters=tuple((name, self.name(value, name)) for name, value in variant.parameters),
            host=tuple(replace(h, texts=self.texts(h.texts)) for h in variant.host),
            build=None if variant.build is None else self._build(variant.build),
        )

    def _launch(self, launch: LaunchSpec) -> LaunchSpec:
        return replace(
            launch,
            argv=mask_words(launch.argv, self._hidden),
            environment=mask_environment(launch.environment),
        )

    def _build(self, build: BuildSpec) -> BuildSpec:
        return replace(
            build,
            argv=mask_words(build.argv, self._hidden),
            environment=mask_environment(build.environment),
            compilers=self.texts(build.compilers),
        )


def _provenance(
    provenance: Mapping[str, Any], spec: ExperimentSpec, hidden: Sequence[str]
) -> dict[str, Any]:
    """Also that of a store from before: what was kept then is not shown now."""
    masked = cast("dict[str, Any]", mask_value(provenance, hidden))
    recorded = frozenset(spec.recorded_environment)
    sessions: list[Any] = [masked, *masked.get("resumed", ())]
    for session in filter(_is_object, sessions):
        kept: Any = session.get("environment")
        if _is_object(kept):
            session["environment"] = {
                name: value if value is None or name in recorded or explains_result(name) else MASK
                for name, value in kept.items()
            }
    return masked


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _details(hidden: Sequence[str]) -> Callable[[Mapping[str, Any]], Mapping[str, Any]]:
    def masked(details: Mapping[str, Any]) -> Mapping[str, Any]:
        if any(not isinstance(value, int | float) for value in details.values()):
            return cast("Mapping[str, Any]", mask_value(details, hidden))
        return details

    return masked


def _realised(masks: _Masks) -> Callable[[Mapping[str, Any]], Mapping[str, Any]]:
    def masked(realised: Mapping[str, Any]) -> Mapping[str, Any]:
        return {
            name: masks.name(value, name) if isinstance(value, str) else value
            for name, value in realised.items()
        }

    return masked
