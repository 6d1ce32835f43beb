"""Experiments: weighed from a command line, read from a file, designed, planned and continued."""
