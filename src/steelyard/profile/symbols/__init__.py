"""From addresses to functions: symbols, debugging information, maps of compilers at run time."""
