"""Fuzzing of every reader of foreign files: see docs/FUZZING.md."""
