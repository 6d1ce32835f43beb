"""The command that analyses tables, and what every analysis is shown by."""
