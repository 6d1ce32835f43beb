"""Which experiment the beginning of an identifier, or `latest`, means."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.core.errors import UsageError
from steelyard.core.identifier import LENGTH

LATEST = "latest"


def find_identifier(prefix: str, identifiers: Sequence[str]) -> str:
    """The one of `identifiers` that starts with `prefix`; ``latest`` is the first of them.

    Parameters
    ----------
    identifiers : sequence of str
        Those that there are, the one that was added last first. An identifier says when its
        experiment was made by a clock that may have been set back, on whatever machine.

    Raises
    ------
    UsageError
        None or several do; the message says how to go on.
    """
    if not identifiers:
        raise UsageError(
            "The store holds no experiment yet. `steelyard measure` or `steelyard compare` "
            "makes one.",
            field="experiment",
        )
    if prefix.lower() == LATEST:
        return identifiers[0]
    found = [known for known in identifiers if prefix and known.startswith(prefix.upper())]
    if len(found) == 1:
        return found[0]
    if not found:
        raise UsageError(
            f"There is no experiment {prefix!r}. `steelyard list` names those that there are.",
            field="experiment",
        )
    shown = ", ".join(sorted(found)[:4])
    more = f" and {len(found) - 4} more" if len(found) > 4 else ""
    raise UsageError(
        f"{len(found)} experiments start with {prefix!r}: {shown}{more}. Give more of its "
        f"{LENGTH} characters.",
        field="experiment",
    )
