"""The service: benchmark packages, workers and what they have run."""
