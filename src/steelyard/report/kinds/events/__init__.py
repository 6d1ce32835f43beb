"""A study of events inside programs."""
