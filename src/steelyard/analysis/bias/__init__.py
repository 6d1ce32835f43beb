"""Measurement bias: what happens to a comparison when the setup changes that nobody looks at."""
