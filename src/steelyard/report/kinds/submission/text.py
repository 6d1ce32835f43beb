"""What is said of an experiment that is sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_FEW = 6


def submission_lines(document: Mapping[str, Any]) -> list[str]:
    """A `submission` document in sentences, for a terminal."""
    workers = list(document["workers"])
    named = ", ".join(workers[:_FEW]) + (f" and {len(workers) - _FEW} more" * (len(workers) > _FEW))
    fewest = "the fewest that give what is asked" if document["fewest"] else "few"
    count = f"{len(workers)} worker{'s' * (len(workers) != 1)} ({fewest}: {named})"
    if not document["fewest"]:
        count = f"{len(workers)} workers ({named}); fewer might do"
    trials, blocks = (_counted(document[f"{word}s"], word) for word in ("trial", "block"))
    lines = [f"{trials} in {blocks} on {count}"]
    if document["estimated_s"] is not None:
        whole = f", {duration_text(document['estimated_s'] * len(workers))} of workers in all"
        lines.append(
            f"about {duration_text(document['estimated_s'])} until the last has ended"
            f"{whole * (len(workers) > 1)} (by {document['estimated_from']})"
        )
    if document["goes_on"]:
        lines.append("and further blocks until it is precise enough")
    if document["experiment"] is not None:
        lines.append(f"sent as {document['experiment']}")
    return lines


def _counted(count: int, word: str) -> str:
    return f"{count} {word}{'s' * (count != 1)}"


def duration_text(seconds: float) -> str:
    """A time for people."""
    for size, unit in ((3600.0, "h"), (60.0, "min")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"
