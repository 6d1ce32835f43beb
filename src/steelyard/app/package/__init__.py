"""Benchmark packages: made, checked, and run in the environment of a worker."""
