"""The sampler's files: reading them, and what they say of their recording."""
