"""Proofs of the native sampler."""
