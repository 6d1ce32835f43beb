"""Experiments that measure the same things again: within subjects, and at nested levels."""
