"""Commands that record, show and judge profiles."""
