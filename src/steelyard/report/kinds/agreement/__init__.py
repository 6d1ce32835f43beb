"""How far profilers agree."""
