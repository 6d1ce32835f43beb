"""What of an experiment was found again when it was run again."""
