"""Where answers go: text to a terminal, one JSON object to a file or to standard output."""

from __future__ import annotations

import os
import sys
from typing import Any

from steelyard.core.errors import SteelyardError, UsageError


def write_json(document: dict[str, Any], target: str | None) -> None:
    """Write `document` to the file `target`, ``-`` being standard output; None writes nothing."""
    if target is None:
        return
    import json

    text = json.dumps(document, allow_nan=False, ensure_ascii=False, indent=1) + "\n"
    data = text.encode("utf-8", "replace")
    if target == "-":
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
        return
    partial = f"{target}.{os.getpid()}.partial"
    try:
        with open(partial, "wb") as file:
            file.write(data)
        os.replace(partial, target)
    except OSError as error:
        raise UsageError(
            f"The answer cannot be written to {target}: {error.strerror}. "
            "Name a file in a directory that you may write to.",
            field="--json",
        ) from None


def write_text(text: str) -> None:
    """Write `text` to standard output; what a terminal cannot show is replaced."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "replace").decode(encoding))
    sys.stdout.flush()


def write_error(error: SteelyardError) -> None:
    """One message on standard error."""
    text = f"steelyard: error: {error.message}\n"
    encoding = sys.stderr.encoding or "utf-8"
    sys.stderr.write(text.encode(encoding, "replace").decode(encoding))
    sys.stderr.flush()
