"""Predictions of times on other hosts: tables, text, documents, page."""
