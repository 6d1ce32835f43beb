"""The command that runs trials of a plan from a file."""
