"""Text for people, whatever the kind of answer: numbers, names, tables, progress."""
