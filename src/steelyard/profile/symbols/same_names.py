"""Functions of one name that are several: those that only their own source sees (``static``)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from steelyard.analysis.profiles.profile_samples import Frame

Located = tuple[Frame, str]


def is_one_source(one: str, other: str) -> bool:
    """Whether two sources may be one file: symbols tell its last part alone, or nothing."""
    if not one or not other or one == other:
        return True
    return "/" not in min(one, other, key=len) and _last(one) == _last(other)


def told_apart(functions: Sequence[Located]) -> list[Frame]:
    """Names for functions with the source that each is written in.

    Where functions of one file have one name and several sources, the source is told as
    ``init [net.c]``, with so many of its folders that all differ. A function without source keeps
    its name.
    """
    sources: dict[Frame, list[str]] = {}
    for frame, source in functions:
        if source:
            sources.setdefault(frame, []).append(source)
    labels = {frame: _labels(_whole(here)) for frame, here in sources.items()}
    return [_told(frame, labels[frame][source] if source else "") for frame, source in functions]


def _told(frame: Frame, label: str) -> Frame:
    return frame._replace(name=f"{frame.name} [{label}]") if label else frame


def _whole(sources: Iterable[str]) -> dict[str, str]:
    """For each source the path that it stands for, where one alone ends in it."""
    sources = set(sources)
    paths = [source for source in sources if "/" in source]
    ends = {source: [path for path in paths if _last(path) == source] for source in sources}
    return {source: found[0] if len(found) == 1 else source for source, found in ends.items()}


def _labels(whole: Mapping[str, str]) -> dict[str, str]:
    """For each source the end of its path, so long that all differ; nothing where there is one."""
    paths = set(whole.values())
    ends = dict.fromkeys(paths, "")
    count = 0
    while len(set(ends.values())) < len(paths):
        count += 1
        ends = {path: "/".join(path.split("/")[-count:]) for path in paths}
    return {source: ends[path] for source, path in whole.items()}


def _last(path: str) -> str:
    return path.rpartition("/")[2]
