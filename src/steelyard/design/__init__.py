"""Which trials, how often, in which order. Pure: every order is drawn from the seed."""
