"""Build programs, with their layout randomised where that is asked for."""
