"""The console script's way in: what has to be done before anything else is loaded."""

import gc

# A short-lived process: what reference counting leaves goes with it. Loading the command line
# alone would start the collector dozens of times, for a tenth of the time that it takes.
gc.disable()

from steelyard.cli.main import main  # noqa: E402

__all__ = ["main"]
