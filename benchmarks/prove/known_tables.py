"""Tables with a known truth, for the proof of analyses of tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.tables.analysis_method import Question

Array = NDArray[np.float64]
Columns = Mapping[str, Any]
Sampler = Callable[[np.random.Generator], Array]
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Situation:
    """Tables of one kind, and what is true of them.

    Parameters
    ----------
    name : str
    method : str
    draw : callable
        From a generator to the columns of a table.
    question : Question
    truths : mapping of (term, measure) to float
        Of effects whose intervals are looked at.
    tests : tuple of str
        Tests of what is not there, by name; and terms of the analysis of variance.
    holds : bool
        Whether what the interval rests on holds.
    warns : str
        The assumption that must be said to fail; empty where none does.
    slow : int
        Only one in so many experiments is simulated.
    """

    name: str
    method: str
    draw: Callable[[np.random.Generator], Columns]
    question: Question
    truths: Mapping[tuple[str, str], float]
    tests: tuple[str, ...] = ()
    holds: bool = True
    warns: str = ""
    slow: int = 1


def factorial(replicates: int, sampler: Callable[..., Array], keep: float = 1.0):
    """Three factors of two levels: a adds 1 (half of it an effect), b and c nothing."""

    def draw(generator: np.random.Generator) -> Columns:
        rows = np.array(np.meshgrid([0, 1], [0, 1], [0, 1])).reshape(3, -1).T
        rows = np.repeat(rows, replicates, axis=0)
        y = 10 + rows[:, 0] + sampler(generator, rows)
        kept = generator.random(len(y)) < keep
        kept[:: max(1, replicates)] = True
        return {"a": rows[kept, 0], "b": rows[kept, 1], "c": rows[kept, 2], "y": y[kept]}

    return draw


def normal(generator: np.random.Generator, rows: Array) -> Array:
    """One variance for all rows."""
    return generator.standard_normal(len(rows))


def funnel(generator: np.random.Generator, rows: Array) -> Array:
    """Four times the deviation at the high level of a."""
    return generator.standard_normal(len(rows)) * np.where(rows[:, 0], 4.0, 1.0)


def lognormal_factorial(generator: np.random.Generator) -> Columns:
    """Times that a multiplies by e."""
    rows = np.repeat(np.array(np.meshgrid([0, 1], [0, 1])).reshape(2, -1).T, 10, axis=0)
    y = np.exp(rows[:, 0] + 0.8 * generator.standard_normal(len(rows)))
    return {"a": rows[:, 0], "b": rows[:, 1], "y": y}


def sloped(generator: np.random.Generator) -> Columns:
    """A covariate with slope 1 that the deviation grows with."""
    x = generator.uniform(0, 2, 80)
    return {"x": x, "y": 5 + x + (0.2 + x) * generator.standard_normal(80)}


def heavy(count: int, spread: float):
    """Heavy tails, and more of them at the high level of a; a adds 1 to every quantile when the
    spread is 0."""

    def draw(generator: np.random.Generator) -> Columns:
        a = np.arange(count) % 2
        return {"a": a, "y": 10 + a + generator.standard_t(3, count) * (1 + spread * a)}

    return draw


def clustered(generator: np.random.Generator) -> Columns:
    """Forty executions of twenty iterations each; executions differ."""
    run = np.repeat(np.arange(40), 20)
    y = 10 + (run % 2) + generator.standard_normal(40)[run] + 0.5 * generator.standard_normal(800)
    return {"a": run % 2, "run": run, "y": y}


def two_groups(
    x: Callable[[np.random.Generator], Array], y: Callable[[np.random.Generator], Array]
):
    """Values of two groups."""

    def draw(generator: np.random.Generator) -> Columns:
        first, second = x(generator), y(generator)
        group = np.repeat([0, 1], [len(first), len(second)])
        return {"g": group, "y": np.concatenate([first, second])}

    return draw


def three_alike(sampler: Callable[[np.random.Generator, int], Array]):
    """Three groups from one population."""

    def draw(generator: np.random.Generator) -> Columns:
        return {"g": np.repeat([0, 1, 2], 12), "y": 10 + sampler(generator, 36)}

    return draw


def blocks(generator: np.random.Generator) -> Columns:
    """Twenty blocks that drift; the second variant takes 1 more."""
    drift = np.repeat(10 * np.abs(generator.standard_normal(20)) + 50, 2)
    group = np.tile([0, 1], 20)
    return {"g": group, "block": np.repeat(np.arange(20), 2),
            "y": drift + group + generator.standard_t(4, 40)}  # fmt: skip


def subjects(unlike: bool):
    """Twelve programs under three conditions that do not matter."""

    def draw(generator: np.random.Generator) -> Columns:
        noise = generator.standard_normal((12, 3)) * ([0.3, 1.0, 3.0] if unlike else [1, 1, 1])
        y = 20 + 5 * generator.standard_normal((12, 1)) + noise
        program, level = np.repeat(np.arange(12), 3), np.tile([0, 1, 2], 12)
        return {"program": program, "c": level, "y": y.ravel()}

    return draw


def builds(generator: np.random.Generator) -> Columns:
    """Twelve builds, six of each flag, of three executions with four iterations."""
    build, execution = np.repeat(np.arange(12), 12), np.tile(np.repeat(np.arange(3), 4), 12)
    y = 10 + build % 2 + generator.standard_normal(12)[build]
    y = y + 0.5 * generator.standard_normal(36)[build * 3 + execution]
    y = y + 0.3 * generator.standard_normal(144)
    return {"flag": build % 2, "build": build, "execution": execution, "y": y}


def setups(effect: float, between: float, crossed: bool = False):
    """Setups that a ratio of e^effect varies over, two trials of each variant in each."""

    def draw(generator: np.random.Generator) -> Columns:
        if crossed:
            link, env = np.repeat(np.arange(12), 12), np.tile(np.arange(12), 12)
            bias = between * (generator.standard_normal(12)[link]
                              + 0.5 * generator.standard_normal(12)[env])  # fmt: skip
        else:
            link, env = np.arange(30), np.zeros(30, dtype=int)
            bias = between * generator.standard_normal(30)
        place = np.repeat(np.arange(len(link)), 4)
        level = np.tile([0, 1, 0, 1], len(link))
        logs = level * (effect + bias[place]) + 0.005 * generator.standard_normal(len(place))
        return {"link": link[place], "env": env[place], "v": level, "y": np.exp(logs)}

    return draw


def _question(factors: str, quantiles: tuple[float, ...] = (), **extra: str) -> Question:
    named = tuple(filter(None, factors.split(",")))
    return Question("y", named, quantiles, CONFIDENCE, extra=extra)


EFFECTS = {("a", "coefficient"): 0.5, ("b", "coefficient"): 0.0, ("a:c", "coefficient"): 0.0}
HALF = {("a", "coefficient"): 0.5}


def _shift(quantile: float, spread: float) -> float:
    """Half the difference of the quantiles of `heavy`."""
    from scipy import stats

    return (1 + spread * float(stats.t.ppf(quantile, 3))) / 2


def situations() -> Iterator[Situation]:
    """Everything that is claimed, and what happens where it cannot be."""
    abc = _question("a,b,c")
    yield Situation("2^3 x 3, normal", "anova", factorial(3, normal), abc, EFFECTS, ("b", "a:b:c"))
    yield Situation(
        "2^3, 5 to 8 rows", "anova", factorial(8, normal, 0.7), abc, EFFECTS, ("b", "c")
    )
    for count in (4, 12):
        name = f"2^3 x {count}, deviation x 4 at a"
        yield Situation(name, "anova", factorial(count, funnel), abc, EFFECTS, ("b", "a:c"),
                        warns="equal variances")  # fmt: skip
    yield Situation(
        "covariate, funnel, 80 rows", "anova", sloped, _question("", covariates="x"),
        {("x", "coefficient"): 1.0}, warns="equal variances",
    )  # fmt: skip
    yield Situation("lognormal 2^2 x 10, as it is", "anova", lognormal_factorial, _question("a,b"),
                    {}, ("b",), holds=False, warns="normal residuals")  # fmt: skip
    yield Situation("the same with the advised log", "anova", lognormal_factorial,
                    _question("a,b", transform="log"), HALF, ("b", "a:b"))  # fmt: skip
    for count in (40, 200):
        for quantile in (0.25, 0.5, 0.9):
            yield Situation(
                f"t3 tails, {count} rows, quantile {quantile:g}", "quantile", heavy(count, 0.0),
                _question("a", (quantile,)), HALF, slow=4,
            )  # fmt: skip
            yield Situation(
                f"the same, twice as wide at a, {count} rows, quantile {quantile:g}", "quantile",
                heavy(count, 1.0), _question("a", (quantile,)),
                {("a", "coefficient"): _shift(quantile, 1.0)}, slow=4,
            )  # fmt: skip
    for quantile in (0.5, 0.9):
        yield Situation(
            f"t3 tails, 2000 rows, quantile {quantile:g}", "quantile", heavy(2000, 1.0),
            _question("a", (quantile,)), {("a", "coefficient"): _shift(quantile, 1.0)}, slow=4,
        )  # fmt: skip
    yield Situation("40 executions x 20, median", "quantile", clustered,
                    _question("a", (0.5,), cluster="run"), HALF, slow=10)  # fmt: skip
    yield from _groups()
    shift = {("1 - 0", "pseudo-median"): 1.0, ("1 - 0", "difference-of-means"): 1.0}
    yield Situation("20 blocks that drift, t4", "paired", blocks, _question("g"), shift)
    yield Situation("12 subjects x 3", "within", subjects(False), _question("c"),
                    {("c: 1 - 0", "mean-difference"): 0.0}, ("c",))  # fmt: skip
    yield Situation("12 subjects x 3, unlike", "within", subjects(True), _question("c"),
                    {("c: 2 - 0", "mean-difference"): 0.0}, ("c",), warns="sphericity")  # fmt: skip
    nested = _question("flag", levels="build,execution")
    yield Situation("12 builds x 3 x 4", "mixed", builds, nested,
                    {("flag", "coefficient"): 0.5}, slow=4)  # fmt: skip
    ratio = {("1 / 0", "ratio-of-means"): float(np.exp(0.01 + 0.02**2 / 2))}
    yield Situation(
        "30 setups", "bias", setups(0.01, 0.02), _question("v", setup="link,env"), ratio
    )
    crossed = {("1 / 0", "ratio-of-means"): float(np.exp(0.01 + 1.25 * 0.02**2 / 2))}
    yield Situation("12 x 12 crossed setups", "bias", setups(0.01, 0.02, crossed=True),
                    _question("v", setup="link,env"), crossed)  # fmt: skip


def _groups() -> Iterator[Situation]:
    asked = _question("g")
    yield Situation(
        "normal, 8 and 20, deviations 1 and 3", "groups",
        two_groups(lambda g: 20 + g.standard_normal(8), lambda g: 21 + 3 * g.standard_normal(20)),
        asked, {("1 - 0", "difference-of-means"): 1.0, ("1 / 0", "ratio-of-means"): 1.05,
                ("1 / 0", "ratio-of-variances"): 9.0},
    )  # fmt: skip
    delta = 0.5204998778130465  # 2 Phi(1 / sqrt 2) - 1
    yield Situation(
        "normal, 15 and 15, 1 deviation apart", "groups",
        two_groups(lambda g: 20 + g.standard_normal(15), lambda g: 21 + g.standard_normal(15)),
        asked, {("1 - 0", "hodges-lehmann"): 1.0, ("1 - 0", "cliffs-delta"): delta},
    )  # fmt: skip
    yield Situation(
        "exponential, 20 and 25, shifted by 1", "groups",
        two_groups(lambda g: 5 + g.exponential(size=20), lambda g: 6 + g.exponential(size=25)),
        asked, {("1 - 0", "hodges-lehmann"): 1.0}, warns="normal groups",
    )  # fmt: skip
    yield Situation("three alike, normal", "groups",
                    three_alike(lambda g, n: g.standard_normal(n)), asked, {},
                    ("F", "Welch F", "Kruskal-Wallis", "Levene", "Brown-Forsythe"))  # fmt: skip
    yield Situation("three alike, exponential", "groups",
                    three_alike(lambda g, n: g.exponential(size=n)), asked, {},
                    ("Kruskal-Wallis", "Brown-Forsythe"), warns="normal groups")  # fmt: skip
