"""The command that finds how often to repeat."""
