"""The page: one file that needs nothing else, neither another file nor a network."""
