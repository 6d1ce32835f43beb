"""The command that reports on an experiment."""
