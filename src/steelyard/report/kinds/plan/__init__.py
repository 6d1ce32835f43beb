"""What an experiment would run."""
