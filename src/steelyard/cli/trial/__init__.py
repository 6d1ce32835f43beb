"""The command that runs one trial from a file."""
