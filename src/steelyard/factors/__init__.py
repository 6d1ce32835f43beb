"""Factors: what an experiment varies. Each maps a variant to one with a level of it. Pure."""
