"""How often to repeat each level."""
