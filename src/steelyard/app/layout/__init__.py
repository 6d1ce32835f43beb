"""Programs whose layout moves: compiling them, moving others, and what moves of one."""
