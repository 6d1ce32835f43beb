"""Repositories of git: revisions, their order, and work trees of single revisions."""
