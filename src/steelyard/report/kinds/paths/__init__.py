"""Maps of call paths: what was learnt, and how much they resolve."""
