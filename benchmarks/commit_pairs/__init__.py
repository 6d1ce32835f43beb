"""How well and how fast `steelyard predict commits` finds the benchmarks that a commit needs."""
