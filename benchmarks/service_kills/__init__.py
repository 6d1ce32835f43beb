"""Kills of a service and of all that it stands on, with an audit in SQL."""
