"""A causal analysis."""
