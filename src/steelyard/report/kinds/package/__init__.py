"""Benchmark packages: what was made, and what was found wrong."""
