"""Predictions of what nobody has measured."""
