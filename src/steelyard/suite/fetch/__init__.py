"""Fetching the artifacts of a program, through the clients that the user has set up."""
