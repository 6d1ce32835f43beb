"""A service's pages and its API for programs."""
