"""Intervals of means and of ratios, and what makes several of them hold together."""
