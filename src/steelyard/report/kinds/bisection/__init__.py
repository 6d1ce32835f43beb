"""The revision that a search found: its document and text."""
