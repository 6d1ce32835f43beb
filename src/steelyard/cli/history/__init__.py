"""`steelyard history`: changes along revisions."""
