"""Images and libraries that have one name and unlike contents on workers of an experiment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from steelyard.core.experiment_results import Caution

_SHOWN = 12


def unlike_rooms(provenance: Mapping[str, Any]) -> tuple[Caution, ...]:
    """A caution for each name under which workers had different contents.

    Parameters
    ----------
    provenance : mapping
        Of an experiment that a service ran: `rooms` has names, digests and workers. It comes from
        workers or from a file, so that anything may be in it.

    Notes
    -----
    A level whose contents differ by worker is confounded with the worker.
    """
    seen: dict[tuple[str, str], dict[str, set[str]]] = {}
    for kind, name, digest, workers in _rooms(provenance.get("rooms")):
        seen.setdefault((kind, name), {}).setdefault(digest, set()).update(workers)
    return tuple(
        Caution("unlike-images", _sentence(kind, name, digests))
        for (kind, name), digests in sorted(seen.items())
        if len(digests) > 1
    )


def _sentence(kind: str, name: str, digests: Mapping[str, set[str]]) -> str:
    told = "; ".join(
        f"{digest[:_SHOWN]} on {', '.join(sorted(workers)) or 'some worker'}"
        for digest, workers in sorted(digests.items())
    )
    return (
        f"The {kind} {name!r} is not the same on all workers: {told}. What it is said to do may be "
        "the difference between them. Bring the same contents to all, or give them unlike names."
    )


def _rooms(told: Any) -> Iterator[tuple[str, str, str, list[str]]]:
    for each in _dicts(told):
        workers = each.get("workers")
        names = cast("list[Any]", workers) if isinstance(workers, list) else []
        named = [name for name in names if isinstance(name, str)]
        found = [("image", room) for room in (each.get("image"), *_dicts(each.get("images")))]
        for kind, room in (*found, ("libraries", each.get("libraries"))):
            if isinstance(room, dict):
                about = cast("dict[str, Any]", room)
                name, digest = about.get("name"), about.get("digest")
                if isinstance(name, str) and isinstance(digest, str):
                    yield kind, name, digest, named


def _dicts(told: Any) -> Sequence[dict[str, Any]]:
    listed = cast("list[Any]", told) if isinstance(told, list) else []
    return [cast("dict[str, Any]", each) for each in listed if isinstance(each, dict)]
