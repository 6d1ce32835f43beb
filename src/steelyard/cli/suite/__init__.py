"""Commands on the suite of real programs."""
