"""Pages that are served: from here a person acts on an answer."""
