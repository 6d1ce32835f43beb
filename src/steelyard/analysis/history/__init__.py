"""Tracks along revisions: what changes in them, where it began, and who is to be told."""
