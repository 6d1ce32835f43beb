"""Where experiments are kept: one SQLite file, and the file formats of other tools."""
