"""Tables of data as analyses take them, and what an analysis by name is and gives."""
