"""What failed."""
