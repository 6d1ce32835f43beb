"""The console script's way in: what has to be done before anything else is loaded."""

import gc
import os
import sys

# A short-lived process: what reference counting leaves goes with it. Loading the command line
# alone would start the collector dozens of times, for a tenth of the time that it takes.
gc.disable()

from steelyard.cli.layout.compiler_drivers import LANGUAGES, has_all_streams, run_driver  # noqa: E402


def main() -> None:
    """Be a compiler driver, or else the command line."""
    if len(sys.argv) > 1 and sys.argv[1] in LANGUAGES and has_all_streams():
        os._exit(run_driver(sys.argv[1], sys.argv[2:]))
    from steelyard.cli.main import main as command_line

    command_line()


__all__ = ["main"]
