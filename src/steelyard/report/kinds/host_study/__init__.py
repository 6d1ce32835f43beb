"""What each setup of a machine does to the noise of a program."""
