"""Archives of which nothing is believed, written into a directory that they cannot leave."""
