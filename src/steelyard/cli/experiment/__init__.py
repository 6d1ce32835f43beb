"""Commands on experiment files, and on the studies cause and events."""
