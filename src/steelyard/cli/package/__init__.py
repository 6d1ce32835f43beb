"""Commands on benchmark packages."""
