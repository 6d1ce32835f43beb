"""Profiles: recorded, compared with each other, and put to the test."""
