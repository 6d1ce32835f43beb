"""How fast are analyses of many trials, quantile regression beside R's quantreg, and plans?

    .venv/bin/python -m benchmarks.analyses [--repeats N]

The quantile regression runs in turn with R's `rq.fit.fnb` (method 'fn') on the same file: 100,000
rows, 16 columns, 10 quantiles, on one thread each. It is solved exactly; R's ends at a duality gap
of 1e-6. Needs R with quantreg for that part (Debian: r-cran-quantreg), and says so without.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from steelyard.analysis.methods import ANALYSES
from steelyard.analysis.quantile.many_rows import QuantileProblem
from steelyard.analysis.tables.analysis_method import Question
from steelyard.analysis.tables.data_columns import Table
from steelyard.design.blocks import plan_block
from steelyard.design.design import DesignFactor
from steelyard.design.full_factorial import full_factorial

ROWS, COLUMNS = 100_000, 16
ANALYSIS_LIMIT_S, PLAN_LIMIT_S = 2.0, 5.0
QUANTILES = (*(k / 10 for k in range(1, 10)), 0.99)
R_SCRIPT = """
suppressMessages(library(quantreg))
f <- file("{data}", "rb"); z <- matrix(readBin(f, "double", {rows} * ({columns} + 1)), {rows})
x <- z[, 1:{columns}]; y <- z[, {columns} + 1]; taus <- c(1:9 / 10, 0.99)
fit <- function(tau) rq.fit.fnb(x, y, tau = tau)$coefficients
t <- system.time(b <- sapply(taus, fit))
cat(t[["elapsed"]], b, sep = "\\n")
"""


def trials_table() -> Table:
    """100,000 trials of six factors, one of them with three levels."""
    generator = np.random.default_rng(1)
    columns: dict[str, object] = {}
    effect = np.zeros(ROWS)
    for factor in range(6):
        codes = generator.integers(0, 3 if factor == 0 else 2, ROWS)
        columns[f"f{factor}"] = tuple(np.array(["a", "b", "c"])[codes].tolist())
        effect += 0.01 * factor * codes
    columns["time"] = 1.0 + effect + 0.05 * generator.standard_normal(ROWS)
    return Table("trials", columns, range(ROWS))  # type: ignore[arg-type]


def analysis_s(table: Table) -> float:
    """The linear model with all interactions, as `steelyard analyze` makes it."""
    question = Question("time", tuple(f"f{k}" for k in range(6)))
    started_s = time.perf_counter()
    ANALYSES.get("anova").analyze(table, question)
    return time.perf_counter() - started_s


def plan_s() -> float:
    """A plan of a million trials: 10,000 randomised blocks of the 100 points of a design."""
    started_s = time.perf_counter()
    points = full_factorial([DesignFactor(name, tuple("abcdefghij")) for name in "xy"]).points
    count = sum(len(plan_block(1, block, len(points))) for block in range(10_000))
    assert count == 1_000_000
    return time.perf_counter() - started_s


def quantile_data() -> tuple[np.ndarray, np.ndarray]:
    """Heavy tails that one column widens."""
    generator = np.random.default_rng(2)
    matrix = np.column_stack([np.ones(ROWS), generator.normal(size=(ROWS, COLUMNS - 1))])
    noise = generator.standard_t(5, ROWS) * (1 + 0.3 * np.abs(matrix[:, 1]))
    return matrix, matrix @ generator.normal(size=COLUMNS) + noise


def quantiles_s(matrix: np.ndarray, values: np.ndarray) -> tuple[float, np.ndarray]:
    """All ten quantiles, solved exactly."""
    started_s = time.perf_counter()
    problem = QuantileProblem(matrix, values)
    found = np.column_stack([problem.solve(quantile).coefficients for quantile in QUANTILES])
    return time.perf_counter() - started_s, found


def quantreg_s(path: Path) -> tuple[float, np.ndarray]:
    """The same by R, without the time to read the file."""
    script = R_SCRIPT.format(data=path, rows=ROWS, columns=COLUMNS)
    told = subprocess.run(["Rscript", "-e", script], capture_output=True, text=True, check=True)
    elapsed, *values = map(float, told.stdout.split())
    return elapsed, np.array(values).reshape(len(QUANTILES), COLUMNS).T


def _spread(values: list[float]) -> str:
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def _beside_r(repeats: int) -> bool:
    """Whether ours is no slower, after printing both."""
    matrix, values = quantile_data()
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "data"
        np.concatenate([matrix.T, values[None]]).tofile(path)
        ours: list[float] = []
        theirs: list[float] = []
        difference = 0.0
        for _ in range(repeats):
            elapsed, found = quantiles_s(matrix, values)
            r_elapsed, r_found = quantreg_s(path)
            ours.append(elapsed)
            theirs.append(r_elapsed)
            difference = max(difference, float(np.abs(found - r_found).max()))
    ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
    print(f"10 quantiles of 100,000 x 16:    {_spread(ours)} s")
    print(f"R quantreg, method fn:           {_spread(theirs)} s")
    print(f"steelyard / R:                   {_spread(ratios)}")
    print(f"largest difference of an effect: {difference:.1e}")
    return statistics.median(ratios) <= 1.0


def main() -> int:
    """Prints the table of docs/PERFORMANCE.md."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.analyses", description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    repeats = parser.parse_args().repeats

    def repeated(step: Callable[[], float]) -> list[float]:
        return [step() for _ in range(repeats)]

    table = trials_table()
    analyses, plans = repeated(lambda: analysis_s(table)), repeated(plan_s)
    print(f"100,000 trials, six factors:     {_spread(analyses)} s")
    print(f"a plan of 1,000,000 trials:      {_spread(plans)} s")
    holds = statistics.median(analyses) < ANALYSIS_LIMIT_S
    holds = holds and statistics.median(plans) < PLAN_LIMIT_S
    if shutil.which("Rscript") is None:
        print("R is not here to stand beside: apt-get install r-cran-quantreg", file=sys.stderr)
    else:
        holds = _beside_r(repeats) and holds
    print("holds" if holds else "DOES NOT HOLD")
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
