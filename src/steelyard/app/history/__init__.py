"""Tracks along revisions: adding values, finding changes, telling of them, bisection."""
