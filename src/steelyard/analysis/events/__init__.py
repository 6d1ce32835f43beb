"""Internal variance: what programs do inside, and whether that goes with their results."""
