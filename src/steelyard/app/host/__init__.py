"""This machine: what disturbs it, a program on a quiet one, and putting it back."""
