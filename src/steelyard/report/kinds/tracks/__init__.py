"""Tracks of the history: which there are, and what became of values that were added."""
