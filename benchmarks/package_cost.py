"""What the container around a trial of a benchmark package costs: in what is timed, and besides.

    python -m benchmarks.package_cost [--blocks 200] [--environment contained]

The same script is run as a program of the host and as a package, in randomised blocks of one
experiment. The ratio of what is timed should be 1; what a trial costs besides is printed too.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path
from statistics import median

from steelyard.analysis.comparison.experiment_answer import answer
from steelyard.app.package.packaged_variant import PackageChoice, keep_package, packaged_variant
from steelyard.app.request.experiment_request import build_metrics
from steelyard.app.running import Place, run_experiment
from steelyard.core.build_spec import BuildSpec
from steelyard.core.experiment_results import Experiment
from steelyard.core.experiment_spec import ExperimentSpec, LaunchSpec, Variant
from steelyard.core.identifier import new_identifier
from steelyard.core.stopping_spec import StoppingSpec
from steelyard.service.package.environments import ENVIRONMENTS

# Some milliseconds of a shell that starts a program. Nothing is written: a container has files in
# memory, the host on a disk.
RUN = """#!/bin/sh
i=0
while [ $i -lt {rounds} ]; do i=$((i+1)); done
/bin/true
"""
COLLECT = "#!/bin/sh\ntar -cf r.tar run.sh\necho r.tar\n"


def main() -> None:
    """Parse, run, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--blocks", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3000)
    parser.add_argument("--environment", choices=list(ENVIRONMENTS), default="contained")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["STEELYARD_PACKAGES"] = os.path.join(folder, "packages")
        done = run_experiment(_spec(Path(folder), options), Place(os.path.join(folder, "store")))
        _show(done)


def _spec(folder: Path, options: argparse.Namespace) -> ExperimentSpec:
    source = folder / "package"
    source.mkdir()
    for name, text in (("run.sh", RUN.format(rounds=options.rounds)), ("collect.sh", COLLECT)):
        (source / name).write_text(text)
        (source / name).chmod(0o755)
    package = packaged_variant(
        keep_package(str(source)).digest, "package", PackageChoice(options.environment)
    )
    plain = Variant(
        "host",
        LaunchSpec(("{build}/run.sh",), working_directory="{build}"),
        build=BuildSpec(("true",), source=str(source)),
    )
    return ExperimentSpec(
        identifier=new_identifier(time.time_ns() // 1_000_000),
        kind="comparison",
        variants=(plain, package),
        metrics=build_metrics(()),
        seed=1,
        warmup_count=2,
        stopping=StoppingSpec(runs=options.blocks),
    )


def _show(done: Experiment) -> None:
    for comparison in answer(done).comparisons:
        if comparison.metric.name in ("wall_time", "cpu_time"):
            print(comparison.metric.name, comparison.ratio)
    for index, variant in enumerate(done.spec.variants):
        own = [trial for trial in done.trials if trial.variant == index and not trial.warmup]
        walls = [trial.measurements["wall_time"][0] for trial in own if trial.status == "ok"]
        besides = [t.spent_s - t.measurements["wall_time"][0] for t in own if t.status == "ok"]
        print(
            f"{variant.name}: {len(walls)} of {len(own)} trials, median {1e3 * median(walls):.3f} "
            f"ms timed, {1e3 * median(besides):.3f} ms besides"
        )


if __name__ == "__main__":
    main()
