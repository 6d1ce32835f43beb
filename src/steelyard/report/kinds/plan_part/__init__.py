"""A part of a plan, as it goes to a machine, and what comes back."""
