"""Executions whose state is known, because it was made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Generator = np.random.Generator

LENGTHS = (100, 300, 3000)
# Coefficients of variation of single iterations.
SPREADS = (0.005, 0.03)


@dataclass(frozen=True)
class Made:
    """An execution with its truth: the class, the start of the steady part (None: never), and the
    mean of that part before noise."""

    noise: str
    state: str
    start: int | None
    values: Floats


def _independent(generator: Generator, count: int) -> Floats:
    return generator.standard_normal(count)


def _remembering(generator: Generator, count: int) -> Floats:
    steps = generator.standard_normal(count) * np.sqrt(1 - 0.6**2)
    found = np.empty(count)
    last = generator.standard_normal()
    for index in range(count):
        last = 0.6 * last + steps[index]
        found[index] = last
    return found


def _skewed(generator: Generator, count: int) -> Floats:
    return (generator.lognormal(0.0, 0.8, count) - np.exp(0.32)) / 1.2


def _disturbed(generator: Generator, count: int) -> Floats:
    """Normal, with one value in fifty far above the others."""
    far = generator.random(count) < 0.02
    return generator.standard_normal(count) + far * generator.exponential(15.0, count)


NOISES: dict[str, Callable[[Generator, int], Floats]] = {
    "independent": _independent,
    "remembering (0.6)": _remembering,
    "skewed": _skewed,
    "disturbed": _disturbed,
}


def _flat(generator: Generator, count: int) -> tuple[Floats, int | None]:
    return np.ones(count), 0


def _warm_up(generator: Generator, count: int) -> tuple[Floats, int | None]:
    """One to three levels, each faster than the one before it and slower by 10 % at least than
    the last."""
    start = int(generator.integers(3, count // 2))
    inner = np.sort(generator.integers(1, start, int(generator.integers(0, 3))))
    levels = 1 + 0.1 + np.sort(generator.exponential(0.3, len(inner) + 1))[::-1]
    found = np.ones(count)
    for begin, end, level in zip([0, *inner], [*inner, start], levels, strict=True):
        found[begin:end] = level
    return found, start


def _slow_down(generator: Generator, count: int) -> tuple[Floats, int | None]:
    start = int(generator.integers(count // 20, count // 2))
    found = np.ones(count)
    found[:start] = 1 - generator.uniform(0.1, 0.4)
    return found, start


def _cyclic(generator: Generator, count: int) -> tuple[Floats, int | None]:
    period = int(generator.integers(2, max(3, count // 20)))
    phases = 1 + 0.15 * generator.standard_normal(period)
    phases *= 1 + 0.15 / max(0.05, float(np.ptp(phases))) * (np.arange(period) == 0)
    return np.resize(np.maximum(phases, 0.2), count), 0


def _drift(generator: Generator, count: int) -> tuple[Floats, int | None]:
    change = generator.uniform(0.15, 0.5) * generator.choice([-1, 1])
    return 1 + change * np.arange(count) / count, None


def _no_steady_state(generator: Generator, count: int) -> tuple[Floats, int | None]:
    """The last level begins after five sixths, and it is between two others."""
    bounds = [
        int(count * share) for share in (generator.uniform(0.3, 0.6), generator.uniform(0.87, 0.95))
    ]
    found = np.ones(count)
    found[: bounds[0]] = 1 + generator.uniform(0.25, 0.5)
    found[bounds[1] :] = 1 + generator.uniform(0.1, 0.2)
    return found, None


STATES: dict[str, Callable[[Generator, int], tuple[Floats, int | None]]] = {
    "flat": _flat,
    "warm-up": _warm_up,
    "slow-down": _slow_down,
    "cyclic": _cyclic,
    "drift": _drift,
    "no-steady-state": _no_steady_state,
}


@dataclass(frozen=True)
class Switching:
    """Two levels in turn, each for a random number of iterations between `runs`, both included;
    the second is higher by `jump`, and `spread` is that of normal noise."""

    count: int
    runs: tuple[int, int]
    jump: float
    spread: float

    def made(self, generator: Generator) -> Floats:
        """One execution, which begins in either level."""
        lengths = generator.integers(self.runs[0], self.runs[1] + 1, self.count)
        is_second = (np.arange(self.count) + generator.integers(2)) % 2
        levels = np.repeat(1 + self.jump * is_second, lengths)[: self.count]
        return levels * (1 + self.spread * generator.standard_normal(self.count))


SWITCHING = (
    Switching(3000, (15, 45), 0.2, 0.03),
    Switching(3000, (15, 45), 0.1, 0.03),
    Switching(3000, (2, 4), 0.2, 0.03),
    Switching(300, (15, 45), 0.2, 0.03),
    Switching(200, (5, 15), 0.2, 0.02),
    Switching(200, (20, 36), 0.2, 0.03),
    Switching(60, (5, 15), 0.2, 0.02),
)


def executions(each: int, seed: int) -> Iterator[Made]:
    """So many executions of each class, noise, spread and length."""
    generator = np.random.default_rng(seed)
    for length in LENGTHS:
        for spread in SPREADS:
            for noise, make_noise in NOISES.items():
                for state, make_levels in STATES.items():
                    for _ in range(each):
                        levels, start = make_levels(generator, length)
                        scattered = levels * (1 + spread * make_noise(generator, length))
                        yield Made(noise, state, start, np.maximum(scattered, 0.05))
