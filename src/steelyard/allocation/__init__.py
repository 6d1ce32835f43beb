"""Which workers run an experiment: what is asked of hosts, and the fewest that give it."""
