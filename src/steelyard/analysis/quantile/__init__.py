"""Quantile regression: exact vertices, an interior point method for many rows, intervals."""
