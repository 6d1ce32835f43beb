"""Hand-made answers for the tests of everything that shows one."""

from __future__ import annotations

import math
import random
import statistics
from dataclasses import replace

import pytest

from steelyard.analysis.comparison.comparison_results import (
    Answer,
    Comparison,
    Independence,
    MetricResult,
    NormalityTest,
    Summary,
    VariantResult,
)
from steelyard.analysis.comparison.ratio_verdict import sign
from steelyard.core.estimate import Estimate, Unbounded
from steelyard.core.experiment_results import Caution, Experiment, Trial
from steelyard.core.experiment_spec import ExperimentSpec, LaunchSpec, MetricSpec, Variant

WALL_TIME = MetricSpec("wall_time", "s")
MAX_RSS = MetricSpec("max_rss", "bytes")
CYCLES = MetricSpec("cycles", "count", source="counter")
REQUESTS = MetricSpec("requests", "1/s", direction="higher", source="regex", pattern="(.*)")
IDENTIFIER = "01JD5T9V0Q8M4N7K2R3W6XABCD"


class Samples:
    """Builders of answers, with plausible numbers and no statistics behind them."""

    WALL_TIME, MAX_RSS, CYCLES, REQUESTS = WALL_TIME, MAX_RSS, CYCLES, REQUESTS
    IDENTIFIER = IDENTIFIER

    @staticmethod
    def ratio(low: float, estimate: float, high: float) -> Estimate:
        return Estimate(estimate, low, high, 0.95, "fieller-blocks")

    @staticmethod
    def unbounded() -> Unbounded:
        return Unbounded(
            0.9,
            0.95,
            "fieller-blocks",
            "baseline-near-zero",
            "The baseline's mean cannot be told from 0. More blocks would mend it.",
        )

    @staticmethod
    def result(metric: MetricSpec, mean: float, count: int = 31, seed: int = 1) -> MetricResult:
        if count == 0:
            return MetricResult(metric, (), (), None, None)
        noise = random.Random(seed)
        values = tuple(mean * noise.lognormvariate(0, 0.02) for _ in range(count))
        center, deviation = statistics.fmean(values), 0.0
        interval: Estimate | Unbounded = Unbounded(
            center, 0.95, "student-blocks", "one-value", "One value has no spread. Run more."
        )
        quartiles = (center, center, center)
        if count > 1:
            deviation = statistics.stdev(values)
            half = 2.04 * deviation / math.sqrt(count)
            interval = Estimate(center, center - half, center + half, 0.95, "student-blocks")
            first, second, third = statistics.quantiles(values)
            quartiles = (first, second, third)
        summary = Summary(
            count=count,
            mean=interval,
            median=quartiles[1],
            lower_quartile=quartiles[0],
            upper_quartile=quartiles[2],
            minimum=min(values),
            maximum=max(values),
            standard_deviation=deviation,
            variation=deviation / center,
            max_difference=max(values) - min(values),
            max_difference_ratio=(max(values) - min(values)) / center,
            normality=NormalityTest(0.97, 0.41) if count > 2 else None,
        )
        independence = Independence(
            tuple(noise.uniform(-0.2, 0.2) for _ in range(min(20, count // 2))),
            1.96 / math.sqrt(count),
            0.62,
            0.31,
        )
        blocks = tuple(range(count))
        return MetricResult(metric, values, blocks, summary, independence)

    def variant(
        self,
        name: str,
        mean_s: float = 0.0123,
        *,
        count: int = 31,
        failed: int = 0,
        metrics: tuple[MetricSpec, ...] = (WALL_TIME,),
    ) -> VariantResult:
        seed = sum(name.encode(errors="replace"))
        found = {
            metric.name: self.result(
                metric, mean_s * {"s": 1, "bytes": 1e9}.get(metric.unit, 3e9), count, seed
            )
            for metric in metrics
        }
        repetitions = {"build": 1, "execution": count, "iteration": 1}
        return VariantResult(name, found, repetitions, failed, mean_s * count * 1.1)

    def comparison(
        self,
        verdict: str = "faster",
        ratio: Estimate | Unbounded | None = None,
        candidate: str = "B",
        metric: MetricSpec = WALL_TIME,
        **changes: object,
    ) -> Comparison:
        by_verdict = {
            "faster": self.ratio(0.92, 0.945, 0.97),
            "slower": self.ratio(1.03, 1.055, 1.08),
            "equivalent": self.ratio(0.993, 0.998, 1.003),
            "undecided": self.ratio(0.970, 0.998, 1.027),
        }
        given = ratio or by_verdict[verdict]
        side = sign(given, metric.direction)
        made = Comparison("A", candidate, metric, given, verdict, side, 0.01, False, None, None)
        return replace(made, **changes)

    def two(self, verdict: str = "faster", **changes: object) -> Answer:
        comparison = self.comparison(verdict)
        if verdict == "undecided":
            comparison = replace(comparison, further_blocks=34, further_s=130.0)
        means = {"faster": 0.0116, "slower": 0.0130}
        made = Answer(
            "comparison",
            IDENTIFIER,
            WALL_TIME,
            (self.variant("A"), self.variant("B", means.get(verdict, 0.01228))),
            (comparison,),
            (),
            "precision",
        )
        return replace(made, **changes)

    def five(self) -> Answer:
        metrics = (WALL_TIME, MAX_RSS, CYCLES)
        verdicts = {"B": "faster", "C": "slower", "D": "equivalent", "E": "undecided"}
        ratios = {
            "B": self.ratio(0.83, 0.85, 0.88),
            "C": self.ratio(1.21, 1.25, 1.30),
            "D": self.ratio(0.995, 1.001, 1.006),
            "E": self.ratio(0.97, 0.999, 1.03),
        }
        comparisons = [
            self.comparison(verdicts[name], ratios[name], name, metric, simultaneous=True)
            for metric in metrics[:2]
            for name in ratios
        ]
        return Answer(
            "comparison",
            IDENTIFIER,
            WALL_TIME,
            tuple(
                self.variant(
                    name,
                    0.0123 * (ratios[name].estimate if name in ratios else 1),
                    failed=2 if name == "C" else 0,
                    metrics=metrics,
                )
                for name in "ABCDE"
            ),
            tuple(comparisons),
            (Caution("dependent-iterations", "The executions of C are not independent."),),
            "budget",
        )

    def one(self, count: int = 31) -> Answer:
        return Answer(
            "measurement",
            IDENTIFIER,
            WALL_TIME,
            (self.variant("A", count=count, metrics=(WALL_TIME, MAX_RSS)),),
            (),
            (),
            "runs",
        )

    def experiment(self, answer: Answer, **provenance: object) -> Experiment:
        """An experiment that `answer` could have come from."""
        variants = tuple(
            Variant(v.name, LaunchSpec((v.name, "--work", "10")), parameters=(("size", "10"),))
            for v in answer.variants
        )
        metrics = tuple(r.metric for r in answer.variants[0].metrics.values())
        spec = ExperimentSpec(answer.experiment, answer.kind, variants, metrics, seed=42)
        trials = [
            trial
            for index, variant in enumerate(answer.variants)
            for trial in self._trials(index, variant)
        ]
        facts = {"host": {"cpu_model": "A CPU", "kernel": "6.1.0"}, "steelyard": "0.1.0"}
        return Experiment(
            spec, {**facts, **provenance}, 1_750_000_000.0, tuple(trials), answer.stopped
        )

    @staticmethod
    def _trials(index: int, variant: VariantResult) -> list[Trial]:
        result = variant.metrics["wall_time"]
        good = [
            Trial(
                1000 * index + n,
                block,
                index,
                False,
                "ok",
                None,
                1.75e9 + n,
                value * 1.1,
                {"wall_time": (value,)},
            )
            for n, (value, block) in enumerate(zip(result.values, result.blocks, strict=True))
        ]
        bad = [
            Trial(
                1000 * index + 900 + n,
                n,
                index,
                False,
                "failed",
                "exit",
                1.75e9,
                0.01,
                {},
                details={"exit_code": 3, "stderr_tail": "no such table\n"},
            )
            for n in range(variant.failed)
        ]
        return good + bad


@pytest.fixture
def samples() -> Samples:
    return Samples()
