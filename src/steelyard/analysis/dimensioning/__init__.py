"""How often to repeat each level, and what precision that buys."""
