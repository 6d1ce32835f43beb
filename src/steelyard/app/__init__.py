"""The use cases. The only room that joins effects with analysis."""
