"""Which benchmarks a commit needs."""
