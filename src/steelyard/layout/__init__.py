"""Programs whose code, stack and heap move while they run: building them and looking into them."""
