"""The command that shows a store in a browser."""
