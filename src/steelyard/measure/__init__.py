"""Running programs and taking what they cost: the launcher, its journal, the metrics."""
