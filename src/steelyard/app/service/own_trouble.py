"""What goes wrong with one experiment of a service stays that experiment's trouble."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from steelyard.core.errors import SteelyardError, StoreError
from steelyard.core.masking import mask_text


@contextmanager
def only_its_own(tell: Callable[[str], None]) -> Iterator[None]:
    """Do something for one experiment. Where that fails, `tell` is told why in one line, and
    whoever asked goes on with the next experiment: workers ask, and serve all of them.

    Raises
    ------
    StoreError
        The database cannot be used, which is everyone's trouble.
    """
    try:
        yield
    except StoreError:
        raise
    except SteelyardError as error:
        tell(mask_text(error.message, ()))
    except Exception as error:  # noqa: BLE001 - a slip in one analysis must not stop the service
        tell(f"the service failed with {type(error).__name__}")
