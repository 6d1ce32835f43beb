"""Steelyard weighs programs: whether a version is faster, by how much, and how sure that is."""

__version__ = "0.1.0"
