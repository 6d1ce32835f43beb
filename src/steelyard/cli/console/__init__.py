"""Where answers go, and what is never printed."""
