"""The analyses that are asked for by name: one file each.

To add one, put a file here that defines ``EXTENSION``, a `Method` whose `analyze` takes a `Table`
and a `Question` (analysis/table.py, analysis/method.py) and gives a frozen dataclass with a `kind`
and `cautions`; the calculation itself lives beside this folder. A result of a new kind also takes
a file in ``report/renderings`` (its document, its text, its page) and a schema. tests/contracts
runs over everything registered; ``steelyard analyze --method NAME`` then knows it.
"""

from __future__ import annotations

from steelyard.analysis.method import Method
from steelyard.core.registry import Registry

ANALYSES: Registry[Method] = Registry(
    "analysis", "steelyard.analysis.methods", "steelyard.analyses"
)
