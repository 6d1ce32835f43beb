"""Where a program spends its time."""
