"""The one engine: from a specification to trials on this machine, journaled as they end."""
