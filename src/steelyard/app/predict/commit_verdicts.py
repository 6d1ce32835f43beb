"""Labels of pairs: what `steelyard compare` found of benchmarks in both programs."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any

from steelyard.core.decoding import DECODING_FAULTS, regular_opener
from steelyard.core.errors import DataError, UsageError

_VERDICTS = ("faster", "slower", "equivalent", "undecided")


def read_verdicts(given: Sequence[str], benchmarks: Collection[str]) -> dict[str, str]:
    """The verdicts of ``NAME=FILE`` options, by benchmark.

    FILE is what ``steelyard compare OLD NEW --json FILE`` wrote: a document of the kind
    ``comparison`` with one comparison.

    Raises
    ------
    UsageError, DataError
        An option is not of that form or names no benchmark of the pair, or a file is no such
        document.
    """
    found: dict[str, str] = {}
    for text in given:
        name, equals, path = text.partition("=")
        if not (name and equals and path):
            raise UsageError(
                f"--verdict {text}: want NAME=FILE, a benchmark and its comparison.",
                field="--verdict",
            )
        if name not in benchmarks or name in found:
            why = "named twice" if name in found else "no benchmark of --use"
            raise UsageError(f"--verdict {text}: {name} is {why}.", field="--verdict")
        found[name] = _read_verdict(path)
    return found


def _read_verdict(path: str) -> str:
    from steelyard.store.whole_file import file_errors

    try:
        with file_errors(path, "read"), open(path, encoding="utf-8", opener=regular_opener) as file:
            document: dict[str, Any] = json.load(file)
        if document["kind"] != "comparison":
            raise ValueError("kind")
        comparisons = [dict(one) for one in document["comparisons"]]
        verdicts = [_VERDICTS[_VERDICTS.index(one["verdict"])] for one in comparisons]
    except DECODING_FAULTS:
        raise DataError(
            f"{path} is no comparison.\nA comparison is written by "
            "`steelyard compare OLD NEW --json FILE`.",
            field="--verdict",
        ) from None
    if len(verdicts) != 1:
        raise DataError(
            f"{path} has {len(verdicts)} comparisons: a benchmark has one, of the new program "
            "with the old one.",
            field="--verdict",
        )
    return verdicts[0]
