"""The largest resident set of the program.

The kernel carries the resident set of the process that called execve over into this value, so
that it is never below the launcher's own, which is kept under 1.5 MiB for that reason.
"""

from __future__ import annotations

from steelyard.measure.metric import Metric, rusage_value

EXTENSION = Metric(
    name="max_rss",
    unit="bytes",
    description="Largest resident set of the program or of a child that it waited for.",
    value=rusage_value("max_rss_kib", 1 / 1024),
)
