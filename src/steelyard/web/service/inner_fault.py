"""A slip of the service itself: its journal says where it was, and who asked is told so."""

from __future__ import annotations

import logging
import os
import traceback

from steelyard.core.errors import SteelyardError

# Without a handler of its own what it says goes to standard error, which is the journal.
_JOURNAL = logging.getLogger("steelyard.service")
_FRAMES = 5


def inner_fault(error: Exception) -> SteelyardError:
    """What is told of an error that nobody expected.

    Its text and the address of the request stay untold: both may hold secrets.
    """
    frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
    way = " < ".join(f"{os.path.basename(each.filename)}:{each.lineno}" for each in frames[::-1])
    _JOURNAL.error("steelyard: a request failed with %s at %s", type(error).__name__, way)
    return SteelyardError("The service failed: tell its administrator. The journal says where.")
