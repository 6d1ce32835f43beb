"""Tables of hosts and benchmarks with known truth."""

import numpy as np

from steelyard.predict.platforms.rows import Row, make_table


def low_rank_costs(hosts, benchmarks, rank=3, noise=0.01, seed=1):
    """Logarithms of times: speeds of hosts, sizes of benchmarks, and `rank` ways to differ."""
    draw = np.random.default_rng(seed)
    speed = draw.normal(size=(hosts, 1)) * 0.6
    ways = draw.normal(size=(hosts, rank)) @ draw.normal(size=(rank, benchmarks)) * 0.15
    size = draw.normal(size=(1, benchmarks)) + 4
    return speed + size + ways + noise * draw.normal(size=(hosts, benchmarks))


def table_of(costs, **more):
    """The platform table of costs, NaN where nothing was measured."""
    rows = [
        Row(f"host{h}", f"b{b}", float(np.exp(costs[h, b])), f"line {h}")
        for h in range(costs.shape[0])
        for b in range(costs.shape[1])
        if np.isfinite(costs[h, b])
    ]
    return make_table("times.csv", rows, **more)
