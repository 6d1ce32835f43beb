"""The host's status, and what was put back on it."""
