"""Real programs to measure with: recipes, and fetching, unpacking and feeding them."""
