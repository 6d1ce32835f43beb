"""Predictions of times that nobody has measured: shared mathematics, and a folder a question.

Pure: arrays in, frozen dataclasses out. `platforms/` predicts a time on another host.
"""
