"""Variants compared, or one measured: the answer of an experiment."""
