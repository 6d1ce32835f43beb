"""What was measured of one program, kept in a file of its own."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, replace
from typing import Any

KINDS = ("as it is", "resized", "resized, wrapped")
SCENARIOS = ("offline", "online")


@dataclass(frozen=True)
class Rules:
    """What a record depends on: `learnt` and `judged` are inputs of the suite."""

    budget_ratio: float
    goal: float
    setup_count: int
    learnt: str
    judged: str

    def cover(self, asked: Rules) -> bool:
        """Whether what was measured by these is what others ask for, or more of it."""
        same = replace(self, setup_count=asked.setup_count) == asked
        return same and self.setup_count >= asked.setup_count


@dataclass(frozen=True)
class Shares:
    """Outcomes of paths or of samples, as `analysis.paths.path_outcomes.Outcomes` has them."""

    resolved: float
    ambiguous: float
    wrong: float
    missing: float
    by_count: tuple[tuple[int, float], ...]

    def at_most(self, count: int) -> float:
        """Share that is right with at most so many candidates."""
        return sum(share for candidates, share in self.by_count if candidates <= count)

    @property
    def known(self) -> float:
        """Neither wrong nor missing."""
        return self.resolved + self.ambiguous


@dataclass(frozen=True)
class SampleShares:
    """Samples of the changed program, online."""

    sample_count: int
    keyless_count: int
    unlearnt_count: int
    shares: Shares


@dataclass(frozen=True)
class KeyRecord:
    """One program.

    Parameters
    ----------
    name, language, build : str
        The build is that of the program as it is.
    rules : Rules
    path_counts : tuple of int
        Different paths of the input that was learnt and of that which was judged.
    learning_ratio, plain_s : float
        Processor time of learning the input `test`, as a multiple of the plain run's.
    lookup_ns : float
    search_s : tuple of float
        Of sizes alone, and with calls. Processor time.
    growth_ratios : tuple of float
        Of the highest stack, predicted: resized; resized and wrapped.
    learnt_growth_ratio : float
        As learnt of the changed program.
    instruction_ratios : tuple of float
        Of the test input, by callgrind, beside the program as it is: resized; and wrapped.
    wrapped_share : float
        Part of the learnt calls that pass a wrapper.
    shares : dict of str to dict of str to Shares
        By kind of `KINDS` and scenario.
    samples : SampleShares
    plain_run_s, sampled_run_s : tuple of float
        Processor time of the input `test` in each setup: as it is; changed, with keys recorded.
    """

    name: str
    language: str
    build: str
    rules: Rules
    path_counts: tuple[int, int]
    learning_ratio: float
    plain_s: float
    lookup_ns: float
    search_s: tuple[float, ...]
    growth_ratios: tuple[float, ...]
    learnt_growth_ratio: float
    instruction_ratios: tuple[float, ...]
    wrapped_share: float
    shares: dict[str, dict[str, Shares]]
    samples: SampleShares
    plain_run_s: tuple[float, ...]
    sampled_run_s: tuple[float, ...]


def write_record(record: KeyRecord, folder: str) -> None:
    """Write a record whole or not at all."""
    path = _path(folder, record.name)
    with open(f"{path}.new", "w", encoding="utf-8") as file:
        json.dump(asdict(record), file, indent=1)
    os.replace(f"{path}.new", path)


def read_record(folder: str, name: str) -> KeyRecord | None:
    """The record of a program; None where there is none that can be read."""
    try:
        with open(_path(folder, name), encoding="utf-8") as file:
            found: dict[str, Any] = json.load(file)
        samples = found.pop("samples")
        return KeyRecord(
            **{
                **{key: _frozen(value) for key, value in found.items()},
                "rules": Rules(**found["rules"]),
                "shares": {
                    kind: {scenario: _shares(shares) for scenario, shares in by.items()}
                    for kind, by in found["shares"].items()
                },
                "samples": SampleShares(**{**samples, "shares": _shares(samples["shares"])}),
            }
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _path(folder: str, name: str) -> str:
    return os.path.join(folder, f"{name}.json")


def _shares(found: dict[str, Any]) -> Shares:
    return Shares(**{**found, "by_count": tuple(tuple(pair) for pair in found["by_count"])})


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
