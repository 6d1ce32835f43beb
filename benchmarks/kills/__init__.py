"""Steelyard ended in every way at random instants: what is lost, doubled or left by it."""
