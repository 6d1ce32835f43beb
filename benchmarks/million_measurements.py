"""How fast is the answer to a million measurements, and the bootstrap of ten thousand?

An experiment of 100 builds x 100 executions x 100 iterations lies in a store. A fresh process
opens the store, loads the experiment and answers it. In turn with that, another fresh process
reads the same measurements from Parquet with pyarrow and averages each level with numpy, which
is about the least that anyone could do with them. The bootstrap goes beside scipy's percentile
bootstrap, which does less: it computes no standard error for each resample.

    .venv/bin/python -m benchmarks.million_measurements
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from array import array
from collections.abc import Callable, Sequence
from pathlib import Path

COUNT = 100
LIMIT_S = 1.0
RESAMPLE_COUNT = 10_000
BOOTSTRAP_VALUES = 10_000


def make_experiment():
    """Iterations that vary within executions, executions within builds: 1 %, 1 % and 2 %."""
    from steelyard.core.experiment_results import Experiment, Trial
    from steelyard.core.experiment_spec import ExperimentSpec, LaunchSpec, MetricSpec, Variant
    from steelyard.core.identifier import new_identifier
    from steelyard.core.stopping_spec import StoppingSpec

    draw = random.Random(20240229).gauss
    trials: list[Trial] = []
    for build in range(COUNT):
        build_s = 0.1 * (1 + draw(0, 0.01))
        for _execution in range(COUNT):
            mean_s = build_s * (1 + draw(0, 0.01))
            values = array("d", [mean_s * (1 + draw(0, 0.02)) for _ in range(COUNT)])
            position = len(trials)
            trials.append(
                Trial(
                    position, position, 0, False, "ok", None, 1.7e9 + 11 * position, 10.0,
                    {"wall_time": values}, build=build, details={"exit_code": 0},
                )
            )  # fmt: skip
    spec = ExperimentSpec(
        identifier=new_identifier(1_700_000_000_000),
        kind="measurement",
        variants=(Variant("program", LaunchSpec(("program",))),),
        metrics=(MetricSpec("wall_time", "s"),),
        seed=1,
        stopping=StoppingSpec(runs=COUNT * COUNT),
    )
    return Experiment(spec, {}, 1.7e9, tuple(trials), "runs")


def analyse(directory: str) -> dict[str, float]:
    """Load and answer in this process; start-up is all that is imported and the empty store."""
    import steelyard.measure.trial_journal  # noqa: F401
    from steelyard.analysis.comparison.experiment_answer import answer
    from steelyard.app.results.library import open_library

    with open_library(f"{directory}/empty.sqlite") as library:
        library.listing()
    started_s = time.perf_counter()
    with open_library(f"{directory}/store.sqlite") as library:
        experiment = library.load("latest")
    loaded_s = time.perf_counter()
    found = answer(experiment)
    ended_s = time.perf_counter()
    summary = found.variants[0].metrics["wall_time"].summary
    assert summary is not None
    return {
        "load_s": loaded_s - started_s,
        "answer_s": ended_s - loaded_s,
        "all_s": ended_s - started_s,
        "mean": summary.mean.estimate or 0.0,
    }


def average(directory: str) -> dict[str, float]:
    """Read Parquet and average each level in this process; start-up is the imports."""
    import pyarrow.parquet

    started_s = time.perf_counter()
    table = pyarrow.parquet.read_table(
        f"{directory}/table.parquet", columns=["build", "execution", "value"]
    )
    grouped = table.group_by(["build", "execution"]).aggregate([("value", "mean")])
    builds = grouped.group_by("build").aggregate([("value_mean", "mean")])
    means = builds["value_mean_mean"].to_numpy()
    mean, _error = means.mean(), means.std(ddof=1) / len(means) ** 0.5
    return {"all_s": time.perf_counter() - started_s, "mean": float(mean)}


def bootstrap(_directory: str) -> dict[str, float]:
    """Steelyard's studentised bootstrap of 10,000 values."""
    from steelyard.analysis.intervals.bootstrap import bootstrap_mean

    values = _lognormal_values()
    started_s = time.perf_counter()
    bootstrap_mean(values, 0.95, seed=1, resample_count=RESAMPLE_COUNT)
    return {"all_s": time.perf_counter() - started_s}


def scipy_bootstrap(_directory: str) -> dict[str, float]:
    """The percentile bootstrap of scipy on the same, in batches as large as ours."""
    import numpy as np
    from scipy import stats

    values = (np.asarray(_lognormal_values()),)
    started_s = time.perf_counter()
    stats.bootstrap(
        values, np.mean, n_resamples=RESAMPLE_COUNT, method="percentile", batch=40, rng=1
    )
    return {"all_s": time.perf_counter() - started_s}


def _lognormal_values() -> list[float]:
    generator = random.Random(1)
    return [generator.lognormvariate(0, 0.3) for _ in range(BOOTSTRAP_VALUES)]


STEPS: dict[str, Callable[[str], dict[str, float]]] = {
    step.__name__: step for step in (analyse, average, bootstrap, scipy_bootstrap)
}


def in_fresh_process(step: str, directory: str) -> dict[str, float]:
    """One step in a process of its own, with its start-up beside what it timed itself."""
    started_s = time.perf_counter()
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.million_measurements", "--step", step, directory],
        check=True,
        stdout=subprocess.PIPE,
    )
    found = json.loads(run.stdout)
    return {**found, "start_s": time.perf_counter() - started_s - found["all_s"]}


def in_turn(first: str, second: str, directory: str, pairs: int) -> list[list[dict[str, float]]]:
    """Both steps A B A B ..., after one of each that is not counted."""
    runs = [[in_fresh_process(s, directory) for s in (first, second)] for _ in range(pairs + 1)]
    return runs[1:]


def spread(values: Sequence[float], form: str = ".2f") -> str:
    """Median, minimum and maximum."""
    low, middle, high = min(values), statistics.median(values), max(values)
    return f"{middle:{form}} ({low:{form}} to {high:{form}})"


def prepare(directory: str) -> None:
    """Put the experiment into a store and a table."""
    from steelyard.store.database import Store
    from steelyard.store.formats import FORMATS

    experiment = make_experiment()
    Store(f"{directory}/empty.sqlite")
    Store(f"{directory}/store.sqlite").save(experiment)
    write = FORMATS.get("parquet").write
    assert write is not None
    write(experiment, f"{directory}/table.parquet")


def main() -> None:
    """Measure, print, and fail where a limit is passed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=11)
    parser.add_argument("--step", nargs=2, metavar=("STEP", "DIRECTORY"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        print(json.dumps(STEPS[options.step[0]](options.step[1])))
        return

    with tempfile.TemporaryDirectory(prefix="steelyard-million-") as directory:
        prepare(directory)
        size_bytes = Path(directory, "store.sqlite").stat().st_size
        answers = in_turn("analyse", "average", directory, options.pairs)
        bootstraps = in_turn("bootstrap", "scipy_bootstrap", directory, options.pairs)
    ours, theirs = zip(*answers, strict=True)
    assert all(abs(a["mean"] / b["mean"] - 1) < 1e-9 for a, b in answers)
    print(f"1,000,000 measurements in a store of {size_bytes / 2**20:.1f} MiB")
    print(f"steelyard, start-up:             {spread([a['start_s'] for a in ours])} s")
    print(f"steelyard, load from the store:  {spread([a['load_s'] for a in ours])} s")
    print(f"steelyard, answer:               {spread([a['answer_s'] for a in ours])} s")
    print(f"steelyard, load and answer:      {spread([a['all_s'] for a in ours])} s")
    print(f"pyarrow, read and average:       {spread([b['all_s'] for b in theirs])} s")
    print(
        f"steelyard / pyarrow:             {spread([a['all_s'] / b['all_s'] for a, b in answers])}"
    )
    print(f"{RESAMPLE_COUNT:,} resamples of {BOOTSTRAP_VALUES:,} values")
    print(f"steelyard, studentised:          {spread([a['all_s'] for a, _ in bootstraps])} s")
    print(f"scipy, percentile:               {spread([b['all_s'] for _, b in bootstraps])} s")
    ratios = [a["all_s"] / b["all_s"] for a, b in bootstraps]
    print(f"steelyard / scipy:               {spread(ratios)}")
    holds = (
        statistics.median(a["all_s"] for a in ours) < LIMIT_S
        and statistics.median(a["all_s"] for a, _ in bootstraps) < LIMIT_S
    )
    print("holds" if holds else "DOES NOT HOLD")
    sys.exit(0 if holds else 1)


if __name__ == "__main__":
    main()
