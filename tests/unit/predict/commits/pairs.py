"""Tables of pairs with a known truth."""

import numpy as np

from steelyard.predict.commits.pair_table import PairTable


def pair_table(values, changed, indicators=("rank", "new"), order=None, **more):
    """A table of rows of one benchmark, one revision a row, the first the oldest."""
    values = np.array(values, float)
    count = len(values)
    revisions = tuple(f"r{row}" for row in range(count))
    columns = {
        "benchmarks": ("b",) * count,
        "projects": ("",) * count,
        "distance": np.ones(count),
        "cost_s": np.ones(count),
        **more,
    }
    return PairTable(
        "pairs.csv",
        columns["benchmarks"],
        revisions,
        tuple(f"s{row}" for row in range(count)),
        columns["projects"],
        np.arange(count, dtype=float) if order is None else np.array(order, float),
        columns["distance"],
        columns["cost_s"],
        tuple(indicators),
        values,
        np.array(changed, float),
    )


def simulated(count, seed=1, quiet=0.4, at=70.0):
    """Pairs whose benchmarks change the more probably the higher the first indicator is."""
    rng = np.random.default_rng(seed)
    rank = np.where(rng.random(count) < 0.4, rng.uniform(0, 100, count), 0.0)
    new = rng.poisson(2.0, count).astype(float)
    silent = rng.random(count) < quiet
    rank[silent], new[silent] = 0.0, 0.0
    truth = np.where(rank > 0, 1 / (1 + np.exp(-(rank - at) / 5)), 0.0)
    return pair_table(np.column_stack([rank, new]), rng.random(count) < truth), truth
