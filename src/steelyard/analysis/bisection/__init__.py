"""Which revision made a program slower: a posterior over a history with merges."""
