"""From the trials of an experiment to its answer: estimates, verdicts, cautions, stopping."""
