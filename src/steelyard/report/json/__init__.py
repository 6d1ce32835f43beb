"""The documents that `--json` writes, one file a kind."""
