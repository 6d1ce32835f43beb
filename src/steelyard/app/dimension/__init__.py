"""How often each level is to be repeated: initial experiments and what the store keeps of them."""
