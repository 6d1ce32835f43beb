"""How long does the analysis of the states of 10 executions of 3,000 iterations take?

    python -m benchmarks.states.states_speed

The executions are warm-ups with bursts, which have many change points. The time of the analysis is
that of `analyze` on the table that was read, also as CPU time, which other programs on the machine
disturb less; the command is a fresh process that reads the CSV and prints the answer.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from steelyard.analysis.methods.states import analyze
from steelyard.analysis.tables.analysis_method import Question
from steelyard.store.data_table import read_data_table

EXECUTIONS, ITERATIONS = 10, 3000
REPETITIONS = 9


def write_table(path: Path) -> None:
    """A table of executions with a warm-up, noise, and bursts."""
    generator = np.random.default_rng(7)
    lines = ["execution,iteration,value"]
    for execution in range(EXECUTIONS):
        values = generator.normal(0.01, 0.0002, ITERATIONS)
        values[: int(generator.integers(20, 600))] += 0.003
        for start in generator.integers(0, ITERATIONS - 60, 20):
            values[start : start + int(generator.integers(5, 60))] += 0.0015
        lines += [f"{execution},{at},{value:.6g}" for at, value in enumerate(values.tolist())]
    path.write_text("\n".join(lines) + "\n", "ascii")


def timed_s(run, clock=time.perf_counter) -> list[float]:
    """The time of each repetition by a clock."""
    found: list[float] = []
    for _ in range(REPETITIONS):
        begin = clock()
        run()
        found.append(clock() - begin)
    return found


def main() -> None:
    """Time both and print them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "times.csv"
        write_table(path)
        table = read_data_table(str(path))
        command = [sys.executable, "-m", "steelyard.cli.main", "analyze", str(path)]
        command += ["--method", "states"]
        runs = {
            "analysis": lambda: analyze(table, Question()),
            "whole command": lambda: subprocess.run(command, check=True, capture_output=True),
        }
        for name, run in runs.items():
            times_s = timed_s(run)
            shown = f"{statistics.median(times_s):.2f} s"
            print(f"{name}: {shown} ({min(times_s):.2f} to {max(times_s):.2f})")
        cpu_s = timed_s(runs["analysis"], time.process_time)
        print(f"analysis, CPU time: {statistics.median(cpu_s):.2f} s")


if __name__ == "__main__":
    main()
