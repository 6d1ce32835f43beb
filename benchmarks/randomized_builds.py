r"""Does a project build with any layout, and does its time depend on it?

Builds the source in a directory with several seeds, and with the first seed twice. Each build
must pass the check, each seed must give another layout of every program with enough to order,
and the same seed the same bits. With ``--run`` the builds are then timed in blocks of random
order, and the variance between builds is set against that between runs of one build (one-way
analysis of variance; Fisher's F tests that builds do not differ).

    .venv/bin/python -m benchmarks.randomized_builds --source bzip2-1.0.8 --seeds 10 \
        --build 'make CC="$CC" bzip2' --check './bzip2 -dc sample1.bz2 | cmp - sample1.ref' \
        --randomize link-order --randomize function-order --compiler CC=clang-19
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from steelyard.build.run_build import Build, run_build
from steelyard.core.build_spec import BuildSpec


def build_all(options: argparse.Namespace, directory: Path) -> list[Build]:
    """The builds: the first seed, the first again, and the others."""
    spec = BuildSpec(
        ("/bin/sh", "-c", f"{options.build}\n"),
        options.source,
        compilers=tuple(tuple(each.split("=", 1)) for each in options.compiler),
        randomize=tuple(options.randomize),
    )
    seeds = [1, *range(1, options.seeds + 1)]
    builds: list[Build] = []
    for number, seed in enumerate(seeds):
        build = run_build(spec, seed, str(directory / f"{number:03}"))
        subprocess.run(["/bin/sh", "-ec", options.check], cwd=build.directory, check=True)
        builds.append(build)
        print(f"seed {seed}: built in {build.cost_s:.1f} s, and the check passes", flush=True)
    return builds


def judge(builds: Sequence[Build]) -> list[dict[str, Any]]:
    """Of each program: how many layouts the seeds gave, and whether the same seed repeats."""
    rows: list[dict[str, Any]] = []
    for link in builds[0].realised["links"]:
        output = link["output"]
        found = [
            next(each for each in build.realised["links"] if each["output"] == output)
            for build in builds
        ]
        rows.append(
            {
                "program": output,
                "linker": link["linker"],
                "units": link["units"],
                "seeds": len(builds) - 1,
                "layouts": len({each["realised"]["addresses_sha256"] for each in found}),
                "orders": len({each["realised"]["order_sha256"] for each in found}),
                "same_seed_same_bits": _digest(builds[0], output) == _digest(builds[1], output),
            }
        )
    return rows


def _digest(build: Build, output: str) -> str:
    return hashlib.sha256(Path(build.directory, output).read_bytes()).hexdigest()


def time_runs(builds: Sequence[Build], command: str, blocks: int) -> dict[str, float]:
    """User times of `command` in each build, block after block, and what they say of builds."""
    generator = np.random.default_rng(1)
    times_s = np.empty((blocks, len(builds)))
    for block in range(blocks):
        for index in generator.permutation(len(builds)):
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            argv = ["/bin/sh", "-c", command]
            subprocess.run(argv, cwd=builds[index].directory, stdout=subprocess.DEVNULL, check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            times_s[block, index] = after - before
    within = float(times_s.var(axis=0, ddof=1).mean())
    between = float(times_s.mean(axis=0).var(ddof=1)) - within / blocks
    test = stats.f_oneway(*times_s.T)
    means = times_s.mean(axis=0)
    return {
        "mean_s": float(times_s.mean()),
        "variation_within_percent": 100 * within**0.5 / float(times_s.mean()),
        "variation_between_percent": 100 * max(between, 0.0) ** 0.5 / float(times_s.mean()),
        "slowest_to_fastest_build": float(means.max() / means.min()),
        "f": float(test.statistic),
        "p": float(test.pvalue),
    }


def main() -> None:
    """Build, judge, time, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", required=True)
    parser.add_argument("--build", required=True)
    parser.add_argument("--check", default="true")
    parser.add_argument("--run")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--blocks", type=int, default=10)
    parser.add_argument("--randomize", action="append", required=True)
    parser.add_argument("--compiler", action="append", default=[])
    options = parser.parse_args()
    options.source = os.path.abspath(options.source)
    with tempfile.TemporaryDirectory() as directory:
        builds = build_all(options, Path(directory))
        rows = judge(builds)
        for row in rows:
            print(json.dumps(row))
        if options.run:
            print(json.dumps(time_runs(builds[1:], options.run, options.blocks)))
    if not all(row["same_seed_same_bits"] for row in rows):
        sys.exit("The same seed gave other bits.")


if __name__ == "__main__":
    main()
