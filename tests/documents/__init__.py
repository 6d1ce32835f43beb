"""The commands and files of README and docs, and a folder in which they can be run."""
