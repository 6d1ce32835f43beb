"""What of a program moves, and why the rest does not."""
