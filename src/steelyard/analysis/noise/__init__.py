"""What each setup of a machine does to the noise of one program."""
