"""The analyses that are asked for by name: one file each.

To add one, put a file here that defines ``EXTENSION``, a `Method` whose `analyze` takes a table of
columns and a `Question` (``analysis/tables``) and gives a frozen dataclass with a `kind` and
`cautions`; the calculation itself lives beside this folder. A result of a new kind also takes a
folder in ``report/kinds`` (its document, text, page, schema and rendering). tests/contracts runs
over everything registered; ``steelyard analyze --method NAME`` then knows it.
"""

from __future__ import annotations

from steelyard.analysis.tables.analysis_method import Method
from steelyard.core.registry import Registry

ANALYSES: Registry[Method] = Registry(
    "analysis", "steelyard.analysis.methods", "steelyard.analyses"
)
