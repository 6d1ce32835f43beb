"""An experiment as it was specified and run, and the store that holds it."""
