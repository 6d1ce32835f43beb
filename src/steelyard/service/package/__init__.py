"""Benchmark packages: reading, keeping, checking them, and the environments that they run in."""
