"""How many call paths keys resolve over the suite, before and after programs are changed."""
