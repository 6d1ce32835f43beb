"""Effects of factors on each program of a suite."""
