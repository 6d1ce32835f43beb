"""One trial, as an executor gives it back."""
