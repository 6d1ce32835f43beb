"""Profiles: recording them, and finding out which function each sample was in."""
