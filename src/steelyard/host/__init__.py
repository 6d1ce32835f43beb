"""The machine: what disturbs measurements on it, and how to quieten it and put it back."""
