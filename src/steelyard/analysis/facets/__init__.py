"""A response split into facets by factors."""
