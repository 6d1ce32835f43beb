"""Call paths by where a program is and how high its stack is: maps, and how much they resolve."""
