"""Simulated experiments with a known truth, which show what the intervals are worth."""
