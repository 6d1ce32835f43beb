"""Write the table of the fields of experiment files into their page, from the declaration."""

from __future__ import annotations

import sys
from pathlib import Path

from steelyard.app.experiment.experiment_fields import field_rows

PAGE = Path("docs/commands/experiment.md")
BEGIN = "<!-- fields: written by tools/write_experiment_fields.py -->\n"
END = "<!-- end of fields -->\n"


def with_fields(text: str) -> str:
    """The page with the table that the declaration makes.

    Raises
    ------
    ValueError
        The page has no place for it.
    """
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{PAGE} lacks {BEGIN.strip()} or {END.strip()}")
    rows = "\n".join(field_rows())
    return f"{before}{BEGIN}\n{rows}\n\n{END}{after}"


def main() -> int:
    """Write the page anew."""
    PAGE.write_text(with_fields(PAGE.read_text("utf-8")), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
