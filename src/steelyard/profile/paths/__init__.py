"""Learning the call paths of programs: their recorder, its files, and the maps that are kept."""
