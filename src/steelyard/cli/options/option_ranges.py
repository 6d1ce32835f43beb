"""Numbers that options take: counts of runs, and seeds."""

from __future__ import annotations

import click

# What click counts in is unbounded; no plan has more, and what lies beyond would never end.
MOST_RUNS = 10**9
MOST_WARMUPS = 10**6
RUNS = click.IntRange(1, MOST_RUNS)
SEED = click.IntRange(0, 2**63 - 1)
