"""What was measured: the library of experiments, and analyses of them by name."""
