"""Where the parts of a plan are run: this machine, or others."""
