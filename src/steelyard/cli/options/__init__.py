"""What options take, and how a call that contradicts itself is refused."""
