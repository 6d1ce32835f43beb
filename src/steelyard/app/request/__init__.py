"""From what a user asks for to what is to be run: words of commands, levels, builds, metrics."""
