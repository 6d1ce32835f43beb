"""Whether functions have their right names."""
