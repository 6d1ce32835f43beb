"""The command line. Only this room prints or exits."""
